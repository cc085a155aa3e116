/**
 * Which model a turn talks to: configuration from the database through a short cache that every change of models
 * empties, and one adapter per provider and key for as long as its settings hold. A model that was deleted gives way to
 * the deployment's default; one that is switched off does not, as nobody should pay for another than they chose.
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
import { fittedOutput } from "./output-limit-retry.js";
import type { NoProviderLine, ProviderLine, ProviderLines } from "./provider-endpoints.js";

/** How long a replica may go on with a changed configuration. */
const CACHE_MS = 10_000;
/** Configurations remembered; a deployment has tens. */
const MAX_CACHED_CONFIGS = 500;
/** A list of models is a small answer; a turn does not wait longer for it. */
const LIMIT_QUESTION_MS = 5_000;
/** How long a vendor that did not tell is not asked again. */
const LIMIT_CACHE_MS = 600_000;
/** Adapters kept, where people bring their own keys one for each of them; each holds one SDK client. */
const MAX_ADAPTERS = 500;
/** To the head of a model's answer, where the guard is the way out: above what any watch over silence bears. */
const GUARDED_TIMEOUT_MS = 3_600_000;

export type TurnModel = {
  /** Asks for less output when the vendor refuses what was asked for. */
  adapter: ModelProvider;
  kind: ModelProviderKind;
  config: ModelConfigRecord;
  /** Tokens of output to ask for where the prompt leaves room for them. */
  desiredOutputTokens: number;
  /** The scripted model inside the server. */
  isDemo: boolean;
};

export type ModelChoice = { ok: true; model: TurnModel } | NoProviderLine;

export type ModelSource = {
  database: Database;
  clock: Clock;
  log: Log;
  bus: Pick<Bus, "onConfigChange">;
  lines: ProviderLines;
  /** Tokens of output to ask for where neither a model's configuration nor the vendor says otherwise. */
  maxOutputTokens: number;
  createAdapter(settings: ProviderSettings): Promise<ModelProvider>;
};

type OpenLine = Extract<ProviderLine, { ok: true }>;

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

  /** Whether any provider asks with people's own keys, as the newest read of a model told; null = nothing was read. */
  #asksKeys: { at: number; value: boolean } | null = null;
  /** Grows with every change that is told: what was being read then is not the newest any more. */
  #changes = 0;
  readonly #stopListening: () => void;

  constructor(source: ModelSource) {
    this.#source = source;
    this.#stopListening = source.bus.onConfigChange((topic) => {
      if (topic === "models") this.#forget();
    });
  }

  close(): void {
    this.#stopListening();
  }

  /**
   * The model of a config id, for chats of that person; null = the deployment's default. A failure is worded for the
   * person who waits.
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
    const line = await this.#source.lines.find(provider, ownerId);
    if (!line.ok) return line;
    const adapter = fittedOutput(await this.#adapter(provider, line), {
      modelLimit: (tokens) => this.#observe("output", config, tokens),
      window: (tokens) => this.#observe("context", config, tokens),
    });
    const wanted = desiredOutputTokens(config, this.#source.maxOutputTokens);
    const model = { adapter, kind: provider.kind, config, desiredOutputTokens: wanted, isDemo: provider.isDemo };
    return { ok: true, model };
  }

  /** As `choose`, for those who only want to know which it is. */
  async resolve(
    configId: string | null,
    ownerId: string,
  ): Promise<{ ok: true; modelConfigId: string } | NoProviderLine> {
    const choice = await this.choose(configId, ownerId);
    return choice.ok ? { ok: true, modelConfigId: choice.model.config.id } : choice;
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
    await this.#observe("context", config, tokens);
  }

  /** Of what a refusal showed nothing is lost but the knowledge: the next call would be refused again. Never rejects. */
  async #observe(of: "context" | "output", config: ModelConfigRecord, tokens: number): Promise<void> {
    const { database, log } = this.#source;
    try {
      if (of === "context") await observeContextLimit(database, config.id, tokens);
      else await observeOutputLimit(database, config.id, tokens);
      this.#found.clear();
      this.#asked.delete(config.id);
      log.info({ model: config.model, of, tokens }, "A vendor's refusal showed a limit of its model");
    } catch (error) {
      log.warn({ err: error, model: config.model, of, tokens }, "A model's limit was not kept");
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

  /** Whether any provider may ask with people's own keys. Known from turns' own reads, so it costs none mostly. */
  async asksPersonalKeys(): Promise<boolean> {
    const { clock } = this.#source;
    const isFresh = () => this.#asksKeys !== null && clock.now() - this.#asksKeys.at < CACHE_MS;
    if (!isFresh()) await this.#find("");
    return this.#asksKeys === null || !isFresh() || this.#asksKeys.value;
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
    const { database, clock } = this.#source;
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

  /** Adapters too: a key that was taken away does not stay in memory. Whoever has one in hand goes on with it. */
  #forget(): void {
    this.#adapters.clear();
    this.#found.clear();
    this.#asked.clear();
    this.#asksKeys = null;
    this.#changes += 1;
    this.#source.lines.forget();
  }

  #adapter(provider: ProviderRecord, { settings, isGuarded }: OpenLine): Promise<ModelProvider> {
    const guard = isGuarded ? [provider.allowsPrivateAddresses] : [];
    const key = JSON.stringify([provider.id, settings, guard]);
    const known = this.#adapters.get(key);
    if (known) return known;
    const limits = { timeoutMs: GUARDED_TIMEOUT_MS, maxBodyBytes: null };
    const way = isGuarded ? { fetch: this.#source.lines.fetchFor(provider, limits) } : {};
    const adapter = this.#source.createAdapter({ ...settings, ...way });
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
