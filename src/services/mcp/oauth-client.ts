/** Parley's OAuth client at an MCP server's authorization server: configured by an admin, or discovered and stored. */
import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../../domain/common/json.js";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import {
  discoverAuthorizationServer,
  configuredAuthorizationServer,
  readChallenge,
} from "../../mcp/oauth-discovery.js";
import { obtainClient, scopesToRequest } from "../../mcp/oauth.js";
import {
  OauthFailure,
  type AuthorizationServer,
  type OauthChallenge,
  type OauthClient,
  type OauthFetch,
} from "../../mcp/oauth-types.js";
import type { Database } from "../../store/common/database.js";
import { storeOauthClient } from "../../store/mcp/mcp-oauth-clients.js";
import { findMcpServers, type McpServerRecord } from "../../store/mcp/mcp-servers.js";
import type { SecretBox } from "../../store/common/secret-box.js";
import { mcpColumnReference } from "../../store/common/secret-columns.js";

/** Timeout of one step with an authorization server. Below a claim's life, which covers one step. */
const STEP_MS = 10_000;
/** A client is replaced this long before its secret expires: an authorization started with it must still complete. */
const SECRET_RESERVE_MS = 3_600_000;

export type OauthDependencies = {
  database: Database;
  secrets: SecretBox;
  /** The guarded fetch for a server and every address in its metadata. */
  fetchFor(server: Pick<McpServerRecord, "allowsPrivateAddresses">): OauthFetch;
  clock: Clock;
  log: Log;
};

export type OauthRegistration = { server: AuthorizationServer; client: OauthClient };

/** Content of `mcp_servers.oauth_discovered`; the client's secret is sealed in a column of its own. */
type DiscoveredClient = {
  server: AuthorizationServer;
  client: Omit<OauthClient, "secret">;
  redirectUri: string;
};

/** Null when the server was never discovered. Throws an OauthFailure when the client's secret cannot be decrypted. */
export function knownRegistration(secrets: SecretBox, record: McpServerRecord): OauthRegistration | null {
  const configured = configuredClient(secrets, record);
  if (configured !== null) return configured;
  const stored = discoveredClientOf(record);
  if (stored === null) return null;
  const secret = openSecret(secrets, record, "oauth_registered_secret");
  return { server: stored.server, client: { ...stored.client, secret } };
}

function configuredClient(secrets: SecretBox, record: McpServerRecord): OauthRegistration | null {
  const { oauthClientId: id, oauthAuthorizeUrl: authorizeUrl, oauthTokenUrl: tokenUrl } = record;
  if (id === null || authorizeUrl === null || tokenUrl === null) return null;
  const secret = openSecret(secrets, record, "oauth_client_secret");
  const client = { id, secret, authMethod: null, secretExpiresAt: null };
  return { server: configuredAuthorizationServer({ authorizeUrl, tokenUrl }), client };
}

/**
 * Discovers the server's authorization server again, and registers Parley there if necessary. Rejects with an
 * OauthFailure.
 */
export async function discoverRegistration(
  dependencies: OauthDependencies,
  record: McpServerRecord,
  addresses: { redirectUri: string; documentUrl: string | null },
): Promise<OauthRegistration & { scopes: string[] }> {
  const scopesFor = (server: AuthorizationServer, challenge: OauthChallenge | null) =>
    scopesToRequest(server, { configured: record.oauthScopes, challenge });
  const configured = configuredClient(dependencies.secrets, record);
  if (configured !== null) return { ...configured, scopes: scopesFor(configured.server, null) };
  const url = new URL(record.url);
  const challenge = await withStepTimeout(dependencies, record, (fetch) => readChallenge(url, fetch));
  const server = await withStepTimeout(dependencies, record, (fetch) =>
    discoverAuthorizationServer({ url, challenge }, fetch),
  );
  const scopes = scopesFor(server, challenge);
  const client = await clientAt(dependencies, record, { server, scopes, ...addresses });
  return { server, client, scopes };
}

