/** Types of workspaces and their agents. */

import type { JsonObject } from "../common/json.js";

/**
 * What starts and stops a workspace. `local`: a directory of this machine. `external`: a third party; the workspace is
 * available while its agent is connected to the server. `docker`, `kubernetes`: a container or pod whose agent connects
 * to the server.
 */
export const WORKSPACE_PROVISIONERS = ["local", "external", "docker", "kubernetes"] as const;
export type WorkspaceProvisioner = (typeof WORKSPACE_PROVISIONERS)[number];

export const WORKSPACE_STATUSES = [
  "stopped",
  "starting",
  "running",
  "stopping",
  "failed",
  "creating",
  "deleting",
] as const;
export type WorkspaceStatus = (typeof WORKSPACE_STATUSES)[number];

/** An agent's registration. */
export type RegisteredAgent = {
  /** Changes with every start of the agent. */
  instanceId: string;
  version: string;
  workingDirectory: string;
  capabilities: string[];
};

/** A workspace agent's description of itself and its working directory. */
export type WorkspaceAgentFacts = {
  version: string;
  workingDirectory: string;
  contextFiles: { path: string; isTruncated: boolean }[];
  skills: { name: string; description: string }[];
  /** Tools of its own MCP servers, by name; null when it does not report them. */
  mcpTools: { name: string; description: string; inputSchema: JsonObject }[] | null;
};

/** The replica that an external workspace's agent is connected to. */
export type AgentLocation = {
  /** Identifies this connection. */
  registrationId: string;
  instanceId: string;
  /** Address of that replica for other replicas; null when they cannot reach it. */
  replicaUrl: string | null;
};
