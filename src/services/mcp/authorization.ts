/** Authorization headers for users' requests to MCP servers, for every kind of authentication. */
import { z } from "zod";
import type { McpAccountState } from "../../domain/mcp/types.js";
import { sleep } from "../../lib/clock.js";
import { findMcpConnections, type McpConnectionRecord } from "../../store/mcp/mcp-connections.js";
import type { McpServerRecord } from "../../store/mcp/mcp-servers.js";
import { mcpColumnReference } from "../../store/common/secret-columns.js";
import { ageOf, grantHeaders, isFor, type Grant } from "./grant.js";
import type { OauthDependencies } from "./oauth-client.js";
import type { IdentityTokenOf, McpAuthorization, McpHeaders } from "./ports.js";
import { openGrant, TokenRenewal, type Renewal } from "./token-renewal.js";

export type AuthorizationDependencies = OauthDependencies & { identityTokenOf: IdentityTokenOf };

/** While the current token is valid, a renewal is awaited for this long; the next request may use its result. */
const PATIENCE_MS = 3_000;

const NOT_NEEDED: McpAccountState = { status: "not_needed", connectedAt: null, expiresAt: null };
const DISCONNECTED: McpAccountState = { status: "disconnected", connectedAt: null, expiresAt: null };
const NO_HEADERS: McpHeaders = { ok: true, headers: {} };

const CustomHeaders = z.array(z.object({ name: z.string(), value: z.string() }));

export class Authorizations implements McpAuthorization {
  readonly #renewal: TokenRenewal;

  constructor(private readonly dependencies: AuthorizationDependencies) {
    this.#renewal = new TokenRenewal(dependencies);
  }

