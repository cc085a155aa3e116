/** What tunnels need of the database and of Redis, which this room does not know. */
import type { AgentPlace, RegisteredAgent } from "../../domain/workspaces/workspace.js";

/** An agent that called and showed the token of a workspace. */
export type Caller = {
  workspaceId: string;
  workspaceName: string;
  /** SHA-256 of the token. */
  tokenHash: Buffer;
  /** As it says; believed once the agent itself says the same through its call. */
  instanceId: string;
  /** Whether it may take the place of another living agent. */
  isFirst: boolean;
};

/** The database's word on whose call counts. Every method may reject. */
export type Registrations = {
  /** False when another agent has the place, or the token is not the workspace's any more. */
  claim(claim: {
    workspaceId: string;
    tokenHash: Buffer;
    registrationId: string;
    agent: RegisteredAgent;
    isFirst: boolean;
    leaseMs: number;
  }): Promise<boolean>;
  /** Those that still count; they do so for another lease. */
  renew(registrationIds: readonly string[], leaseMs: number): Promise<ReadonlySet<string>>;
  release(registrationId: string): Promise<void>;
  /** Null when there is no such external workspace. */
  tokenHashOf(workspaceId: string): Promise<Buffer | null>;
  /** Whether an agent is registered, wherever, or was until a moment ago and said no goodbye. */
  isExpected(workspaceId: string): Promise<boolean>;
};

/** Where calls are held, known to all replicas. No method rejects. */
export type Places = {
  announce(workspaceId: string, place: AgentPlace, leaseMs: number): Promise<void>;
  withdraw(workspaceId: string, place: AgentPlace): Promise<void>;
  /** Null when it is not known. */
  find(workspaceId: string): Promise<AgentPlace | null>;
};

/** A single replica needs to tell nobody. */
export const noPlaces: Places = {
  announce: () => Promise.resolve(),
  withdraw: () => Promise.resolve(),
  find: () => Promise.resolve(null),
};
