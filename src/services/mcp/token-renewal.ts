/**
 * Renews users' tokens, each at most once at a time across all replicas: the renewing replica claims the row; the
 * others poll the row until it has the new token or the claim has expired, as it does when its replica dies. Within a
 * process callers for the same token share one promise.
 */
import { randomUUID } from "node:crypto";
import { LRUCache } from "lru-cache";
import { sleep } from "../../lib/clock.js";
import { refreshTokens, revokeToken } from "../../mcp/oauth.js";
import { OauthFailure, type OauthTokens } from "../../mcp/oauth-types.js";
import {
  claimMcpRefresh,
  failMcpRefresh,
  findMcpConnections,
  openAccessToken,
  openRefreshToken,
  releaseMcpRefresh,
  renewMcpConnection,
  type McpConnectionRecord,
} from "../../store/mcp/mcp-connections.js";
import { forgetOauthClient } from "../../store/mcp/mcp-oauth-clients.js";
import { findMcpServers, type McpServerRecord } from "../../store/mcp/mcp-servers.js";
import { ageOf, grantValues, isRenewableBy, readGrant, type Grant } from "./grant.js";
import {
  withStepTimeout,
  knownRegistration,
  type OauthRegistration,
  type OauthDependencies,
} from "./oauth-client.js";

/** Longer than a request to an authorization server may take, so that claims do not expire during a renewal. */
const CLAIM_MS = 15_000;
/** How often waiting replicas poll the row. */
const POLL_MS = 200;
/** A claim's life and one more request. */
const MAX_WAIT_MS = 30_000;
const REVOKE_MS = 5_000;
/** Tokens that could not be saved; more than this means that saving is broken altogether. */
const MAX_UNSAVED = 1_000;
/** Final errors, after which the user must authorize again (RFC 6749, 5.2). */
const FINAL_CODES = new Set(["invalid_grant", "invalid_client", "unauthorized_client", "invalid_scope"]);
const CLIENT_CODES = new Set(["invalid_client", "unauthorized_client"]);

/** `failed`: a temporary failure; the old token may still be valid. */
export type Renewal =
  | { kind: "renewed"; grant: Grant }
  | { kind: "ended" }
  | { kind: "gone" }
  | { kind: "failed"; message: string };

type Unsaved = {
  claim: string;
  tokens: OauthTokens;
  registration: OauthRegistration;
  grant: Grant;
  scopes: string[];
};

export class TokenRenewal {
  readonly #underWay = new Map<string, Promise<Renewal>>();
  readonly #unsaved = new LRUCache<string, Unsaved>({ max: MAX_UNSAVED });

  constructor(private readonly dependencies: OauthDependencies) {}

