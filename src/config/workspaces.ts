// Variables of workspaces created from templates; part of the table in config.ts.
import { mcpRules } from "./mcp-rules.js";
import { address, folder, optional, variableNames, withDefault, word } from "./variable.js";

export const workspaceVariables = {
  commandVariables: withDefault(
    {
      name: "PARLEY_COMMAND_ENV",
      meaning:
        "Variables that commands of models inherit from the server, separated by commas; a name may end in `*`. They see nothing else of its environment but PATH, HOME, USER, SHELL, LANG, LC_*, TZ, TERM, SSL_* and *_PROXY.",
    },
    "",
    variableNames,
  ),
  workspacesDir: optional(
    {
      name: "PARLEY_WORKSPACES_DIR",
      meaning: "Folder for workspaces of LOCAL templates; the same for all servers of a machine.",
    },
    "`workspaces` in PARLEY_DATA_DIR",
    folder,
  ),
  workspacesServerUrl: optional(
    {
      name: "PARLEY_WORKSPACES_SERVER_URL",
      meaning: "Addresses of the server for agents of DOCKER and KUBERNETES workspaces, separated by commas.",
    },
    "PARLEY_PUBLIC_URL",
    address(["https:", "http:", "wss:", "ws:"]),
  ),
  dockerHost: withDefault(
    { name: "PARLEY_DOCKER_HOST", meaning: "The Docker engine for DOCKER workspaces." },
    "unix:///var/run/docker.sock",
    address(["unix:", "tcp:", "http:", "https:"]),
  ),
  kubeconfig: optional(
    {
      name: "PARLEY_KUBECONFIG",
      meaning: "The kubeconfig file for the cluster of KUBERNETES workspaces.",
    },
    "as kubectl finds it, or the service account of the server's pod",
    folder,
  ),
  mcpRules: withDefault(
    {
      name: "PARLEY_MCP_ALLOW",
      meaning:
        "MCP servers of workspaces' `.mcp.json` that start without a user's permission: `*`, `host:` and `sha256:` rules, separated by commas.",
    },
    "",
    mcpRules,
  ),
  kubernetesNamespace: withDefault(
    { name: "PARLEY_KUBERNETES_NAMESPACE", meaning: "The namespace for KUBERNETES workspaces." },
    "default",
    word("the name of a namespace"),
  ),
};
