/** How one replica shows another that it may use a call which that one holds. */
import { createHmac, timingSafeEqual } from "node:crypto";

/** Where a replica takes other replicas' tunnels to the calls that it holds. */
export const REPLICA_PATH = "/agents/replica";
export const WORKSPACE_HEADER = "parley-workspace-id";
export const REGISTRATION_HEADER = "parley-agent-registration";

/** One call of one workspace's agent. */
export type Passage = { workspaceId: string; registrationId: string };

/** Good for this one call, for as long as it lasts; the secret itself never travels. */
export function createPass(secret: string, { workspaceId, registrationId }: Passage): string {
  return createHmac("sha256", secret).update(`replica ${workspaceId} ${registrationId}`).digest("hex");
}

/** Takes as long for a wrong pass as for a right one. */
export function isPass(secret: string, passage: Passage, pass: string): boolean {
  const digest = (text: string) => createHmac("sha256", secret).update(text).digest();
  return timingSafeEqual(digest(pass), digest(createPass(secret, passage)));
}
