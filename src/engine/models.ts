/**
 * Which model a turn talks to: configuration from the database through a short cache, keys from the environment,
 * and one adapter per provider for as long as its settings hold.
 */
import { LRUCache } from "lru-cache";
import type { ChatFailure, ModelProviderKind } from "../domain/failures.js";
import { contextLimitOf } from "../domain/context-window.js";
import type { Clock } from "../lib/clock.js";
import type { Log } from "../lib/log.js";
import type { ModelProvider, ProviderSettings } from "../providers/types.js";
import type { Database } from "../store/database.js";
import {
  findDefaultModelConfig,
  findModelConfigsByIds,
  findProvidersByIds,
  observeContextLimit,
  type ModelConfigRecord,
  type ProviderRecord,
} from "../store/models.js";

/** How long a replica may go on with a changed configuration. */
const CACHE_MS = 10_000;
/** Configurations remembered; a deployment has tens. */
const MAX_CACHED_CONFIGS = 500;
/** A list of models is a small answer; a turn does not wait longer for it. */
const LIMIT_QUESTION_MS = 5_000;
/** How long a vendor that did not tell is not asked again. */
const LIMIT_CACHE_MS = 600_000;
/** Adapters kept; each holds one SDK client. */
const MAX_ADAPTERS = 100;

export type TurnModel = {
  adapter: ModelProvider;
  kind: ModelProviderKind;
  config: ModelConfigRecord;
  /** The scripted model inside the server. */
  isDemo: boolean;
};

export type ModelChoice = { ok: true; model: TurnModel } | { ok: false; failure: ChatFailure };

export type ModelSource = {
  database: Database;
  clock: Clock;
  log: Log;
  /** Values of the environment variables that providers name as the place of their key. */
  keys: Readonly<Record<string, string | undefined>>;
  /** Where the demo model listens; null when this process has none. */
  demoUrl: string | null;
  createAdapter(settings: ProviderSettings): Promise<ModelProvider>;
};

type Found = { config: ModelConfigRecord; provider: ProviderRecord } | null;

export class Models {
  readonly #source: ModelSource;
  readonly #found = new LRUCache<string, { at: number; value: Promise<Found> }>({ max: MAX_CACHED_CONFIGS });
  /** Answers about limits that nobody has set; a limit that was found is in the database from then on. */
  readonly #asked = new LRUCache<string, Promise<number | null>>({
    max: MAX_CACHED_CONFIGS,
    ttl: LIMIT_CACHE_MS,
  });
  readonly #adapters = new LRUCache<string, Promise<ModelProvider>>({ max: MAX_ADAPTERS });

  constructor(source: ModelSource) {
    this.#source = source;
  }

  /** The model of a config id; null = the deployment's default. A failure is worded for the person who waits. */
  async choose(configId: string | null): Promise<ModelChoice> {
    const found = (await this.#find(configId ?? "")) ?? (configId === null ? null : await this.#find(""));
    if (!found) return refused("config", "No model is configured. An administrator must add one.");
    const { config, provider } = found;
    if (!provider.isEnabled) {
      return refused(
        "provider_disabled",
        `${provider.displayName} is disabled in this deployment.`,
        provider,
      );
    }
    const key = provider.apiKeyVariable === null ? "" : this.#source.keys[provider.apiKeyVariable];
    if (key === undefined) {
      return refused(
        "missing_key",
        `${provider.displayName} has no API key: set ${provider.apiKeyVariable}.`,
        provider,
      );
    }
    const baseUrl = provider.isDemo ? this.#source.demoUrl : (provider.baseUrl ?? undefined);
    if (baseUrl === null) return refused("config", "The demo model does not run in this process.", provider);
    const { kind, displayName, openaiApi } = provider;
    const adapter = await this.#adapter(provider.id, { kind, displayName, apiKey: key, baseUrl, openaiApi });
    return { ok: true, model: { adapter, kind, config, isDemo: provider.isDemo } };
  }

  /** Tokens that fit into the model; where nobody has said, the vendor's list of models is asked once. Never rejects. */
  async contextLimitOf({ adapter, config }: TurnModel): Promise<number | null> {
    const known = contextLimitOf(config);
    if (known !== null) return known;
    const asked = this.#asked.get(config.id);
    if (asked) return asked;
    const answer = this.#askForLimit(adapter, config);
    this.#asked.set(config.id, answer);
    return answer;
  }

  /** Keeps what a vendor's refusal showed of a model's limit, for every replica. Never rejects. */
  async observeContextLimit({ config }: TurnModel, tokens: number): Promise<void> {
    const { database, log } = this.#source;
    try {
      await observeContextLimit(database, config.id, tokens);
      this.#found.clear();
      this.#asked.delete(config.id);
    } catch (error) {
      log.warn({ err: error, model: config.model, tokens }, "A model's context limit was not kept");
    }
  }

  async #askForLimit(adapter: ModelProvider, config: ModelConfigRecord): Promise<number | null> {
    const { clock, log } = this.#source;
    const patience = new AbortController();
    const cancel = clock.after(LIMIT_QUESTION_MS, () => patience.abort());
    try {
      const tokens = await adapter.findContextLimit(config.model, patience.signal);
      if (tokens !== null) await observeContextLimit(this.#source.database, config.id, tokens);
      return tokens;
    } catch (error) {
      log.warn(
        { err: error, model: config.model },
        "The vendor was asked for a model's context limit in vain",
      );
      return null;
    } finally {
      cancel();
    }
  }

  /** Whether people may choose this config now. */
  async isSelectable(configId: string): Promise<boolean> {
    const found = await this.#find(configId);
    return found !== null && found.config.isEnabled && found.provider.isEnabled;
  }

  async #find(configId: string): Promise<Found> {
    const now = this.#source.clock.now();
    const cached = this.#found.get(configId);
    if (cached && now - cached.at < CACHE_MS) return cached.value;
    const value = this.#read(configId);
    this.#found.set(configId, { at: now, value });
    value.catch(() => this.#found.delete(configId));
    return value;
  }

  async #read(configId: string): Promise<Found> {
    const { database } = this.#source;
    const config =
      configId === ""
        ? await findDefaultModelConfig(database)
        : ((await findModelConfigsByIds(database, [configId]))[0] ?? null);
    if (!config) return null;
    const [provider] = await findProvidersByIds(database, [config.providerId]);
    return provider ? { config, provider } : null;
  }

  #adapter(providerId: string, settings: ProviderSettings): Promise<ModelProvider> {
    const key = JSON.stringify([providerId, settings]);
    const known = this.#adapters.get(key);
    if (known) return known;
    const adapter = this.#source.createAdapter(settings);
    this.#adapters.set(key, adapter);
    adapter.catch(() => this.#adapters.delete(key));
    return adapter;
  }
}

function refused(kind: ChatFailure["kind"], message: string, provider?: ProviderRecord): ModelChoice {
  return {
    ok: false,
    failure: { kind, message, isRetryable: false, ...(provider ? { provider: provider.kind } : {}) },
  };
}