  async headersFor(server: McpServerRecord, userId: string): Promise<McpHeaders> {
    return this.#orFailed(server, async () => {
      switch (server.authKind) {
        case "none":
          return NO_HEADERS;
        case "api_key":
          return this.#apiKey(server);
        case "custom_headers":
          return this.#customHeaders(server);
        case "user_identity":
          return this.#identity(server, userId);
        case "oauth2":
          return this.#current(server, userId);
      }
    });
  }

  async renewedHeaders(
    server: McpServerRecord,
    userId: string,
    rejected: Readonly<Record<string, string>>,
  ): Promise<McpHeaders> {
    return this.#orFailed(server, async () => {
      if (server.authKind === "oauth2") return this.#after(server, userId, rejected);
      if (server.authKind !== "user_identity")
        return failed(`${server.displayName} refuses the credentials that an admin has set.`);
      const headers = await this.#identity(server, userId);
      return headers.ok && isSame(headers.headers, rejected) ? expired(server) : headers;
    });
  }

  async accountStates(
    servers: readonly McpServerRecord[],
    userId: string,
  ): Promise<ReadonlyMap<string, McpAccountState>> {
    const ids = servers.filter(({ authKind }) => authKind === "oauth2").map(({ id }) => id);
    const records = ids.length === 0 ? [] : await findMcpConnections(this.dependencies.database, userId, ids);
    const byServer = new Map(records.map((record) => [record.serverId, record]));
    const accountStates = servers.map(async (server): Promise<[string, McpAccountState]> => {
      if (server.authKind === "user_identity") return [server.id, await this.#identityState(userId)];
      if (server.authKind !== "oauth2") return [server.id, NOT_NEEDED];
      return [server.id, this.#accountState(server, byServer.get(server.id))];
    });
    return new Map(await Promise.all(accountStates));
  }

  /** Resolves when all running renewals have ended. */
  close(): Promise<void> {
    return this.#renewal.close();
  }

  #accountState(server: McpServerRecord, record: McpConnectionRecord | undefined): McpAccountState {
    if (record === undefined) return DISCONNECTED;
    const grant = openGrant(this.dependencies, record);
    if (grant !== null && !isFor(grant, server.url)) return DISCONNECTED;
    const { connectedAt, expiresAt, refreshFailure, sealed } = record;
    const isSpent = ageOf(lifeOf(record), this.dependencies.clock.now()) === "spent";
    const isOver = grant === null || refreshFailure !== null || (isSpent && sealed.refreshToken === null);
    return { status: isOver ? "expired" : "connected", connectedAt, expiresAt };
  }

  async #identityState(userId: string): Promise<McpAccountState> {
    const token = await this.dependencies.identityTokenOf(userId);
    return token === null ? DISCONNECTED : { status: "connected", connectedAt: null, expiresAt: null };
  }

  async #current(server: McpServerRecord, userId: string): Promise<McpHeaders> {
    const found = await this.#find(server, userId);
    if ("ok" in found) return found;
    const { record, grant } = found;
    const age = ageOf(lifeOf(record), this.dependencies.clock.now());
    const good: McpHeaders = { ok: true, headers: grantHeaders(grant) };
    if (age === "fresh") return good;
    const unsaved = await this.#renewal.unsaved(record, server);
    if (unsaved !== null) return { ok: true, headers: grantHeaders(unsaved) };
    if (record.sealed.refreshToken === null) return age === "spent" ? expired(server) : good;
    if (age === "aging" && record.isClaimed) return good;
    const renewal = this.#renewal.renew(record, server, grant.token);
    if (age === "spent") return this.#answer(server, await renewal);
    const answer = await this.#withPatience(renewal);
    // The old token is still valid, whatever the outcome of its renewal.
    return answer?.kind === "renewed" ? this.#answer(server, answer) : good;
  }

  async #after(
    server: McpServerRecord,
    userId: string,
    rejected: Readonly<Record<string, string>>,
  ): Promise<McpHeaders> {
    const found = await this.#find(server, userId);
    if ("ok" in found) return found;
    const { record, grant } = found;
    const unsaved = await this.#renewal.unsaved(record, server);
    const headers = grantHeaders(unsaved ?? grant);
    if (!isSame(headers, rejected)) return { ok: true, headers };
    return this.#answer(server, await this.#renewal.renew(record, server, grant.token));
  }

  /** The user's authorization, or the answer when there is no usable one. */
  async #find(
    server: McpServerRecord,
    userId: string,
  ): Promise<{ record: McpConnectionRecord; grant: Grant } | McpHeaders> {
    const [record] = await findMcpConnections(this.dependencies.database, userId, [server.id]);
    if (record === undefined) return notConnected(server);
    const grant = openGrant(this.dependencies, record);
    if (grant === null) return expired(server);
    if (!isFor(grant, server.url)) return notConnected(server);
    return record.refreshFailure === null ? { record, grant } : expired(server);
  }

  #answer(server: McpServerRecord, renewal: Renewal): McpHeaders {
    switch (renewal.kind) {
      case "renewed":
        if (!isFor(renewal.grant, server.url)) return notConnected(server);
        return { ok: true, headers: grantHeaders(renewal.grant) };
      case "ended":
        return expired(server);
      case "gone":
        return notConnected(server);
      case "failed":
        return failed(`The authorisation for ${server.displayName} could not be renewed: ${renewal.message}`);
    }
  }

  async #withPatience(renewal: Promise<Renewal>): Promise<Renewal | null> {
    const done = new AbortController();
    const waited = sleep(this.dependencies.clock, PATIENCE_MS, done.signal).then(() => null);
    return Promise.race([renewal, waited]).finally(() => done.abort());
  }

  #apiKey(server: McpServerRecord): McpHeaders {
    const key = this.#open(server, "api_key");
    if (key === null || server.apiKeyHeader === null)
      return failed(`${server.displayName} has no usable key.`);
    return { ok: true, headers: { [server.apiKeyHeader]: key } };
  }

  #customHeaders(server: McpServerRecord): McpHeaders {
    const text = this.#open(server, "custom_headers");
    if (text === null) return failed(`${server.displayName} has no usable headers.`);
    const headers = CustomHeaders.parse(JSON.parse(text));
    return { ok: true, headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])) };
  }

  async #identity(server: McpServerRecord, userId: string): Promise<McpHeaders> {
    const token = await this.dependencies.identityTokenOf(userId);
    if (token !== null) return { ok: true, headers: grantHeaders({ type: "Bearer", token }) };
    const message = `${server.displayName} needs your identity: sign in through your organisation.`;
    return { ok: false, kind: "not-connected", message };
  }

  /** Null when there is none, or when it cannot be decrypted, which is logged. */
  #open({ id, sealed }: McpServerRecord, column: "api_key" | "custom_headers"): string | null {
    const text = column === "api_key" ? sealed.apiKey : sealed.customHeaders;
    if (text === null) return null;
    const opened = this.dependencies.secrets.open(text, mcpColumnReference(column, id));
    if (opened.kind === "opened") return opened.text;
    const facts = { serverId: id, column, failure: opened.kind };
    this.dependencies.log.error(facts, "an MCP server's secret cannot be decrypted with PARLEY_SECRETS_KEYS");
    return null;
  }

  async #orFailed(server: McpServerRecord, ask: () => Promise<McpHeaders>): Promise<McpHeaders> {
    try {
      return await ask();
    } catch (error) {
      this.dependencies.log.error(
        { err: error, serverId: server.id },
        "reading an MCP server's authorization failed",
      );
      return failed(`The authorisation for ${server.displayName} cannot be read at this moment.`);
    }
  }
}

function lifeOf({ expiresAt, refreshedAt, connectedAt }: McpConnectionRecord) {
  return { expiresAt, since: refreshedAt ?? connectedAt };
}

function isSame(
  headers: Readonly<Record<string, string>>,
  rejected: Readonly<Record<string, string>>,
): boolean {
  const { Authorization: mine } = headers;
  return Object.entries(rejected).some(
    ([name, value]) => name.toLowerCase() === "authorization" && value === mine,
  );
}

function notConnected({ displayName }: McpServerRecord): McpHeaders {
  const message = `${displayName} is not connected to your account.`;
  return { ok: false, kind: "not-connected", message };
}

function expired({ displayName }: McpServerRecord): McpHeaders {
  const message = `Your authorisation for ${displayName} has ended; connect it again.`;
  return { ok: false, kind: "expired", message };
}

function failed(message: string): McpHeaders {
  return { ok: false, kind: "failed", message };
}