type ClientRequest = {
  server: AuthorizationServer;
  scopes: string[];
  redirectUri: string;
  documentUrl: string | null;
};

async function clientAt(
  dependencies: OauthDependencies,
  record: McpServerRecord,
  request: ClientRequest,
): Promise<OauthClient> {
  const { server, redirectUri } = request;
  const stored = discoveredClientOf(record);
  const isUsable =
    stored !== null && isForSame(stored, request) && isLasting(stored.client, dependencies.clock);
  const client = isUsable
    ? { ...stored.client, secret: openSecret(dependencies.secrets, record, "oauth_registered_secret") }
    : await withStepTimeout(dependencies, record, (fetch) => obtainClient(server, request, fetch));
  const { secret, ...rest } = client;
  const discovered: DiscoveredClient = { server, client: rest, redirectUri };
  if (isUsable && isDeepStrictEqual(stored, discovered)) return client;
  const isStored = await storeOauthClient(dependencies.database, dependencies.secrets, {
    serverId: record.id,
    version: record.version,
    formerClientId: stored?.client.id ?? null,
    discovered: discovered as unknown as JsonObject,
    secret,
  });
  return isStored ? client : clientFromConcurrentRequest(dependencies, record.id, request);
}

/** The client that a concurrent request has stored first. */
async function clientFromConcurrentRequest(
  dependencies: OauthDependencies,
  serverId: string,
  request: ClientRequest,
): Promise<OauthClient> {
  const [record] = await findMcpServers(dependencies.database, [serverId]);
  const stored = record === undefined ? null : discoveredClientOf(record);
  if (record === undefined || stored === null || !isForSame(stored, request))
    throw new OauthFailure("metadata", "The server's settings were changed at this moment. Try again.");
  return { ...stored.client, secret: openSecret(dependencies.secrets, record, "oauth_registered_secret") };
}

function isForSame(stored: DiscoveredClient, { server, redirectUri, documentUrl }: ClientRequest): boolean {
  const usesClientDocument = server.takesClientDocuments && documentUrl !== null;
  return (
    stored.redirectUri === redirectUri &&
    stored.server.issuer === server.issuer &&
    stored.server.tokenEndpoint === server.tokenEndpoint &&
    (!usesClientDocument || stored.client.id === documentUrl)
  );
}

function isLasting({ secretExpiresAt }: Pick<OauthClient, "secretExpiresAt">, clock: Clock): boolean {
  return secretExpiresAt === null || secretExpiresAt - clock.now() > SECRET_RESERVE_MS;
}

/** Only this file writes the column. */
function discoveredClientOf({ oauthDiscovered }: McpServerRecord): DiscoveredClient | null {
  return oauthDiscovered as unknown as DiscoveredClient | null;
}

function openSecret(
  secrets: SecretBox,
  { id, sealed }: McpServerRecord,
  column: "oauth_client_secret" | "oauth_registered_secret",
): string | null {
  const text = column === "oauth_client_secret" ? sealed.oauthClientSecret : sealed.oauthRegisteredSecret;
  if (text === null) return null;
  const opened = secrets.open(text, mcpColumnReference(column, id));
  if (opened.kind === "opened") return opened.text;
  throw new OauthFailure("metadata", "The client's secret cannot be read with this deployment's keys.");
}

/** Runs one step within a timeout, with a guarded fetch that is aborted with it. */
export async function withStepTimeout<T>(
  { clock, fetchFor }: OauthDependencies,
  record: McpServerRecord,
  step: (fetch: OauthFetch) => Promise<T>,
  limitMs = STEP_MS,
): Promise<T> {
  const late = new AbortController();
  const tooLate = new OauthFailure("unreachable", `There was no answer within ${limitMs / 1_000} seconds.`);
  const cancel = clock.after(limitMs, () => late.abort(tooLate));
  const fetch = fetchFor(record);
  try {
    return await step((url, init) => fetch(url, { ...init, signal: late.signal }));
  } catch (error) {
    throw late.signal.aborted ? tooLate : error;
  } finally {
    cancel();
  }
}
