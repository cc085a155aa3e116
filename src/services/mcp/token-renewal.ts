/**
 * Renews people's tokens, each once at a time over all replicas: who renews one claims its row; the others look at the
 * row until it has the new token or the claim has lapsed, as it does when its holder dies. Within a process those who
 * want the same token wait for one promise.
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
import { inTime, knownParty, type KnownParty, type OauthDependencies } from "./oauth-client.js";

/** Longer than a request to an authorisation server may take, so that nobody renews beside its holder. */
const CLAIM_MS = 15_000;
/** How often those who wait look. */
const LOOK_MS = 200;
/** A claim's life and one more request; then the wait is given up. */
const MAX_WAIT_MS = 30_000;
const REVOKE_MS = 5_000;
/** Tokens that could not be saved; more of them means that nothing can. */
const MAX_UNSAVED = 1_000;
/** Answers after which no other will come without the person (RFC 6749, 5.2). */
const FINAL_CODES = new Set(["invalid_grant", "invalid_client", "unauthorized_client", "invalid_scope"]);
const CLIENT_CODES = new Set(["invalid_client", "unauthorized_client"]);

/** `failed`: not now; the token that was there may still be good. */
export type Renewal =
  | { kind: "renewed"; grant: Grant }
  | { kind: "ended" }
  | { kind: "gone" }
  | { kind: "failed"; message: string };

