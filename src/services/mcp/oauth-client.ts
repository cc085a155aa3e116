/** Who Parley is to a server's authorisation server: what an admin entered, or what discovery found and was kept. */
import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../../domain/common/json.js";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import {
  discoverAuthorizationServer,
  givenAuthorizationServer,
  readChallenge,
} from "../../mcp/oauth-discovery.js";
import { obtainClient, scopesToAsk } from "../../mcp/oauth.js";
import {
  OauthFailure,
  type AuthorizationServer,
  type OauthChallenge,
  type OauthClient,
  type OauthFetch,
} from "../../mcp/oauth-types.js";
import type { Database } from "../../store/common/database.js";
import { keepOauthClient } from "../../store/mcp/mcp-oauth-clients.js";
import { findMcpServers, type McpServerRecord } from "../../store/mcp/mcp-servers.js";
import type { SecretBox } from "../../store/common/secret-box.js";
import { mcpSecretPlace } from "../../store/common/secret-columns.js";

/** A step with an authorisation server; longer ones are not waited for. Below a claim's life, which covers one step. */
const STEP_MS = 10_000;
/** A client is replaced this long before its secret expires: an authorisation begun with it must still come back. */
const SECRET_RESERVE_MS = 3_600_000;

export type OauthDependencies = {
  database: Database;
  secrets: SecretBox;
  /** The guarded way to a server and everything that it names. */
  fetchFor(server: Pick<McpServerRecord, "allowsPrivateAddresses">): OauthFetch;
  clock: Clock;
  log: Log;
};

export type KnownParty = { server: AuthorizationServer; client: OauthClient };

/** As kept in `mcp_servers.oauth_discovered`; the client's secret is sealed beside it. */
type Kept = { server: AuthorizationServer; client: Omit<OauthClient, "secret">; redirectUri: string };

/** Null: the server was never asked. Throws an OauthFailure when the client's secret cannot be opened. */
export function knownParty(secrets: SecretBox, record: McpServerRecord): KnownParty | null {
  const given = givenParty(secrets, record);
  if (given !== null) return given;
  const kept = keptOf(record);
  if (kept === null) return null;
  const secret = openSecret(secrets, record, "oauth_registered_secret");
  return { server: kept.server, client: { ...kept.client, secret } };
}

function givenParty(secrets: SecretBox, record: McpServerRecord): KnownParty | null {
  const { oauthClientId: id, oauthAuthorizeUrl: authorizeUrl, oauthTokenUrl: tokenUrl } = record;
  if (id === null || authorizeUrl === null || tokenUrl === null) return null;
  const secret = openSecret(secrets, record, "oauth_client_secret");
  const client = { id, secret, authMethod: null, secretExpiresAt: null };
  return { server: givenAuthorizationServer({ authorizeUrl, tokenUrl }), client };
}

/**
 * Asks the server anew of where its authorisations are got, and registers Parley there where that is due. Rejects with
 * an OauthFailure.
 */
export async function findParty(
  dependencies: OauthDependencies,
  record: McpServerRecord,
  addresses: { redirectUri: string; documentUrl: string | null },
): Promise<KnownParty & { scopes: string[] }> {
  const asked = (server: AuthorizationServer, challenge: OauthChallenge | null) =>
    scopesToAsk(server, { configured: record.oauthScopes, challenge });
  const given = givenParty(dependencies.secrets, record);
  if (given !== null) return { ...given, scopes: asked(given.server, null) };
  const url = new URL(record.url);
  const challenge = await inTime(dependencies, record, (fetch) => readChallenge(url, fetch));
  const server = await inTime(dependencies, record, (fetch) =>
    discoverAuthorizationServer({ url, challenge }, fetch),
  );
  const scopes = asked(server, challenge);
  const client = await clientAt(dependencies, record, { server, scopes, ...addresses });
  return { server, client, scopes };
}

type Wanted = {
  server: AuthorizationServer;
  scopes: string[];
  redirectUri: string;
  documentUrl: string | null;
};

async function clientAt(
  dependencies: OauthDependencies,
  record: McpServerRecord,
  wanted: Wanted,
): Promise<OauthClient> {
  const { server, redirectUri } = wanted;
  const kept = keptOf(record);
  const isUsable = kept !== null && isForSame(kept, wanted) && isLasting(kept.client, dependencies.clock);
  const client = isUsable
    ? { ...kept.client, secret: openSecret(dependencies.secrets, record, "oauth_registered_secret") }
    : await inTime(dependencies, record, (fetch) => obtainClient(server, wanted, fetch));
  const { secret, ...rest } = client;
  const discovered: Kept = { server, client: rest, redirectUri };
  if (isUsable && isDeepStrictEqual(kept, discovered)) return client;
  const isKept = await keepOauthClient(dependencies.database, dependencies.secrets, {
    serverId: record.id,
    version: record.version,
    formerClientId: kept?.client.id ?? null,
    discovered: discovered as unknown as JsonObject,
    secret,
  });
  return isKept ? client : clientOfAnother(dependencies, record.id, wanted);
}

/** Somebody else asked at the same time and was first. */
async function clientOfAnother(
  dependencies: OauthDependencies,
  serverId: string,
  wanted: Wanted,
): Promise<OauthClient> {
  const [record] = await findMcpServers(dependencies.database, [serverId]);
  const kept = record === undefined ? null : keptOf(record);
  if (record === undefined || kept === null || !isForSame(kept, wanted))
    throw new OauthFailure("metadata", "The server's settings were changed at this moment. Try again.");
  return { ...kept.client, secret: openSecret(dependencies.secrets, record, "oauth_registered_secret") };
}

function isForSame(kept: Kept, { server, redirectUri, documentUrl }: Wanted): boolean {
  const isOneOfUs = server.takesClientDocuments && documentUrl !== null;
  return (
    kept.redirectUri === redirectUri &&
    kept.server.issuer === server.issuer &&
    kept.server.tokenEndpoint === server.tokenEndpoint &&
    (!isOneOfUs || kept.client.id === documentUrl)
  );
}

function isLasting({ secretExpiresAt }: Pick<OauthClient, "secretExpiresAt">, clock: Clock): boolean {
  return secretExpiresAt === null || secretExpiresAt - clock.now() > SECRET_RESERVE_MS;
}

/** Nobody but this file writes it. */
function keptOf({ oauthDiscovered }: McpServerRecord): Kept | null {
  return oauthDiscovered as unknown as Kept | null;
}

function openSecret(
  secrets: SecretBox,
  { id, sealed }: McpServerRecord,
  column: "oauth_client_secret" | "oauth_registered_secret",
): string | null {
  const text = column === "oauth_client_secret" ? sealed.oauthClientSecret : sealed.oauthRegisteredSecret;
  if (text === null) return null;
  const opened = secrets.open(text, mcpSecretPlace(column, id));
  if (opened.kind === "opened") return opened.text;
  throw new OauthFailure("metadata", "The client's secret cannot be read with this deployment's keys.");
}

/** One step, with a guarded fetch that ends with it. */
export async function inTime<T>(
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
