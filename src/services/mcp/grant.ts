/**
 * A user's stored authorization: the token with the origin and client that it was issued for in one sealed text, so
 * that it is sent nowhere else when the server's settings change. Pure.
 */
import type { OauthTokens } from "../../mcp/oauth-types.js";
import type { McpGrantValues } from "../../store/mcp/mcp-connections.js";
import type { OauthRegistration } from "./oauth-client.js";

export type Grant = {
  token: string;
  /** The scheme before the token in the header. */
  type: string;
  /** Scheme, host and port of the server that may receive it. */
  origin: string;
  /** Where and as which client it is renewed. */
  tokenEndpoint: string;
  clientId: string;
};

/** A token is renewed this long before it expires, so that it does not expire during a request. */
const RESERVE_MS = 60_000;

/** `formerScopes`: the scopes when the server returns none. */
export function grantValues(
  tokens: OauthTokens,
  made: { serverUrl: string; registration: OauthRegistration; formerScopes: readonly string[] },
): McpGrantValues {
  const { server, client } = made.registration;
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

export function isRenewableBy(grant: Grant, { server, client }: OauthRegistration): boolean {
  return grant.tokenEndpoint === server.tokenEndpoint && grant.clientId === client.id;
}

/** `aging`: valid, and due for renewal. Tokens with a life shorter than the reserve age at half of it. */
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
