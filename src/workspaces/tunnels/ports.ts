/** Ports of the tunnels to the database and to Redis. */
import type { AgentLocation, RegisteredAgent } from "../../domain/workspaces/workspace.js";

/** An agent that has connected with the token of a workspace, and is not registered yet. */
export type ConnectingAgent = {
  workspaceId: string;
  workspaceName: string;
  /** SHA-256 of the token. */
  tokenHash: Buffer;
  /** As its request claims; verified by the agent's answer through the connection. */
  instanceId: string;
  /** Its first connection since it started: it may replace another live agent. */
  isFirst: boolean;
};

/** Registrations in the database: which connection is a workspace's only one. Every method may reject. */
export type Registrations = {
  /** False when another agent is registered, or the token is not the workspace's any more. */
  claim(claim: {
    workspaceId: string;
    tokenHash: Buffer;
    registrationId: string;
    agent: RegisteredAgent;
    isFirst: boolean;
    leaseMs: number;
  }): Promise<boolean>;
  /** Extends the leases, and resolves to the registrations that are still valid. */
  renew(registrationIds: readonly string[], leaseMs: number): Promise<ReadonlySet<string>>;
  release(registrationId: string): Promise<void>;
  /** Null when there is no such external workspace. */
  tokenHashOf(workspaceId: string): Promise<Buffer | null>;
  /** Whether an agent is registered at any replica, or was until a moment ago without shutting down. */
  isExpected(workspaceId: string): Promise<boolean>;
};

/** Where agents are connected, shared by all replicas. No method rejects. */
export type AgentLocations = {
  announce(workspaceId: string, location: AgentLocation, leaseMs: number): Promise<void>;
  withdraw(workspaceId: string, location: AgentLocation): Promise<void>;
  /** Null when it is not known. */
  find(workspaceId: string): Promise<AgentLocation | null>;
};

/** For a single replica, which has nothing to share. */
export const noAgentLocations: AgentLocations = {
  announce: () => Promise.resolve(),
  withdraw: () => Promise.resolve(),
  find: () => Promise.resolve(null),
};
