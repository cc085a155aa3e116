// Variables about workspaces, for the test that knows all variables: unset, as texts, and what they mean.

export const WORKSPACE_DEFAULTS = {
  dockerHost: "unix:///var/run/docker.sock",
  kubernetesNamespace: "default",
  mcpRules: { isEverything: false, hashes: [], hosts: [] },
};

export const WORKSPACE_TEXTS = {
  PARLEY_WORKSPACES_DIR: "/srv/workspaces",
  PARLEY_WORKSPACES_SERVER_URL: "wss://parley.internal",
  PARLEY_DOCKER_HOST: "tcp://docker:2375",
  PARLEY_KUBECONFIG: "cluster.yaml",
  PARLEY_KUBERNETES_NAMESPACE: "parley",
  PARLEY_MCP_ALLOW: "host:mcp.example",
  PARLEY_WORKSPACE_AGENT_URL: "http://127.0.0.1:4400",
  PARLEY_WORKSPACE_AGENT_TOKEN: "token-of-the-agent",
};

export const WORKSPACE_VALUES = {
  workspacesDir: "/srv/workspaces",
  workspacesServerUrl: "wss://parley.internal",
  dockerHost: "tcp://docker:2375",
  kubeconfig: "/home/someone/cluster.yaml",
  kubernetesNamespace: "parley",
  mcpRules: { isEverything: false, hashes: [], hosts: ["mcp.example"] },
  workspaceAgentUrl: "http://127.0.0.1:4400",
  workspaceAgentToken: "token-of-the-agent",
};
