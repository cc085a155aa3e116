// The environment variables of workspaces that are made from templates, part of the table in config.ts.
import { address, folder, optional, withDefault, word } from "./variable.js";

export const workspaceVariables = {
  workspacesDir: optional(
    {
      name: "PARLEY_WORKSPACES_DIR",
      meaning:
        "Folder below which workspaces of LOCAL templates are made; the same for all servers of a machine.",
    },
    "`workspaces` in PARLEY_DATA_DIR",
    folder,
  ),
  workspacesServerUrl: optional(
    {
      name: "PARLEY_WORKSPACES_SERVER_URL",
      meaning: "Where the agents of DOCKER and KUBERNETES workspaces call; several, separated by commas.",
    },
    "PARLEY_PUBLIC_URL",
    address(["https:", "http:", "wss:", "ws:"]),
  ),
  dockerHost: withDefault(
    { name: "PARLEY_DOCKER_HOST", meaning: "The Docker engine that DOCKER workspaces are made by." },
    "unix:///var/run/docker.sock",
    address(["unix:", "tcp:", "http:", "https:"]),
  ),
  kubeconfig: optional(
    {
      name: "PARLEY_KUBECONFIG",
      meaning: "The file that says which cluster KUBERNETES workspaces are made in, and as whom.",
    },
    "where kubectl looks, or the service account of the pod that the server runs in",
    folder,
  ),
  kubernetesNamespace: withDefault(
    { name: "PARLEY_KUBERNETES_NAMESPACE", meaning: "The namespace that KUBERNETES workspaces are made in." },
    "default",
    word("the name of a namespace"),
  ),
};
