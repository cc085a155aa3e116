/** Parses the upgrade requests of agents, and of replicas that relay to an agent's connection. Pure. */
import type { IncomingHttpHeaders } from "node:http";
import {
  AGENT_CALL_HEADER,
  AGENT_INSTANCE_HEADER,
  AGENT_PROTOCOL_HEADER,
  DIAL_OUT_PATH,
  hashAgentToken,
} from "../../agent/protocol/dial-out.js";
import { AGENT_PROTOCOL_VERSION } from "../../agent/protocol/paths.js";
import { REGISTRATION_HEADER, WORKSPACE_HEADER, type TunnelTarget } from "./replica-token.js";

export { hashAgentToken };

/** Where agents connect. */
export const AGENTS_PATH = DIAL_OUT_PATH;

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

export type AgentUpgradeRequest =
  | { kind: "connect"; instanceId: string; isFirst: boolean }
  | { kind: "refused"; status: "400 Bad Request" | "426 Upgrade Required" };

export function readAgentRequest(headers: IncomingHttpHeaders): AgentUpgradeRequest {
  const instanceId = String(headers[AGENT_INSTANCE_HEADER]);
  if (!UUID.test(instanceId)) return { kind: "refused", status: "400 Bad Request" };
  if (headers[AGENT_PROTOCOL_HEADER] !== String(AGENT_PROTOCOL_VERSION)) {
    return { kind: "refused", status: "426 Upgrade Required" };
  }
  return { kind: "connect", instanceId, isFirst: headers[AGENT_CALL_HEADER] === "first" };
}

/** The connection that a replica asks for; null when its headers do not name one. */
export function readTunnelTarget(headers: IncomingHttpHeaders): TunnelTarget | null {
  const workspaceId = String(headers[WORKSPACE_HEADER]);
  const registrationId = String(headers[REGISTRATION_HEADER]);
  return UUID.test(workspaceId) && UUID.test(registrationId) ? { workspaceId, registrationId } : null;
}
