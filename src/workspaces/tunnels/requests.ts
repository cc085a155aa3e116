/** What the headers of those say who call: agents, and other replicas that want to use an agent's call. Pure. */
import type { IncomingHttpHeaders } from "node:http";
import {
  AGENT_CALL_HEADER,
  AGENT_INSTANCE_HEADER,
  AGENT_PROTOCOL_HEADER,
  DIAL_OUT_PATH,
  hashAgentToken,
} from "../../agent/protocol/dial-out.js";
import { AGENT_PROTOCOL_VERSION } from "../../agent/protocol/paths.js";
import { REGISTRATION_HEADER, WORKSPACE_HEADER, type Passage } from "./replica-token.js";

export { hashAgentToken };

/** Where agents call. */
export const CALL_PATH = DIAL_OUT_PATH;

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

export type CallRequest =
  | { kind: "call"; instanceId: string; isFirst: boolean }
  | { kind: "refused"; status: "400 Bad Request" | "426 Upgrade Required" };

export function readCall(headers: IncomingHttpHeaders): CallRequest {
  const instanceId = String(headers[AGENT_INSTANCE_HEADER]);
  if (!UUID.test(instanceId)) return { kind: "refused", status: "400 Bad Request" };
  if (headers[AGENT_PROTOCOL_HEADER] !== String(AGENT_PROTOCOL_VERSION)) {
    return { kind: "refused", status: "426 Upgrade Required" };
  }
  return { kind: "call", instanceId, isFirst: headers[AGENT_CALL_HEADER] === "first" };
}

/** Which call a replica wants to use; null when it does not say. */
export function readPassage(headers: IncomingHttpHeaders): Passage | null {
  const workspaceId = String(headers[WORKSPACE_HEADER]);
  const registrationId = String(headers[REGISTRATION_HEADER]);
  return UUID.test(workspaceId) && UUID.test(registrationId) ? { workspaceId, registrationId } : null;
}
