/**
 * OAuth with a tool server's authorisation server, step by step: who Parley is to it, the address that a browser is
 * sent to, a code for tokens, tokens for newer ones, and their end. Keeps nothing. Each step rejects with an
 * OauthFailure.
 */
import {
  exchangeAuthorization,
  refreshAuthorization,
  registerClient as registerWithServer,
  selectClientAuthMethod,
  startAuthorization,
} from "@modelcontextprotocol/sdk/client/auth.js";
import type {
  AuthorizationServerMetadata,
  OAuthClientInformationMixed,
  OAuthTokens as TokenAnswer,
} from "@modelcontextprotocol/sdk/shared/auth.js";
import { asOauthFailure, tellingFetch } from "./oauth-failure.js";
import {
  OauthFailure,
  type AuthorizationServer,
  type OauthChallenge,
  type OauthClient,
  type OauthFetch,
  type OauthTokens,
} from "./oauth-types.js";

const CLIENT_NAME = "Parley";
const GRANT_TYPES = ["authorization_code", "refresh_token"];
const PKCE_METHOD = "S256";
/** Asks for a refresh token where a server gives none otherwise. */
const OFFLINE_SCOPE = "offline_access";
/** Signed ones with many claims reach a few thousand; longer ones do not fit into headers. */
const MAX_TOKEN_CHARACTERS = 16_384;
/** What a header may carry. */
const TOKEN = /^[\x20-\x7e]+$/;
const TOKEN_TYPE = /^[\w!#$%&'*+.^`|~-]{1,50}$/;
/** A hundred years: more is no date that a database takes. */
const MAX_LIFETIME_SECONDS = 100 * 365 * 86_400;

/** One server, who we are there, and the way to it. */
export type OauthParty = { server: AuthorizationServer; client: OauthClient; fetch: OauthFetch };

/**
 * A client of its own at the authorisation server: by the address of our description where it takes one, else by
 * registering (RFC 7591). `documentUrl`: where others find `clientDocument`; null = nowhere that they could reach.
 */
export async function obtainClient(
  server: AuthorizationServer,
  wanted: { redirectUri: string; documentUrl: string | null; scopes: readonly string[] },
  fetch: OauthFetch,
): Promise<OauthClient> {
  const { redirectUri, documentUrl, scopes } = wanted;
  if (server.takesClientDocuments && documentUrl !== null)
    return { id: documentUrl, secret: null, authMethod: "none", secretExpiresAt: null };
  if (server.registrationEndpoint === null) {
    const message =
      "The authorisation server does not register clients by itself: an admin has to enter a client id and its endpoints.";
    throw new OauthFailure("metadata", message);
  }
  try {
    const made = await registerWithServer(issuerOf(server), {
      metadata: metadataOf(server),
      clientMetadata: clientMetadata(redirectUri, registeredMethod(server.tokenAuthMethods)),
      ...(scopes.length > 0 && { scope: scopes.join(" ") }),
      fetchFn: tellingFetch(fetch),
    });
    const { client_secret: secret, client_secret_expires_at: expiresAt } = made;
    return {
      id: made.client_id,
      secret: secret ?? null,
      authMethod: made.token_endpoint_auth_method ?? null,
      // Zero says that it does not.
      secretExpiresAt: secret !== undefined && expiresAt ? expiresAt * 1_000 : null,
    };
  } catch (error) {
    throw asOauthFailure(error, "Parley was not registered as a client", "answer");
  }
}

/** What a server reads at `documentUrl` of the client that has that address as its id. */
export function clientDocument(place: { documentUrl: string; redirectUri: string; homeUrl: string }) {
  const metadata = clientMetadata(place.redirectUri, "none");
  return { client_id: place.documentUrl, client_uri: place.homeUrl, ...metadata };
}

function clientMetadata(redirectUri: string, authMethod: string) {
  return {
    client_name: CLIENT_NAME,
    redirect_uris: [redirectUri],
    grant_types: GRANT_TYPES,
    response_types: ["code"],
    token_endpoint_auth_method: authMethod,
  };
}

/** Secrets of registered clients expire and PKCE protects without them, so none where that is allowed. */
function registeredMethod(supported: readonly string[]): string {
  const known = ["none", "client_secret_basic", "client_secret_post"];
  // What RFC 8414 says of a server that lists none.
  return known.find((method) => supported.includes(method)) ?? "client_secret_basic";
}

/** What is asked for: an admin's words, else the challenge's, else what the resource says that it needs. */
export function scopesToAsk(
  server: AuthorizationServer,
  { configured, challenge }: { configured: readonly string[]; challenge: OauthChallenge | null },
): string[] {
  if (configured.length > 0) return [...configured];
  const challenged = challenge?.scope?.split(" ").filter((scope) => scope !== "") ?? [];
  const needed = challenged.length > 0 ? challenged : server.resourceScopes;
  const isOffline = needed.length > 0 && server.scopes.includes(OFFLINE_SCOPE);
  return [...new Set([...needed, ...(isOffline ? [OFFLINE_SCOPE] : [])])];
}

/** Where a browser goes, without a `state`, and what redeems the code that comes of it. Refuses servers without PKCE. */
export async function beginAuthorization(
  { server, client }: Pick<OauthParty, "server" | "client">,
  { redirectUri, scopes }: { redirectUri: string; scopes: readonly string[] },
): Promise<{ authorizationUrl: URL; codeVerifier: string }> {
  if (server.challengeMethods !== null && !server.challengeMethods.includes(PKCE_METHOD))
    throw new OauthFailure("metadata", "The authorisation server does not support PKCE with S256.");
  try {
    return await startAuthorization(issuerOf(server), {
      metadata: metadataOf(server),
      clientInformation: informationOf(client),
      redirectUrl: redirectUri,
      ...(scopes.length > 0 && { scope: scopes.join(" ") }),
      ...(server.resource !== null && { resource: server.resource }),
    });
  } catch (error) {
    throw asOauthFailure(error, "The authorisation cannot begin", "metadata");
  }
}

/** An answer's issuer against the one that was asked (RFC 9207); null when it is that one or nobody can know. */
export function findIssuerProblem(server: AuthorizationServer, issuer: string | null): OauthFailure | null {
  if (issuer === null) {
    if (!server.announcesIssuer) return null;
    return new OauthFailure("issuer", "The answer does not name its issuer, as this server's answers do.");
  }
  if (server.issuer === null || issuer === server.issuer) return null;
  return new OauthFailure("issuer", "The answer came from another authorisation server.");
}

/** `redirectUri` is exactly the one that the authorisation began with. */
export async function exchangeCode(
  { server, client, fetch }: OauthParty,
  given: { code: string; codeVerifier: string; redirectUri: string },
): Promise<OauthTokens> {
  try {
    const tokens = await exchangeAuthorization(issuerOf(server), {
      metadata: metadataOf(server),
      clientInformation: informationOf(client),
      authorizationCode: given.code,
      codeVerifier: given.codeVerifier,
      redirectUri: given.redirectUri,
      ...(server.resource !== null && { resource: server.resource }),
      fetchFn: tellingFetch(fetch),
    });
    return readTokens(tokens);
  } catch (error) {
    throw asOauthFailure(error, "The code was not exchanged for a token", "answer");
  }
}

/** Keeps the old refresh token where the server gives no other. A `refused` with `invalid_grant` is for ever. */
export async function refreshTokens(
  { server, client, fetch }: OauthParty,
  refreshToken: string,
): Promise<OauthTokens> {
  try {
    const tokens = await refreshAuthorization(issuerOf(server), {
      metadata: metadataOf(server),
      clientInformation: informationOf(client),
      refreshToken,
      ...(server.resource !== null && { resource: server.resource }),
      fetchFn: tellingFetch(fetch),
    });
    return readTokens(tokens);
  } catch (error) {
    throw asOauthFailure(error, "The token was not renewed", "answer");
  }
}

/** RFC 7009. False when the server has no way to do so. */
export async function revokeToken(
  { server, client, fetch }: OauthParty,
  revoked: { token: string; kind: "access_token" | "refresh_token" },
): Promise<boolean> {
  if (server.revocationEndpoint === null) return false;
  const body = new URLSearchParams({ token: revoked.token, token_type_hint: revoked.kind });
  const headers = new Headers({ accept: "application/json" });
  const { revocationAuthMethods, tokenAuthMethods } = server;
  const methods = revocationAuthMethods.length > 0 ? revocationAuthMethods : tokenAuthMethods;
  if (selectClientAuthMethod(informationOf(client), methods) === "client_secret_basic") {
    const pair = [client.id, client.secret ?? ""].map(encodeURIComponent).join(":");
    headers.set("authorization", `Basic ${Buffer.from(pair).toString("base64")}`);
  } else {
    body.set("client_id", client.id);
    if (client.secret !== null) body.set("client_secret", client.secret);
  }
  const response = await tellingFetch(fetch)(server.revocationEndpoint, { method: "POST", headers, body });
  await response.body?.cancel().catch(() => undefined);
  if (response.ok) return true;
  throw new OauthFailure("refused", `The token was not revoked: HTTP ${response.status}.`);
}

/** Throws when it is nothing that a header could carry. */
export function readTokens(tokens: TokenAnswer): OauthTokens {
  const { access_token: accessToken, token_type: tokenType, refresh_token: refreshToken, scope } = tokens;
  const isUsable = (token: string) => token.length <= MAX_TOKEN_CHARACTERS && TOKEN.test(token);
  if (!isUsable(accessToken) || !TOKEN_TYPE.test(tokenType))
    throw new OauthFailure("answer", "The authorisation server gave a token that cannot be used.");
  return {
    accessToken,
    tokenType: /^bearer$/i.test(tokenType) ? "Bearer" : tokenType,
    refreshToken: refreshToken === undefined || refreshToken === "" ? null : refreshToken,
    scopes: scope === undefined ? null : scope.split(" ").filter((word) => word !== ""),
    expiresInSeconds: readLifetime(tokens.expires_in),
  };
}

/** Null = not said, or nothing that could be a time. */
function readLifetime(seconds: number | undefined): number | null {
  if (seconds === undefined || !Number.isFinite(seconds) || seconds < 0) return null;
  return Math.min(Math.floor(seconds), MAX_LIFETIME_SECONDS);
}

function issuerOf(server: AuthorizationServer): string {
  return server.issuer ?? new URL(server.tokenEndpoint).origin;
}

function metadataOf(server: AuthorizationServer): AuthorizationServerMetadata {
  return {
    issuer: issuerOf(server),
    authorization_endpoint: server.authorizationEndpoint,
    token_endpoint: server.tokenEndpoint,
    ...(server.registrationEndpoint !== null && { registration_endpoint: server.registrationEndpoint }),
    response_types_supported: ["code"],
    token_endpoint_auth_methods_supported: server.tokenAuthMethods,
  };
}

function informationOf({ id, secret, authMethod }: OauthClient): OAuthClientInformationMixed {
  return {
    client_id: id,
    ...(secret !== null && { client_secret: secret }),
    ...(authMethod !== null && { token_endpoint_auth_method: authMethod, redirect_uris: [] }),
  };
}