type Unsaved = { claim: string; tokens: OauthTokens; party: KnownParty; grant: Grant; scopes: string[] };

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
          "A tool server's token was not renewed",
        );
        return { kind: "failed", message: "The authorisation could not be renewed at this moment." };
      })
      .finally(() => this.#underWay.delete(record.id));
    this.#underWay.set(record.id, renewal);
    return renewal;
  }

  /**
   * The token that this process got and could not save, saved now if that goes; null when there is none, or when the
   * row has moved on without it.
   */
  async unsaved(record: McpConnectionRecord, server: McpServerRecord): Promise<Grant | null> {
    const kept = this.#unsaved.get(record.id);
    if (kept === undefined) return null;
    if (await this.#save(record, server, kept)) return kept.grant;
    return this.#unsaved.has(record.id) ? kept.grant : null;
  }

  /** Resolves when nothing is being renewed any more. */
  async close(): Promise<void> {
    await Promise.all(this.#underWay.values());
  }

  async #renew(record: McpConnectionRecord, server: McpServerRecord, stale: string): Promise<Renewal> {
    const { clock, database } = this.dependencies;
    const giveUpAt = clock.now() + MAX_WAIT_MS;
    const claim = randomUUID();
    for (;;) {
      const claimed = await claimMcpRefresh(database, { id: record.id, claim, leaseMs: CLAIM_MS });
      if (claimed) return this.#renewClaimed(claimed, server, { claim, stale });
      const [now] = await findMcpConnections(database, record.userId, [record.serverId]);
      // Authorised anew meanwhile: another row, and whoever asks again finds it.
      if (now === undefined || now.id !== record.id) return { kind: "gone" };
      if (now.refreshFailure !== null) return { kind: "ended" };
      const grant = openGrant(this.dependencies, now);
      if (grant === null) return { kind: "ended" };
      if (grant.token !== stale) return { kind: "renewed", grant };
      if (clock.now() >= giveUpAt)
        return { kind: "failed", message: "The authorisation is being renewed for too long." };
      await sleep(clock, LOOK_MS);
    }
  }

  async #renewClaimed(
    record: McpConnectionRecord,
    server: McpServerRecord,
    { claim, stale }: { claim: string; stale: string },
  ): Promise<Renewal> {
    const { database, secrets, log, clock } = this.dependencies;
    const mine = { id: record.id, claim };
    const grant = openGrant(this.dependencies, record);
    if (grant !== null && grant.token !== stale) {
      await releaseMcpRefresh(database, mine);
      return { kind: "renewed", grant };
    }
    // Not as the caller remembers it: an admin may have changed it a moment ago.
    const [current] = await findMcpServers(database, [server.id]);
    const refresh = openRefreshToken(secrets, record);
    const party = current ? knownParty(secrets, current) : null;
    if (grant === null || current === undefined || refresh?.kind !== "opened" || party === null)
      return this.#end(mine, "The server refuses the token, and there is none to renew it with.");
    if (!isRenewableBy(grant, party))
      return this.#end(mine, "The server's authorisation is got elsewhere now, or by another client.");
    try {
      const tokens = await inTime(this.dependencies, current, (fetch) =>
        refreshTokens({ ...party, fetch }, refresh.text),
      );
      return await this.#keep(record, current, { claim, tokens, party });
    } catch (error) {
      if (!(error instanceof OauthFailure)) throw error;
      const isFinal = error.kind === "refused" && error.code !== null && FINAL_CODES.has(error.code);
      log.warn({ err: error, serverId: server.id, isFinal }, "A tool server's token was not renewed");
      if (isFinal && CLIENT_CODES.has(error.code ?? ""))
        await forgetOauthClient(database, server.id, party.client.id);
      if (isFinal) return this.#end(mine, error.message);
      // While the old token is good the claim is left to lapse: nobody tries again before.
      const since = record.refreshedAt ?? record.connectedAt;
      if (ageOf({ expiresAt: record.expiresAt, since }, clock.now()) === "spent")
        await releaseMcpRefresh(database, mine);
      return { kind: "failed", message: error.message };
    }
  }

  async #keep(
    record: McpConnectionRecord,
    server: McpServerRecord,
    renewed: Pick<Unsaved, "claim" | "tokens" | "party">,
  ): Promise<Renewal> {
    const values = grantValues(renewed.tokens, {
      serverUrl: server.url,
      party: renewed.party,
      formerScopes: record.scopes,
    });
    const kept: Unsaved = { ...renewed, grant: readGrant(values.access), scopes: record.scopes };
    const isSaved = await this.#save(record, server, kept);
    if (isSaved || this.#unsaved.has(record.id)) return { kind: "renewed", grant: kept.grant };
    await this.#revoke(server, kept);
    return { kind: "gone" };
  }

  /** False when the row has moved on. A token that cannot be saved now stays in memory, and is none the worse. */
  async #save(record: McpConnectionRecord, server: McpServerRecord, kept: Unsaved): Promise<boolean> {
    const { database, secrets, log } = this.dependencies;
    const { claim, party } = kept;
    const values = grantValues(kept.tokens, { serverUrl: server.url, party, formerScopes: kept.scopes });
    try {
      const isSaved = await renewMcpConnection(database, secrets, { id: record.id, claim, tokens: values });
      this.#unsaved.delete(record.id);
      return isSaved;
    } catch (error) {
      log.error(
        { err: error, serverId: server.id },
        "A renewed token cannot be saved, and is used from memory",
      );
      this.#unsaved.set(record.id, kept);
      return false;
    }
  }

  /** The person disconnected while the token was renewed. */
  async #revoke(server: McpServerRecord, { tokens, party }: Unsaved): Promise<void> {
    const [token, kind] =
      tokens.refreshToken === null
        ? ([tokens.accessToken, "access_token"] as const)
        : ([tokens.refreshToken, "refresh_token"] as const);
    const revoking = inTime(
      this.dependencies,
      server,
      (fetch) => revokeToken({ ...party, fetch }, { token, kind }),
      REVOKE_MS,
    );
    await revoking.catch((error: unknown) => {
      this.dependencies.log.warn(
        { err: error, serverId: server.id },
        "A token that nobody needs was not revoked",
      );
    });
  }

  async #end(mine: { id: string; claim: string }, failure: string): Promise<Renewal> {
    const isEnded = await failMcpRefresh(this.dependencies.database, { ...mine, failure });
    return { kind: isEnded ? "ended" : "gone" };
  }
}

/** Null, and a line in the log, when this deployment's keys do not open it. */
export function openGrant(
  { secrets, log }: Pick<OauthDependencies, "secrets" | "log">,
  record: McpConnectionRecord,
): Grant | null {
  const opened = openAccessToken(secrets, record);
  if (opened.kind === "opened") return readGrant(opened.text);
  const facts = { connectionId: record.id, failure: opened.kind };
  log.error(facts, "A tool server's token cannot be decrypted with this server's PARLEY_SECRETS_KEYS");
  return null;
}
