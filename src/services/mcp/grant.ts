/**
 * A person's authorisation as it is kept: the token with what it was made for, in one sealed text, so that it goes
 * nowhere else whatever becomes of the server's settings. Pure.
 */
import type { OauthTokens } from "../../mcp/oauth-types.js";
import type { McpGrantValues } from "../../store/mcp/mcp-connections.js";
import type { KnownParty } from "./oauth-client.js";

export type Grant = {
  token: string;
  /** As it goes before the token in a header. */
  type: string;
  /** Of the server that it may be shown to: scheme, host and port. */
  origin: string;
  /** Who may renew it, and as which client. */
  tokenEndpoint: string;
  clientId: string;
};

/** From this long before its end a token is renewed, so that no request is under way when it ends. */
const RESERVE_MS = 60_000;

/** `formerScopes`: those that hold where the server names none. */
export function grantValues(
  tokens: OauthTokens,
  made: { serverUrl: string; party: KnownParty; formerScopes: readonly string[] },
): McpGrantValues {
  const { server, client } = made.party;
  const grant: Grant = {
    token: tokens.accessToken,
    type: tokens.tokenType,
    origin: new URL(made.serverUrl).origin,
    tokenEndpoint: server.tokenEndpoint,
    clientId: client.id,
  };
  return {
    access: JSON.stringify(grant),
    refresh: tokens.refreshToken,
    scopes: tokens.scopes ?? [...made.formerScopes],
    expiresInSeconds: tokens.expiresInSeconds,
  };
}

/** `text` is what `grantValues` made. */
export function readGrant(text: string): Grant {
  return JSON.parse(text) as Grant;
}

export function grantHeaders({ type, token }: Pick<Grant, "type" | "token">): Record<string, string> {
  return { Authorization: `${type} ${token}` };
}

export function isFor(grant: Grant, serverUrl: string): boolean {
  return new URL(serverUrl).origin === grant.origin;
}

export function isRenewableBy(grant: Grant, { server, client }: KnownParty): boolean {
  return grant.tokenEndpoint === server.tokenEndpoint && grant.clientId === client.id;
}

/** `aging`: still good, and due to be renewed. Tokens that live shorter than the reserve age at half their life. */
export function ageOf(
  { expiresAt, since }: { expiresAt: Date | null; since: Date },
  nowMs: number,
): "fresh" | "aging" | "spent" {
  if (expiresAt === null) return "fresh";
  const endMs = expiresAt.getTime();
  if (nowMs >= endMs) return "spent";
  const reserveMs = Math.min(RESERVE_MS, (endMs - since.getTime()) / 2);
  return nowMs >= endMs - reserveMs ? "aging" : "fresh";
}
