/** Tokens with which one replica may use an agent's connection at another. */
import { createHmac, timingSafeEqual } from "node:crypto";

/** Where a replica accepts the relays of other replicas. */
export const REPLICA_PATH = "/agents/replica";
export const WORKSPACE_HEADER = "parley-workspace-id";
export const REGISTRATION_HEADER = "parley-agent-registration";

/** One connection of one workspace's agent. */
export type TunnelTarget = { workspaceId: string; registrationId: string };

/** Valid for this one connection, as long as it lasts; the secret itself is never sent. */
export function createReplicaToken(secret: string, { workspaceId, registrationId }: TunnelTarget): string {
  return createHmac("sha256", secret).update(`replica ${workspaceId} ${registrationId}`).digest("hex");
}

/** Compares in constant time. */
export function isReplicaToken(secret: string, passage: TunnelTarget, pass: string): boolean {
  const digest = (text: string) => createHmac("sha256", secret).update(text).digest();
  return timingSafeEqual(digest(pass), digest(createReplicaToken(secret, passage)));
}
