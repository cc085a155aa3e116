/**
 * Resolves a model provider's endpoint for a user: key, address and transport. The deployment's keys come from the
 * provider's row or the environment; personal keys are cached for a few seconds, and only read for providers that take
 * them.
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
import { findPersonalKey, userKeyReference, providerKeyReference } from "../../store/models/provider-keys.js";
import type { SecretBox, ColumnReference } from "../../store/common/secret-box.js";

/** How long a replica may use an outdated key when the announcement was lost. */
const CACHE_MS = 10_000;
const MAX_CACHED_KEYS = 10_000;

export type ProviderEndpointDependencies = {
  database: Queryable;
  clock: Clock;
  log: Log;
  secrets: SecretBox;
  /** Values of the environment variables that providers name as the source of their key. */
  keys: Readonly<Record<string, string | undefined>>;
  /** Where the demo model listens; null when this process has none. */
  demoUrl: string | null;
  outbound: Pick<OutboundFetch, "for">;
};

/** `isGuarded`: an admin chose the address, so requests go through the outbound guard. */
export type ProviderEndpoint =
  { ok: true; settings: Omit<ProviderSettings, "fetch">; isGuarded: boolean } | NoProviderEndpoint;

/** `missingKeyProviderId`: the provider for which the user must set a personal key. */
export type NoProviderEndpoint = { ok: false; failure: ChatFailure; missingKeyProviderId?: string };

type SealedKey = { id: string; sealed: string } | null;

export class ProviderEndpoints {
  readonly #dependencies: ProviderEndpointDependencies;
  readonly #personal = new LRUCache<string, { at: number; found: Promise<SealedKey> }>({
    max: MAX_CACHED_KEYS,
  });

  constructor(dependencies: ProviderEndpointDependencies) {
    this.#dependencies = dependencies;
  }

  /** Call after any personal key has changed. */
  forget(): void {
    this.#personal.clear();
  }

  /** The settings to call the provider for that user; a failure's message is shown to them. */
  async find(provider: ProviderRecord, userId: string): Promise<ProviderEndpoint> {
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

  /** The guarded fetch for a provider at an address that an admin chose. */
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

  /** A key that cannot be decrypted counts as missing; the log says why. */
  #deploymentKey(provider: ProviderRecord): string | null {
    const { id, sealedKey } = provider;
    if (sealedKey !== null) return this.#open(sealedKey, providerKeyReference(id));
    const variable = keyVariableOf(provider);
    return variable === null ? null : (this.#dependencies.keys[variable] ?? null);
  }

  async #personalKey(providerId: string, userId: string): Promise<string | null> {
    const found = await this.#findPersonal(providerId, userId);
    return found && this.#open(found.sealed, userKeyReference(found.id));
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

  #open(sealed: string, column: ColumnReference): string | null {
    const opened = this.#dependencies.secrets.open(sealed, column);
    if (opened.kind === "opened") return opened.text;
    this.#dependencies.log.error(
      { ...column, failure: opened },
      "a model provider's stored key cannot be decrypted",
    );
    return null;
  }
}

/** Addresses from the environment are the operator's responsibility; those set through the API are guarded. */
function isAdminsAddress({ isDemo, apiKeyVariable, isAddressOwn }: ProviderRecord): boolean {
  return !isDemo && (apiKeyVariable === null || isAddressOwn);
}

function keyFailure(provider: ProviderRecord, missing: "deployment" | "user"): ChatFailure {
  const { kind, displayName } = provider;
  const variable = keyVariableOf(provider);
  const message =
    missing === "user"
      ? `${displayName} requires the personal API key of the chat's owner, and there is none. Add it in the settings and try again.`
      : `${displayName} has no API key: ${variable === null ? "an administrator must set one" : `set ${variable}`}.`;
  return { kind: "missing_key", message, isRetryable: false, provider: kind };
}

function noDemo({ kind }: ProviderRecord): ChatFailure {
  const message = "The demo model is not running in this process.";
  return { kind: "config", message, isRetryable: false, provider: kind };
}
