/**
 * Titles that a model makes: unasked for a chat's first message, in the background, and when a person asks for one.
 * A title is only ever given to a chat that still has the one it had when the model was asked. What the calls used
 * is billed. `close` aborts what is under way and waits for it.
 */
import type { MessageRow } from "../../domain/chats/chat-events.js";
import type { ChatState } from "../../domain/chats/chat-state.js";
import { contextLimitOf } from "../../domain/models/context-window.js";
import { isGoodTitle, normaliseTitle } from "../../domain/chats/title.js";
import type { Traces } from "../../domain/common/traces.js";
import { maxCost } from "../../domain/usage/usage-limits.js";
import { currentContext, runWithContext } from "../../lib/run-context.js";
import type { Log } from "../../lib/log.js";
import type { ModelRequest } from "../../providers/types.js";
import type { ClaimedChat } from "../../store/chats/leases.js";
import { listMessages } from "../../store/chats/messages.js";
import type { CallRecorder } from "../models/call-records.js";
import { traceModelCall } from "../models/trace-model-call.js";
import { billCall } from "../usage/bill-call.js";
import type { TitleOutcome } from "../../commands/common/command-dependencies.js";
import type { ModelChoice, TurnModel } from "../models/models.js";
import { greatestUse } from "../../engine/prompt/greatest-use.js";
import {
  conversationPrompt,
  firstMessagePrompt,
  proposedTitle,
  TITLE_TOOL,
  type TitlePrompt,
} from "../../engine/prompt/title.js";
import { applyTransition, type TransitionDependencies } from "../../engine/transitions/apply-transition.js";
import { callModel } from "../../engine/turn/call-model.js";
import { SHORTEST_INTERVAL_MS } from "../../engine/turn/adaptive-throttle.js";
import type { UsageLimits } from "../usage/usage-limits.js";

/** For all models that are asked for one title, one after the other. A title that takes longer is of no use. */
const TITLE_TIMEOUT_MS = 30_000;
/** Chats for which a title is being made at the same time on one replica; more are left as they are. */
const MAX_TITLE_CALLS = 8;
/** A title is 20 tokens; the rest is for models that think before they speak whatever they are asked. */
const TITLE_OUTPUT_TOKENS = 2_048;
/** Messages read from each end of a long chat. */
const READ_MESSAGES = 50;
/** Call options that a title has no use for: they search, or buy thinking. */
const IDLE_OPTIONS = new Set([
  "webSearch",
  "thinkingBudgetTokens",
  "thinkingBudget",
  "includeThoughts",
  "effort",
]);

export type TitleDependencies = TransitionDependencies & {
  log: Log;
  traces: Traces;
  callRecords: CallRecorder;
  chooseModel(configId: string | null, ownerId: string): Promise<ModelChoice>;
  /** The deployment's small model, asked before a chat's own; null = there is none. */
  smallModelConfigId(): Promise<string | null>;
  /** What people may spend. A title is not worth a wait. */
  usageLimits: Pick<UsageLimits, "admit">;
};

type TitledChat = Pick<ClaimedChat, "chatId" | "ownerId" | "modelConfigId"> & { state: ChatState };

type Proposal = { ok: true; title: string } | { ok: false; message: string };

type Job = { controller: AbortController; done: Promise<unknown> };

export class Titles {
  readonly #dependencies: TitleDependencies;
  readonly #isAutomatic: boolean;
  /** By chat: at most one title is made for a chat at a time. */
  readonly #jobs = new Map<string, Job>();
  #isClosing = false;

  /** `isAutomatic`: whether chats get titles unasked. */
  constructor(dependencies: TitleDependencies, { isAutomatic }: { isAutomatic: boolean }) {
    this.#dependencies = dependencies;
    this.#isAutomatic = isAutomatic;
  }

  /**
   * A turn begins: when it is the chat's first and nobody has named the chat, a title is made in the background.
   * Returns at once, never throws, and costs nothing when there is nothing to do. `history` is what the model sees.
   */
  onTurnStart(chat: TitledChat, history: readonly MessageRow[]): void {
    // A subagent is called what its parent calls it.
    if (!this.#isAutomatic || chat.state.isSubagent) return;
    if (this.#isClosing || this.#jobs.has(chat.chatId)) return;
    const first = onlyMessage(chat.state, history);
    const prompt = first && firstMessagePrompt(first.parts);
    if (!prompt) return;
    const { log } = this.#dependencies;
    if (this.#jobs.size >= MAX_TITLE_CALLS) {
      log.warn(
        { chatId: chat.chatId, limit: MAX_TITLE_CALLS },
        "A chat keeps its first words as title: too many are made",
      );
      return;
    }
    void this.#run(chat.chatId, async (signal) => {
      const ownModel = first.modelConfigId ?? chat.modelConfigId;
      const proposal = await this.#propose(chat, { prompt, ownModel, isAsked: false }, signal);
      if (proposal.ok) await this.#apply(chat, proposal.title);
      else
        log.info({ chatId: chat.chatId, reason: proposal.message }, "A chat keeps its first words as title");
    });
  }

