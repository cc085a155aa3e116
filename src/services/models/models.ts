/**
 * Resolves the model of a turn: its configuration through a short cache that every change of models invalidates, and
 * one adapter per provider and key. A deleted model is replaced by the deployment's default; a disabled one is not, as
 * users should not pay for another model than they chose.
 */
import { LRUCache } from "lru-cache";
import type { ChatFailure, ModelProviderKind } from "../../domain/common/failures.js";
import { contextLimitOf } from "../../domain/models/context-window.js";
import { desiredOutputTokens } from "../../domain/models/output-limit.js";
import type { Bus } from "../../events/bus/bus.js";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import type { ModelProvider, ProviderSettings } from "../../providers/types.js";
import type { Database } from "../../store/common/database.js";
import {
  findDefaultModelConfig,
  findModelConfigsByIds,
  findProviderOfTurn,
  observeContextLimit,
  observeOutputLimit,
  type ModelConfigRecord,
  type ProviderRecord,
} from "../../store/models/models.js";
import { withOutputRetry } from "./output-limit-retry.js";
import type { NoProviderEndpoint, ProviderEndpoint, ProviderEndpoints } from "./provider-endpoints.js";

/** How long a replica may use an outdated configuration. */
const CACHE_MS = 10_000;
/** Cached configurations; a deployment has tens. */
const MAX_CACHED_CONFIGS = 500;
/** A list of models is a small answer, and a turn waits for it. */
const LIMIT_QUESTION_MS = 5_000;
/** How long an unknown limit is not requested again. */
const LIMIT_CACHE_MS = 600_000;
/** Cached adapters, one per user with personal keys; each has one SDK client. */
const MAX_ADAPTERS = 500;
/** Guarded requests until the response's head: above every silence timeout of the providers. */
const GUARDED_TIMEOUT_MS = 3_600_000;

export type TurnModel = {
  /** Retries with less output when the vendor rejects the requested limit. */
  adapter: ModelProvider;
  kind: ModelProviderKind;
  config: ModelConfigRecord;
  /** Output tokens to request when the prompt leaves enough room. */
  desiredOutputTokens: number;
  /** The scripted model inside the server. */
  isDemo: boolean;
};

export type ModelChoice = { ok: true; model: TurnModel } | NoProviderEndpoint;

export type ModelsDependencies = {
  database: Database;
  clock: Clock;
  log: Log;
  bus: Pick<Bus, "onConfigChange">;
  endpoints: ProviderEndpoints;
  /** Output tokens to request when neither the model's configuration nor the vendor says otherwise. */
  maxOutputTokens: number;
  createAdapter(settings: ProviderSettings): Promise<ModelProvider>;
};

type ResolvedEndpoint = Extract<ProviderEndpoint, { ok: true }>;

type Found = { config: ModelConfigRecord; provider: ProviderRecord } | null;

