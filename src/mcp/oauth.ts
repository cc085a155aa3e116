/**
 * OAuth with an MCP server's authorisation server: client registration, authorisation URL, code exchange, refresh and
 * revocation. Stateless. Each step rejects with an OauthFailure.
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
import { asOauthFailure, reportingFetch } from "./oauth-failure.js";
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
/** Requests a refresh token from servers that issue none otherwise. */
const OFFLINE_SCOPE = "offline_access";
/** JWTs with many claims have a few thousand; longer ones do not fit into headers. */
const MAX_TOKEN_CHARACTERS = 16_384;
/** What a header value may contain. */
const TOKEN = /^[\x20-\x7e]+$/;
const TOKEN_TYPE = /^[\w!#$%&'*+.^`|~-]{1,50}$/;
/** A hundred years, so that the expiration is a date that a database can store. */
const MAX_LIFETIME_SECONDS = 100 * 365 * 86_400;

/** An authorisation server, our client there, and the `fetch` for it. */
export type OauthExchange = { server: AuthorizationServer; client: OauthClient; fetch: OauthFetch };

/**
 * Parley's client at the authorisation server: by client metadata document where the server supports it, else by dynamic
 * registration (RFC 7591). `documentUrl`: the public URL of `clientDocument`; null = this deployment has none.
 */
export async function obtainClient(
  server: AuthorizationServer,
  request: { redirectUri: string; documentUrl: string | null; scopes: readonly string[] },
  fetch: OauthFetch,
): Promise<OauthClient> {
  const { redirectUri, documentUrl, scopes } = request;
  if (server.takesClientDocuments && documentUrl !== null)
    return { id: documentUrl, secret: null, authMethod: "none", secretExpiresAt: null };
  if (server.registrationEndpoint === null) {
    const message =
      "The authorisation server does not register clients by itself: an admin has to enter a client id and its endpoints.";
    throw new OauthFailure("metadata", message);
  }
  try {
    const registered = await registerWithServer(issuerOf(server), {
      metadata: metadataOf(server),
      clientMetadata: clientMetadata(redirectUri, registeredMethod(server.tokenAuthMethods)),
      ...(scopes.length > 0 && { scope: scopes.join(" ") }),
      fetchFn: reportingFetch(fetch),
    });
    const { client_secret: secret, client_secret_expires_at: expiresAt } = registered;
    return {
      id: registered.client_id,
      secret: secret ?? null,
      authMethod: registered.token_endpoint_auth_method ?? null,
      // Zero means that it does not expire.
      secretExpiresAt: secret !== undefined && expiresAt ? expiresAt * 1_000 : null,
    };
  } catch (error) {
    throw asOauthFailure(error, "Parley was not registered as a client", "answer");
  }
}

/** The client metadata document, published at `documentUrl`, which is the client's id. */
export function clientDocument(urls: { documentUrl: string; redirectUri: string; homeUrl: string }) {
  const metadata = clientMetadata(urls.redirectUri, "none");
  return { client_id: urls.documentUrl, client_uri: urls.homeUrl, ...metadata };
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

/** No secret where that is allowed: secrets of registered clients expire, and PKCE protects without them. */
function registeredMethod(supported: readonly string[]): string {
  const known = ["none", "client_secret_basic", "client_secret_post"];
  // The default of RFC 8414.
  return known.find((method) => supported.includes(method)) ?? "client_secret_basic";
}

/** The scopes to request: those an admin configured, else the challenge's, else those of the resource's metadata. */
export function scopesToRequest(
  server: AuthorizationServer,
  { configured, challenge }: { configured: readonly string[]; challenge: OauthChallenge | null },
): string[] {
  if (configured.length > 0) return [...configured];
  const challenged = challenge?.scope?.split(" ").filter((scope) => scope !== "") ?? [];
  const needed = challenged.length > 0 ? challenged : server.resourceScopes;
  const isOffline = needed.length > 0 && server.scopes.includes(OFFLINE_SCOPE);
  return [...new Set([...needed, ...(isOffline ? [OFFLINE_SCOPE] : [])])];
}

/** The authorisation URL, without a `state`, and the code verifier for the exchange. Refuses servers without PKCE. */
export async function beginAuthorization(
  { server, client }: Pick<OauthExchange, "server" | "client">,
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

/** Compares a response's issuer with the expected one (RFC 9207); null when it matches or cannot be known. */
export function findIssuerProblem(server: AuthorizationServer, issuer: string | null): OauthFailure | null {
  if (issuer === null) {
    if (!server.announcesIssuer) return null;
    return new OauthFailure("issuer", "The answer does not name its issuer, as this server's answers do.");
  }
  if (server.issuer === null || issuer === server.issuer) return null;
  return new OauthFailure("issuer", "The answer came from another authorisation server.");
}

/** `redirectUri` must be exactly that of the authorisation request. */
export async function exchangeCode(
  { server, client, fetch }: OauthExchange,
  grant: { code: string; codeVerifier: string; redirectUri: string },
): Promise<OauthTokens> {
  try {
    const tokens = await exchangeAuthorization(issuerOf(server), {
      metadata: metadataOf(server),
      clientInformation: informationOf(client),
      authorizationCode: grant.code,
      codeVerifier: grant.codeVerifier,
      redirectUri: grant.redirectUri,
      ...(server.resource !== null && { resource: server.resource }),
      fetchFn: reportingFetch(fetch),
    });
    return readTokens(tokens);
  } catch (error) {
    throw asOauthFailure(error, "The code was not exchanged for a token", "answer");
  }
}

/** Keeps the old refresh token when the server sends no other. A `refused` with `invalid_grant` is permanent. */
export async function refreshTokens(
  { server, client, fetch }: OauthExchange,
  refreshToken: string,
): Promise<OauthTokens> {
  try {
    const tokens = await refreshAuthorization(issuerOf(server), {
      metadata: metadataOf(server),
      clientInformation: informationOf(client),
      refreshToken,
      ...(server.resource !== null && { resource: server.resource }),
      fetchFn: reportingFetch(fetch),
    });
    return readTokens(tokens);
  } catch (error) {
    throw asOauthFailure(error, "The token was not renewed", "answer");
  }
}

/** RFC 7009. False when the server does not support revocation. */
export async function revokeToken(
  { server, client, fetch }: OauthExchange,
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
  const response = await reportingFetch(fetch)(server.revocationEndpoint, { method: "POST", headers, body });
  await response.body?.cancel().catch(() => undefined);
  if (response.ok) return true;
  throw new OauthFailure("refused", `The token was not revoked: HTTP ${response.status}.`);
}

/** Throws when the token cannot be sent in a header. */
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

/** Null = absent or invalid. */
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