  /** Makes a title from the whole talk because a person asked. Works while a turn runs; never rejects for a vendor. */
  async regenerate(chat: TitledChat): Promise<TitleOutcome> {
    if (this.#jobs.has(chat.chatId)) return { outcome: "in_progress" };
    if (this.#jobs.size >= MAX_TITLE_CALLS || this.#isClosing) return { outcome: "busy" };
    const outcome = await this.#run(chat.chatId, (signal) => this.#regenerate(chat, signal));
    return outcome ?? { outcome: "failed", message: "The title could not be made." };
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    for (const { controller } of this.#jobs.values()) controller.abort();
    await Promise.all([...this.#jobs.values()].map(({ done }) => done));
  }

  /** Owns one job: its timeout, its end, and its bugs; undefined when it failed with one. */
  #run<T>(chatId: string, work: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    const controller = new AbortController();
    const { clock, log } = this.#dependencies;
    const cancelTimeout = clock.after(TITLE_TIMEOUT_MS, () => controller.abort());
    const done = runWithContext({ ...currentContext(), chatId }, () => work(controller.signal))
      .catch((error: unknown) => {
        log.error({ err: error, chatId }, "Making a title failed");
        return undefined;
      })
      .finally(() => {
        cancelTimeout();
        this.#jobs.delete(chatId);
      });
    this.#jobs.set(chatId, { controller, done });
    return done;
  }

  async #regenerate(chat: TitledChat, signal: AbortSignal): Promise<TitleOutcome> {
    const { messages, isWhole } = await this.#readEnds(chat.chatId);
    const prompt = conversationPrompt(messages, isWhole);
    if (!prompt) return { outcome: "empty_chat" };
    const last = messages.findLast(({ role, modelConfigId }) => role === "user" && modelConfigId !== null);
    const ownModel = last?.modelConfigId ?? chat.modelConfigId;
    const proposal = await this.#propose(chat, { prompt, ownModel, isAsked: true }, signal);
    if (!proposal.ok) return { outcome: "failed", message: proposal.message };
    return this.#apply(chat, proposal.title);
  }

  /** What people see of the chat: all of it, or its two ends. */
  async #readEnds(chatId: string): Promise<{ messages: MessageRow[]; isWhole: boolean }> {
    const { database } = this.#dependencies;
    const ends = { limit: READ_MESSAGES, after: null, before: null };
    const start = await listMessages(database, chatId, { ...ends, direction: "forwards" });
    const first = start.rows.map(({ row }) => row);
    if (!start.hasNextPage) return { messages: first, isWhole: true };
    const end = await listMessages(database, chatId, {
      ...ends,
      after: start.rows.at(-1)?.place ?? null,
      direction: "backwards",
    });
    return { messages: [...first, ...end.rows.map(({ row }) => row)], isWhole: !end.hasPreviousPage };
  }

  /** Asks the small model, then the chat's own; the first usable title counts. */
  async #propose(
    chat: TitledChat,
    { prompt, ownModel, isAsked }: { prompt: TitlePrompt; ownModel: string | null; isAsked: boolean },
    signal: AbortSignal,
  ): Promise<Proposal> {
    const small = await this.#dependencies.smallModelConfigId();
    let message = "No model is there to be asked.";
    let leftOver = "";
    const asked = new Set<string>();
    for (const configId of small === null ? [ownModel] : [small, ownModel]) {
      const choice = await this.#dependencies.chooseModel(configId, chat.ownerId);
      if (!choice.ok) {
        message = choice.failure.message;
        continue;
      }
      const { config, isDemo } = choice.model;
      // The demo model only repeats the first words, which the chat has already.
      if (asked.has(config.id) || (isDemo && !isAsked)) continue;
      asked.add(config.id);
      const answer = await this.#askWithinLimit(chat, choice.model, prompt, signal);
      if (signal.aborted) return { ok: false, message: this.#isClosing ? SHUTTING_DOWN : TOO_SLOW };
      if (answer.ok && isGoodTitle(answer.title)) return answer;
      if (answer.ok) leftOver ||= answer.title;
      message = answer.ok ? NO_TITLE : answer.message;
    }
    // Who asks for a title gets one, even if it is a longish one.
    return isAsked && leftOver !== "" ? { ok: true, title: leftOver } : { ok: false, message };
  }

  async #askWithinLimit(
    { chatId, ownerId }: TitledChat,
    model: TurnModel,
    prompt: TitlePrompt,
    signal: AbortSignal,
  ): Promise<Proposal> {
    const request = titleRequest(chatId, model, prompt);
    const { config } = model;
    const cost = () => maxCost(greatestUse(request, contextLimitOf(config)), config.pricing);
    const call = { ownerId, workerId: null, maxCost: cost, place: "title" as const, waits: false };
    const admission = await this.#dependencies.usageLimits.admit(call, signal);
    if (admission.type === "stopped") return { ok: false, message: TOO_SLOW };
    if (admission.type === "refused") return { ok: false, message: admission.failure.message };
    try {
      return await this.#ask(chatId, model, request, signal);
    } finally {
      await admission.release();
    }
  }

  /** One call; what it used is kept whatever came of it. */
  async #ask(
    chatId: string,
    model: TurnModel,
    request: ModelRequest,
    signal: AbortSignal,
  ): Promise<Proposal> {
    const { clock, log } = this.#dependencies;
    const startedAt = clock.now();
    const ports = { clock, publish: () => undefined, deltaIntervalMs: () => SHORTEST_INTERVAL_MS };
    const outcome = await traceModelCall(
      this.#dependencies,
      { chatId, generation: null, model, request, attempt: 1, purpose: "title" },
      () => callModel({ open: (stop) => model.adapter.stream(request, stop), request }, signal, ports),
    );
    const { config } = model;
    await billCall(this.#dependencies, {
      chatId,
      config,
      purpose: "title",
      usage: outcome.usage,
      runtimeMs: clock.now() - startedAt,
    });
    if (outcome.type === "failed") {
      log.warn({ err: outcome.cause, chatId, failure: outcome.failure }, "A model call for a title failed");
      return { ok: false, message: outcome.failure.message };
    }
    return { ok: true, title: normaliseTitle(proposedTitle(outcome.parts)) };
  }

  /** A chat that was renamed meanwhile keeps its name. */
  async #apply({ chatId, state }: TitledChat, title: string): Promise<TitleOutcome> {
    const onlyIf = { title: state.title, titleSource: state.titleSource };
    const known = this.#dependencies.chatCache.get(chatId);
    const result = await applyTransition(this.#dependencies, {
      chatId,
      commands: [{ type: "set-title", title, source: "model", onlyIf }],
      ...(known ? { known } : {}),
    });
    if (result.outcome === "not_found") return { outcome: "not_found" };
    return { outcome: "titled", version: result.state.snapshotVersion };
  }
}

