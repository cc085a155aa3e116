/**
 * Access tokens of users at the identity provider, for MCP servers that act on a user's behalf. Renewed before they
 * expire, by one replica at a time: a provider that rotates refresh tokens accepts each of them once.
 */
import { randomUUID } from "node:crypto";
import { type Clock, sleep } from "../lib/clock.js";
import type { Log } from "../lib/log.js";
import type { Database } from "../store/common/database.js";
import {
  claimRefresh,
  type StoredTokens,
  readTokens,
  readTokensOfUser,
  releaseRefresh,
  renewTokens,
} from "../store/users/identities.js";
import type { SecretBox } from "../store/common/secret-box.js";
import { type IdentityProvider, isRefusal } from "./provider.js";

/** A token that expires sooner is renewed first, so that it lasts for the calls that use it. */
const RENEW_BEFORE_MS = 60_000;
/** Polling for another replica's renewal; together longer than a claim lasts. */
const POLL_INTERVAL_MS = 250;
const MAX_POLLS = 80;

export type IdentityTokenDependencies = {
  database: Database;
  secrets: SecretBox;
  provider: IdentityProvider;
  issuer: string;
  clock: Clock;
  log: Log;
};

export class FreshIdentityTokens {
  /** By identity; concurrent callers share one renewal. */
  readonly #renewing = new Map<string, Promise<string | null>>();

  constructor(private readonly dependencies: IdentityTokenDependencies) {}

  /** Null when the user has no token: they never signed in with the provider, or have to sign in again. */
  async of(userId: string): Promise<string | null> {
    const { database, secrets, issuer } = this.dependencies;
    const stored = await readTokensOfUser(database, secrets, { userId, issuer });
    if (!stored?.accessToken) return null;
    if (!this.#isDue(stored)) return stored.accessToken;
    if (stored.refreshToken === null) return this.#unlessExpired(stored);
    const renewal = this.#renewing.get(stored.identityId) ?? this.#renew(stored);
    this.#renewing.set(stored.identityId, renewal);
    return renewal.finally(() => this.#renewing.delete(stored.identityId));
  }

  #isDue({ expiresAt }: StoredTokens): boolean {
    return expiresAt !== null && expiresAt - this.dependencies.clock.now() < RENEW_BEFORE_MS;
  }

  #unlessExpired({ accessToken, expiresAt }: StoredTokens): string | null {
    return expiresAt === null || expiresAt > this.dependencies.clock.now() ? accessToken : null;
  }

  async #renew({ identityId }: StoredTokens): Promise<string | null> {
    const { database, secrets, clock } = this.dependencies;
    const claim = randomUUID();
    for (let poll = 0; poll < MAX_POLLS; poll += 1) {
      const claimed = await claimRefresh(database, secrets, { identityId, claim });
      if (claimed) return this.#renewClaimed(claimed, claim);
      await sleep(clock, POLL_INTERVAL_MS);
      const now = await readTokens(database, secrets, identityId);
      if (now === null) return null;
      if (!this.#isDue(now)) return now.accessToken;
    }
    const last = await readTokens(database, secrets, identityId);
    return last && this.#unlessExpired(last);
  }

  async #renewClaimed(claimed: StoredTokens, claim: string): Promise<string | null> {
    const { database, secrets, provider, log } = this.dependencies;
    const { identityId, refreshToken, idToken } = claimed;
    // Another replica renewed it just before the claim.
    if (!this.#isDue(claimed) || refreshToken === null) {
      await releaseRefresh(database, { identityId, claim });
      return this.#unlessExpired(claimed);
    }
    try {
      const tokens = await provider.refresh({ refreshToken, idToken });
      await renewTokens(database, secrets, { identityId, claim, tokens });
      return tokens.accessToken;
    } catch (error) {
      log.warn({ err: error, identityId }, "identity token renewal failed");
      const tokens = { ...claimed, refreshToken: null };
      if (isRefusal(error)) await renewTokens(database, secrets, { identityId, claim, tokens });
      else await releaseRefresh(database, { identityId, claim });
      return this.#unlessExpired(claimed);
    }
  }
}