export class Models {
  readonly #dependencies: ModelsDependencies;
  readonly #found = new LRUCache<string, { at: number; value: Promise<Found> }>({ max: MAX_CACHED_CONFIGS });
  /** Requests for unset context limits; a limit that was found is saved in the database. */
  readonly #asked = new LRUCache<string, Promise<number | null>>({
    max: MAX_CACHED_CONFIGS,
    ttl: LIMIT_CACHE_MS,
  });
  readonly #adapters = new LRUCache<string, Promise<ModelProvider>>({ max: MAX_ADAPTERS });

  /** Whether any provider uses personal keys, as of the newest read of a model; null = nothing was read. */
  #asksKeys: { at: number; value: boolean } | null = null;
  /** Incremented by every announced change, which outdates running reads. */
  #changes = 0;
  readonly #stopListening: () => void;

  constructor(dependencies: ModelsDependencies) {
    this.#dependencies = dependencies;
    this.#stopListening = dependencies.bus.onConfigChange((topic) => {
      if (topic === "models") this.#forget();
    });
  }

  close(): void {
    this.#stopListening();
  }

  /**
   * The model of a config id for chats of that user; null = the deployment's default. A failure's message is shown to
   * the user.
   */
  async choose(configId: string | null, ownerId: string): Promise<ModelChoice> {
    const found = (await this.#find(configId ?? "")) ?? (configId === null ? null : await this.#find(""));
    if (!found) return refused("config", "No model is configured. An administrator must add one.");
    const { config, provider } = found;
    if (!provider.isEnabled || !config.isEnabled) {
      const name = provider.isEnabled ? config.displayName : provider.displayName;
      const message = `${name} is disabled in this deployment. Choose another model.`;
      return refused("provider_disabled", message, provider);
    }
    const endpoint = await this.#dependencies.endpoints.find(provider, ownerId);
    if (!endpoint.ok) return endpoint;
    const adapter = withOutputRetry(await this.#adapter(provider, endpoint), {
      modelLimit: (tokens) => this.#observe("output", config, tokens),
      window: (tokens) => this.#observe("context", config, tokens),
    });
    const wanted = desiredOutputTokens(config, this.#dependencies.maxOutputTokens);
    const model = {
      adapter,
      kind: provider.kind,
      config,
      desiredOutputTokens: wanted,
      isDemo: provider.isDemo,
    };
    return { ok: true, model };
  }

  /** As `choose`, without the adapter. */
  async resolve(
    configId: string | null,
    ownerId: string,
  ): Promise<{ ok: true; modelConfigId: string } | NoProviderEndpoint> {
    const choice = await this.choose(configId, ownerId);
    return choice.ok ? { ok: true, modelConfigId: choice.model.config.id } : choice;
  }

  /** The model's context limit in tokens; an unset one is read once from the vendor's list of models. Never rejects. */
  async contextLimitOf({ adapter, config }: TurnModel): Promise<number | null> {
    const known = contextLimitOf(config);
    if (known !== null) return known;
    const asked = this.#asked.get(config.id);
    if (asked) return asked;
    const answer = this.#askForLimit(adapter, config);
    this.#asked.set(config.id, answer);
    return answer;
  }

  /** Saves a limit that a vendor's error revealed, for every replica. Never rejects. */
  async observeContextLimit({ config }: TurnModel, tokens: number): Promise<void> {
    await this.#observe("context", config, tokens);
  }

  /** When saving fails, only the next call is rejected again. Never rejects. */
  async #observe(of: "context" | "output", config: ModelConfigRecord, tokens: number): Promise<void> {
    const { database, log } = this.#dependencies;
    try {
      if (of === "context") await observeContextLimit(database, config.id, tokens);
      else await observeOutputLimit(database, config.id, tokens);
      this.#found.clear();
      this.#asked.delete(config.id);
      log.info({ model: config.model, of, tokens }, "vendor's error revealed a model's limit");
    } catch (error) {
      log.warn({ err: error, model: config.model, of, tokens }, "model's limit was not saved");
    }
  }

  async #askForLimit(adapter: ModelProvider, config: ModelConfigRecord): Promise<number | null> {
    const { clock, log } = this.#dependencies;
    const patience = new AbortController();
    const cancel = clock.after(LIMIT_QUESTION_MS, () => patience.abort());
    try {
      const tokens = await adapter.findContextLimit(config.model, patience.signal);
      if (tokens !== null) await observeContextLimit(this.#dependencies.database, config.id, tokens);
      return tokens;
    } catch (error) {
      log.warn({ err: error, model: config.model }, "reading a model's context limit from the vendor failed");
      return null;
    } finally {
      cancel();
    }
  }

  /** Whether any provider uses personal keys. Usually known from turns' reads, without a statement of its own. */
  async asksPersonalKeys(): Promise<boolean> {
    const { clock } = this.#dependencies;
    const isFresh = () => this.#asksKeys !== null && clock.now() - this.#asksKeys.at < CACHE_MS;
    if (!isFresh()) await this.#find("");
    return this.#asksKeys === null || !isFresh() || this.#asksKeys.value;
  }

  /** Whether users may select this config now. */
  async isSelectable(configId: string): Promise<boolean> {
    const found = await this.#find(configId);
    return found !== null && found.config.isEnabled && found.provider.isEnabled;
  }

  async #find(configId: string): Promise<Found> {
    const now = this.#dependencies.clock.now();
    const cached = this.#found.get(configId);
    if (cached && now - cached.at < CACHE_MS) return cached.value;
    const value = this.#read(configId);
    this.#found.set(configId, { at: now, value });
    value.catch(() => this.#found.delete(configId));
    return value;
  }

  async #read(configId: string): Promise<Found> {
    const { database, clock } = this.#dependencies;
    const [at, changes] = [clock.now(), this.#changes];
    const config =
      configId === ""
        ? await findDefaultModelConfig(database)
        : ((await findModelConfigsByIds(database, [configId]))[0] ?? null);
    if (!config) return null;
    const found = await findProviderOfTurn(database, config.providerId);
    if (!found) return null;
    const { provider, asksKeys: value } = found;
    if (changes === this.#changes) this.#asksKeys = { at, value };
    return !provider.isDeleted && !config.isDeleted ? { config, provider } : null;
  }

  /** Adapters too, so that a removed key does not stay in memory. Running calls keep theirs. */
  #forget(): void {
    this.#adapters.clear();
    this.#found.clear();
    this.#asked.clear();
    this.#asksKeys = null;
    this.#changes += 1;
    this.#dependencies.endpoints.forget();
  }

  #adapter(provider: ProviderRecord, { settings, isGuarded }: ResolvedEndpoint): Promise<ModelProvider> {
    const guard = isGuarded ? [provider.allowsPrivateAddresses] : [];
    const key = JSON.stringify([provider.id, settings, guard]);
    const known = this.#adapters.get(key);
    if (known) return known;
    const limits = { timeoutMs: GUARDED_TIMEOUT_MS, maxBodyBytes: null };
    const transport = isGuarded ? { fetch: this.#dependencies.endpoints.fetchFor(provider, limits) } : {};
    const adapter = this.#dependencies.createAdapter({ ...settings, ...transport });
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