const TOO_SLOW = `The model did not propose a title within ${TITLE_TIMEOUT_MS / 1_000} seconds.`;
const SHUTTING_DOWN = "The server is shutting down. Try again.";
const NO_TITLE = "The model did not propose a title.";

/** The one thing said so far, when a person said it and the title is only its first words. */
function onlyMessage(state: ChatState, history: readonly MessageRow[]): MessageRow | null {
  if (state.titleSource !== "first_message") return null;
  const spoken = history.filter(
    ({ role, visibility }) => role !== "system" && (role !== "user" || visibility !== "model"),
  );
  const [first] = spoken;
  return spoken.length === 1 && first?.role === "user" ? first : null;
}

function titleRequest(
  chatId: string,
  { config, desiredOutputTokens }: TurnModel,
  { system, text }: TitlePrompt,
): ModelRequest {
  const options = Object.entries(config.providerOptions).filter(([name]) => !IDLE_OPTIONS.has(name));
  return {
    model: config.model,
    system,
    messages: [{ role: "user", parts: [{ type: "text", text }] }],
    tools: [TITLE_TOOL],
    maxOutputTokens: Math.min(desiredOutputTokens, TITLE_OUTPUT_TOKENS),
    options: Object.fromEntries(options),
    headers: { "Parley-Chat-Id": chatId },
  };
}