  /** A token other than `stale`. Never rejects. */
  renew(record: McpConnectionRecord, server: McpServerRecord, stale: string): Promise<Renewal> {
    const known = this.#underWay.get(record.id);
    if (known) return known;
    const renewal = this.#renew(record, server, stale)
      .catch((error: unknown): Renewal => {
        this.dependencies.log.error(
          { err: error, serverId: server.id },
          "renewing an MCP server's token failed",
        );
        return { kind: "failed", message: "The authorisation could not be renewed at this moment." };
      })
      .finally(() => this.#underWay.delete(record.id));
    this.#underWay.set(record.id, renewal);
    return renewal;
  }

  /**
   * The renewed token that this process could not save, saved now if possible; null when there is none, or when the row
   * was changed meanwhile.
   */
  async unsaved(record: McpConnectionRecord, server: McpServerRecord): Promise<Grant | null> {
    const unsaved = this.#unsaved.get(record.id);
    if (unsaved === undefined) return null;
    if (await this.#save(record, server, unsaved)) return unsaved.grant;
    return this.#unsaved.has(record.id) ? unsaved.grant : null;
  }

  /** Resolves when all running renewals have ended. */
  async close(): Promise<void> {
    await Promise.all(this.#underWay.values());
  }

  async #renew(record: McpConnectionRecord, server: McpServerRecord, stale: string): Promise<Renewal> {
    const { clock, database } = this.dependencies;
    const deadline = clock.now() + MAX_WAIT_MS;
    const claim = randomUUID();
    for (;;) {
      const claimed = await claimMcpRefresh(database, { id: record.id, claim, leaseMs: CLAIM_MS });
      if (claimed) return this.#renewClaimed(claimed, server, { claim, stale });
      const [now] = await findMcpConnections(database, record.userId, [record.serverId]);
      // Authorized again meanwhile: a new row, which the next request reads.
      if (now === undefined || now.id !== record.id) return { kind: "gone" };
      if (now.refreshFailure !== null) return { kind: "ended" };
      const grant = openGrant(this.dependencies, now);
      if (grant === null) return { kind: "ended" };
      if (grant.token !== stale) return { kind: "renewed", grant };
      if (clock.now() >= deadline)
        return { kind: "failed", message: "The authorisation is being renewed for too long." };
      await sleep(clock, POLL_MS);
    }
  }

  async #renewClaimed(
    record: McpConnectionRecord,
    server: McpServerRecord,
    { claim, stale }: { claim: string; stale: string },
  ): Promise<Renewal> {
    const { database, secrets, log, clock } = this.dependencies;
    const own = { id: record.id, claim };
    const grant = openGrant(this.dependencies, record);
    if (grant !== null && grant.token !== stale) {
      await releaseMcpRefresh(database, own);
      return { kind: "renewed", grant };
    }
    // Read again: an admin may have changed the server since the caller read it.
    const [current] = await findMcpServers(database, [server.id]);
    const refresh = openRefreshToken(secrets, record);
    const registration = current ? knownRegistration(secrets, current) : null;
    if (grant === null || current === undefined || refresh?.kind !== "opened" || registration === null)
      return this.#end(own, "The server refuses the token, and there is none to renew it with.");
    if (!isRenewableBy(grant, registration))
      return this.#end(own, "The authorization server or the client has changed.");
    try {
      const tokens = await withStepTimeout(this.dependencies, current, (fetch) =>
        refreshTokens({ ...registration, fetch }, refresh.text),
      );
      return await this.#saveRenewed(record, current, { claim, tokens, registration });
    } catch (error) {
      if (!(error instanceof OauthFailure)) throw error;
      const isFinal = error.kind === "refused" && error.code !== null && FINAL_CODES.has(error.code);
      log.warn({ err: error, serverId: server.id, isFinal }, "renewing an MCP server's token failed");
      if (isFinal && CLIENT_CODES.has(error.code ?? ""))
        await forgetOauthClient(database, server.id, registration.client.id);
      if (isFinal) return this.#end(own, error.message);
      // While the old token is valid the claim is unsaved until it expires, which delays the next attempt.
      const since = record.refreshedAt ?? record.connectedAt;
      if (ageOf({ expiresAt: record.expiresAt, since }, clock.now()) === "spent")
        await releaseMcpRefresh(database, own);
      return { kind: "failed", message: error.message };
    }
  }

  async #saveRenewed(
    record: McpConnectionRecord,
    server: McpServerRecord,
    renewed: Pick<Unsaved, "claim" | "tokens" | "registration">,
  ): Promise<Renewal> {
    const values = grantValues(renewed.tokens, {
      serverUrl: server.url,
      registration: renewed.registration,
      formerScopes: record.scopes,
    });
    const unsaved: Unsaved = { ...renewed, grant: readGrant(values.access), scopes: record.scopes };
    const isSaved = await this.#save(record, server, unsaved);
    if (isSaved || this.#unsaved.has(record.id)) return { kind: "renewed", grant: unsaved.grant };
    await this.#revoke(server, unsaved);
    return { kind: "gone" };
  }

  /** False when the row was changed meanwhile. A token that cannot be saved now is used from memory. */
  async #save(record: McpConnectionRecord, server: McpServerRecord, unsaved: Unsaved): Promise<boolean> {
    const { database, secrets, log } = this.dependencies;
    const { claim, registration } = unsaved;
    const values = grantValues(unsaved.tokens, {
      serverUrl: server.url,
      registration,
      formerScopes: unsaved.scopes,
    });
    try {
      const isSaved = await renewMcpConnection(database, secrets, { id: record.id, claim, tokens: values });
      this.#unsaved.delete(record.id);
      return isSaved;
    } catch (error) {
      log.error({ err: error, serverId: server.id }, "saving a renewed token failed; using it from memory");
      this.#unsaved.set(record.id, unsaved);
      return false;
    }
  }

  /** Revokes a token whose connection was deleted during the renewal. */
  async #revoke(server: McpServerRecord, { tokens, registration }: Unsaved): Promise<void> {
    const [token, kind] =
      tokens.refreshToken === null
        ? ([tokens.accessToken, "access_token"] as const)
        : ([tokens.refreshToken, "refresh_token"] as const);
    const revoking = withStepTimeout(
      this.dependencies,
      server,
      (fetch) => revokeToken({ ...registration, fetch }, { token, kind }),
      REVOKE_MS,
    );
    await revoking.catch((error: unknown) => {
      this.dependencies.log.warn({ err: error, serverId: server.id }, "revoking an unused token failed");
    });
  }

  async #end(own: { id: string; claim: string }, failure: string): Promise<Renewal> {
    const isEnded = await failMcpRefresh(this.dependencies.database, { ...own, failure });
    return { kind: isEnded ? "ended" : "gone" };
  }
}

/** Null, and logged, when this deployment's keys do not decrypt it. */
export function openGrant(
  { secrets, log }: Pick<OauthDependencies, "secrets" | "log">,
  record: McpConnectionRecord,
): Grant | null {
  const opened = openAccessToken(secrets, record);
  if (opened.kind === "opened") return readGrant(opened.text);
  const facts = { connectionId: record.id, failure: opened.kind };
  log.error(facts, "an MCP server's token cannot be decrypted with this server's PARLEY_SECRETS_KEYS");
  return null;
}
