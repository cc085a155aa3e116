/**
 * How a model provider is reached for a person: by which key, at which address, and by which way out. The deployment's
 * keys come out of the provider's row or the environment; people's own are remembered for a few seconds, and only looked
 * for where a provider takes them.
 */
import { LRUCache } from "lru-cache";
import type { ChatFailure } from "../../domain/common/failures.js";
import {
  addressVariableOf,
  chooseKey,
  goesWithoutKey,
  type KeyChoice,
  keyVariableOf,
  takesPersonalKeys,
} from "../../domain/models/model-keys.js";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import type { OutboundFetch, OutboundPolicy } from "../../lib/outbound/outbound-fetch.js";
import type { ProviderSettings } from "../../providers/types.js";
import type { Queryable } from "../../store/common/database.js";
import type { ProviderRecord } from "../../store/models/models.js";
import { findPersonalKey, personalKeyPlace, providerKeyPlace } from "../../store/models/provider-keys.js";
import type { SecretBox, SecretPlace } from "../../store/common/secret-box.js";

/** How long a replica may go on with a key that was changed, when nobody tells it. */
const CACHE_MS = 10_000;
/** People with keys of their own who speak within that time. */
const MAX_REMEMBERED_KEYS = 10_000;

export type ProviderEndpointDependencies = {
  database: Queryable;
  clock: Clock;
  log: Log;
  secrets: SecretBox;
  /** Values of the environment variables that providers name as the place of their key. */
  keys: Readonly<Record<string, string | undefined>>;
  /** Where the demo model listens; null when this process has none. */
  demoUrl: string | null;
  outbound: Pick<OutboundFetch, "for">;
};

/** `isGuarded`: an admin chose the address, so the way out is the guard's. */
export type ProviderLine =
  { ok: true; settings: Omit<ProviderSettings, "fetch">; isGuarded: boolean } | NoProviderLine;

/** `missingKeyProviderId`: the provider for which the person would have to give a key of their own. */
export type NoProviderLine = { ok: false; failure: ChatFailure; missingKeyProviderId?: string };

type SealedKey = { id: string; sealed: string } | null;

export class ProviderLines {
  readonly #dependencies: ProviderEndpointDependencies;
  readonly #personal = new LRUCache<string, { at: number; found: Promise<SealedKey> }>({
    max: MAX_REMEMBERED_KEYS,
  });

  constructor(dependencies: ProviderEndpointDependencies) {
    this.#dependencies = dependencies;
  }

  /** Somebody's key was changed. */
  forget(): void {
    this.#personal.clear();
  }

  /** Where and with what to call the provider for that person; a failure is worded for them. */
  async find(provider: ProviderRecord, userId: string): Promise<ProviderLine> {
    const { kind, displayName, openaiApi } = provider;
    const key = await this.#keyOf(provider, userId);
    if (!key.ok) {
      const failure = keyFailure(provider, key.missing);
      return { ok: false, failure, ...(key.missing === "user" ? { missingKeyProviderId: provider.id } : {}) };
    }
    const baseUrl = provider.isDemo ? this.#dependencies.demoUrl : (provider.baseUrl ?? undefined);
    if (baseUrl === null) return { ok: false, failure: noDemo(provider) };
    const variable = addressVariableOf(provider);
    const settings = {
      ...{ kind, displayName, apiKey: key.key, baseUrl, openaiApi },
      ...(variable === null ? {} : { addressVariable: variable }),
    };
    return { ok: true, settings, isGuarded: isAdminsAddress(provider) };
  }

  /** The way out to a provider at an address that an admin chose. */
  fetchFor(
    { allowsPrivateAddresses: isPrivateAllowed }: ProviderRecord,
    limits: Omit<OutboundPolicy, "isPrivateAllowed">,
  ): NonNullable<ProviderSettings["fetch"]> {
    return this.#dependencies.outbound.for({ isPrivateAllowed, ...limits });
  }

  async #keyOf(provider: ProviderRecord, userId: string): Promise<KeyChoice> {
    const { keyPolicy } = provider;
    const user = takesPersonalKeys(keyPolicy) ? await this.#personalKey(provider.id, userId) : null;
    const deployment = user === null && keyPolicy !== "user" ? this.#deploymentKey(provider) : null;
    return chooseKey(keyPolicy, goesWithoutKey(provider), { deployment, user });
  }

  /** A key that cannot be opened is none: whoever waits reads that it is missing, the log says why. */
  #deploymentKey(provider: ProviderRecord): string | null {
    const { id, sealedKey } = provider;
    if (sealedKey !== null) return this.#open(sealedKey, providerKeyPlace(id));
    const variable = keyVariableOf(provider);
    return variable === null ? null : (this.#dependencies.keys[variable] ?? null);
  }

  async #personalKey(providerId: string, userId: string): Promise<string | null> {
    const found = await this.#findPersonal(providerId, userId);
    return found && this.#open(found.sealed, personalKeyPlace(found.id));
  }

  #findPersonal(providerId: string, userId: string): Promise<SealedKey> {
    const { database, clock } = this.#dependencies;
    const name = `${providerId} ${userId}`;
    const known = this.#personal.get(name);
    if (known && clock.now() - known.at < CACHE_MS) return known.found;
    const reading = { at: clock.now(), found: findPersonalKey(database, { providerId, userId }) };
    this.#personal.set(name, reading);
    reading.found.catch(() => {
      if (this.#personal.get(name) === reading) this.#personal.delete(name);
    });
    return reading.found;
  }

  #open(sealed: string, place: SecretPlace): string | null {
    const opened = this.#dependencies.secrets.open(sealed, place);
    if (opened.kind === "opened") return opened.text;
    this.#dependencies.log.error(
      { ...place, failure: opened },
      "A stored key of a model provider cannot be opened",
    );
    return null;
  }
}

/** What an operator wrote into the environment is theirs to answer for; what comes through the API is guarded. */
function isAdminsAddress({ isDemo, apiKeyVariable, isAddressOwn }: ProviderRecord): boolean {
  return !isDemo && (apiKeyVariable === null || isAddressOwn);
}

function keyFailure(provider: ProviderRecord, missing: "deployment" | "user"): ChatFailure {
  const { kind, displayName } = provider;
  const variable = keyVariableOf(provider);
  const message =
    missing === "user"
      ? `${displayName} is asked with the own API key of the person whose chat it is, and there is none. Add it in the settings and try again.`
      : `${displayName} has no API key: ${variable === null ? "an administrator must give one" : `set ${variable}`}.`;
  return { kind: "missing_key", message, isRetryable: false, provider: kind };
}

function noDemo({ kind }: ProviderRecord): ChatFailure {
  const message = "The demo model does not run in this process.";
  return { kind: "config", message, isRetryable: false, provider: kind };
}
