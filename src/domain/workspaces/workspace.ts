/** Words about workspaces: who makes them and how they stand. */

import type { JsonObject } from "../common/json.js";

/**
 * What starts and stops a workspace. `local`: a directory of this machine. `external`: somebody else; its agent calls
 * the server, and is there while it does. `docker`, `kubernetes`: a container or a pod whose agent calls the server.
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

/** What an agent that called the server told of itself. */
export type RegisteredAgent = {
  /** Changes with every start of the agent. */
  instanceId: string;
  version: string;
  workingDirectory: string;
  capabilities: string[];
};

/** What a workspace's agent says of itself and its place when it is asked. */
export type WorkspaceAgentFacts = {
  version: string;
  workingDirectory: string;
  contextFiles: { path: string; isTruncated: boolean }[];
  skills: { name: string; description: string }[];
  /** Of its own MCP servers, by name; null when it does not say. */
  mcpTools: { name: string; description: string; inputSchema: JsonObject }[] | null;
};

/** Where the call of an external workspace's agent is held. */
export type AgentLocation = {
  /** Names this one call. */
  registrationId: string;
  instanceId: string;
  /** How other replicas reach the one that holds it; null when they cannot. */
  replicaUrl: string | null;
};
