/**
 * A person's own token of the identity provider, for servers that are to know on whose behalf they are asked. Renewed
 * before it expires, by one replica at a time: a provider that rotates refresh tokens takes each of them once.
 */
import { randomUUID } from "node:crypto";
import { type Clock, sleep } from "../lib/clock.js";
import type { Log } from "../lib/log.js";
import type { Database } from "../store/common/database.js";
import {
  claimRefresh,
  type KeptTokens,
  readTokens,
  readTokensOfUser,
  releaseRefresh,
  renewTokens,
} from "../store/users/identities.js";
import type { SecretBox } from "../store/common/secret-box.js";
import { type IdentityProvider, isRefusal } from "./provider.js";

/** A token that ends sooner is renewed first: it has to last for the calls that it is asked for. */
const RENEW_BEFORE_MS = 60_000;
/** How often whoever waits for another replica looks, and how many times: longer than a claim lasts. */
const LOOK_AGAIN_MS = 250;
const MOST_LOOKS = 80;

export type IdentityTokenParts = {
  database: Database;
  secrets: SecretBox;
  provider: IdentityProvider;
  issuer: string;
  clock: Clock;
  log: Log;
};

export class FreshIdentityTokens {
  /** By identity; those who ask at one time share the answer. */
  readonly #renewing = new Map<string, Promise<string | null>>();

  constructor(private readonly parts: IdentityTokenParts) {}

  /** Null when the person has none: they never signed in with the provider, or have to do so again. */
  async of(userId: string): Promise<string | null> {
    const { database, secrets, issuer } = this.parts;
    const kept = await readTokensOfUser(database, secrets, { userId, issuer });
    if (!kept?.accessToken) return null;
    if (!this.#isDue(kept)) return kept.accessToken;
    if (kept.refreshToken === null) return this.#unlessExpired(kept);
    const under = this.#renewing.get(kept.identityId) ?? this.#renew(kept);
    this.#renewing.set(kept.identityId, under);
    return under.finally(() => this.#renewing.delete(kept.identityId));
  }

  #isDue({ expiresAt }: KeptTokens): boolean {
    return expiresAt !== null && expiresAt - this.parts.clock.now() < RENEW_BEFORE_MS;
  }

  #unlessExpired({ accessToken, expiresAt }: KeptTokens): string | null {
    return expiresAt === null || expiresAt > this.parts.clock.now() ? accessToken : null;
  }

  async #renew({ identityId }: KeptTokens): Promise<string | null> {
    const { database, secrets, clock } = this.parts;
    const claim = randomUUID();
    for (let look = 0; look < MOST_LOOKS; look += 1) {
      const mine = await claimRefresh(database, secrets, { identityId, claim });
      if (mine) return this.#renewClaimed(mine, claim);
      await sleep(clock, LOOK_AGAIN_MS);
      const now = await readTokens(database, secrets, identityId);
      if (now === null) return null;
      if (!this.#isDue(now)) return now.accessToken;
    }
    const last = await readTokens(database, secrets, identityId);
    return last && this.#unlessExpired(last);
  }

  async #renewClaimed(kept: KeptTokens, claim: string): Promise<string | null> {
    const { database, secrets, provider, log } = this.parts;
    const { identityId, refreshToken, idToken } = kept;
    // Somebody renewed it just before the claim.
    if (!this.#isDue(kept) || refreshToken === null) {
      await releaseRefresh(database, { identityId, claim });
      return this.#unlessExpired(kept);
    }
    try {
      const tokens = await provider.refresh({ refreshToken, idToken });
      await renewTokens(database, secrets, { identityId, claim, tokens });
      return tokens.accessToken;
    } catch (error) {
      log.warn({ err: error, identityId }, "A person's token of the identity provider was not renewed");
      const isOver = isRefusal(error);
      const tokens = { ...kept, refreshToken: null };
      if (isOver) await renewTokens(database, secrets, { identityId, claim, tokens });
      else await releaseRefresh(database, { identityId, claim });
      return this.#unlessExpired(kept);
    }
  }
}
