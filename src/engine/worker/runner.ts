/**
 * One hold on one chat. A runner looks at committed history, decides one thing (domain/next-action), does it, and
 * commits; again until the chat rests or somebody else moves it.
 *
 * It never leaves a chat stuck: an exception ends the turn in `error`, a refused commit means that somebody else
 * has the chat now, and what it was told to stop for (`RunAbortController`) decides what is kept.
 */
import { randomUUID } from "node:crypto";
import { generationId, type MessageRow, type SavedChange } from "../../domain/chats/chat-events.js";
import type { ChatState, MessageDraft } from "../../domain/chats/chat-state.js";
import {
  canSummarize,
  compactionsInTurn,
  isNotice,
  MAX_COMPACTIONS_PER_TURN,
} from "../../domain/chats/compaction.js";
import { COMPACTION_OFF_PERCENT } from "../../domain/models/context-window.js";
import { clientToolTimeout } from "../../domain/chats/client-tools.js";
import type { ChatFailure } from "../../domain/common/failures.js";
import { MAX_ATTEMPTS_PER_STEP } from "../../domain/common/limits.js";
import { DatabaseUnavailable, isDiskFull } from "../../domain/common/outages.js";
import { nextAction, openCallsOf, type NextAction } from "../../domain/chats/next-action.js";
import { STORAGE_FULL_FAILURE } from "../../domain/files/storage-limits.js";
import type { Rest } from "../../domain/push/push.js";
import type { ClaimedChat } from "../../store/chats/leases.js";
import type { Span } from "../../domain/common/traces.js";
import { runWithContext } from "../../lib/run-context.js";
import { partsFromDeltas } from "../turn/accumulate.js";
import type { StopReason } from "../turn/run-abort.js";
import { takeCompactionStep, type SummaryTask } from "./compaction-step.js";
import { LeaseLost, ChatRun, type PartialStep } from "./chat-run.js";
import { noticeRefusal, takeModelStep } from "./model-step.js";
import type { RunnerDependencies } from "./runner-dependencies.js";
import { takeToolStep } from "./tool-step.js";
import { TurnContext } from "./turn-context.js";

export class Runner {
  readonly #hold: ChatRun;
  readonly #context: TurnContext;
  /** The summary that is being made; null = none. */
  #summary: SummaryTask | null = null;
  /** A summary could not be had in this turn: it goes on without. */
  #isWithoutSummary = false;

  constructor(parts: RunnerDependencies, chat: ClaimedChat) {
    this.#hold = new ChatRun(parts, chat);
    this.#context = new TurnContext(parts, chat);
  }

  stop(reason: StopReason): void {
    this.#hold.switch.stop(reason);
  }

  /** News of this chat, from anywhere. */
  hear(state: ChatState): void {
    this.#hold.hear(state);
  }

  /** Never rejects. When it resolves, the chat is no longer this runner's. */
  run(): Promise<void> {
    return runWithContext({ chatId: this.#hold.chat.chatId }, () => this.#run());
  }

  async #run(): Promise<void> {
    const { bus, log } = this.#hold.parts;
    const { chatId } = this.#hold.chat;
    let detach: (() => void) | undefined;
    try {
      detach = await bus.subscribeChat(chatId, {
        saved: (news: SavedChange) => this.hear(news.state),
        live: () => undefined,
      });
      await this.#turns();
    } catch (error) {
      if (error instanceof LeaseLost) log.debug({ chatId }, "A run was dropped: the chat has moved on");
      else await this.#failSafely(error);
    } finally {
      this.#context.endTurn();
      detach?.();
    }
  }

  // ── the loop ─────────────────────────────────────────────────────────────

  async #turns(): Promise<void> {
    const { chat, parts } = this.#hold;
    const facts = { "parley.chat_id": chat.chatId };
    await parts.traces.within({ name: "turn", turnOf: chat.chatId, facts }, async (span) => {
      await this.#hold.loadHistory();
      parts.onTurnStart(chat, this.#hold.history);
      await this.#turn(span, true);
    });
    while (this.#hold.isHeld) {
      this.#startTurn();
      await parts.traces.within({ name: "turn", turnOf: chat.chatId, facts }, (span) =>
        this.#turn(span, false),
      );
    }
    this.#notifyIdle();
  }

  /** Ends with the hold, or when the next turn has begun. */
  async #turn(span: Span, isHoldsFirst: boolean): Promise<void> {
    const hold = this.#hold;
    for (let isFirst = isHoldsFirst; ; isFirst = false) {
      const { historyVersion, queueVersion } = hold.state;
      if (hold.state.status === "interrupting") {
        await hold.finishInterrupt(isFirst ? await this.#partialOfLostWorker() : hold.emptyPartial());
      } else if (hold.switch.reason !== null) await hold.releaseOrPersistPartial(hold.emptyPartial());
      else await this.#act(await this.#decide());
      const isPromoted = hold.state.historyVersion > historyVersion && hold.state.queueVersion > queueVersion;
      if (hold.isHeld && !isPromoted) continue;
      span.add({ "parley.chat_status": hold.state.status });
      if (hold.state.status === "error") span.fail(hold.state.lastError?.kind ?? "internal");
      return;
    }
  }

  /** A person who has stopped the turn knows; a chat that is handed back goes on elsewhere; a subagent reports to another chat. */
  #notifyIdle(): void {
    const { parts, chat, state, history, wasInterrupted } = this.#hold;
    const rest = wasInterrupted || state.isSubagent ? null : restOf(state, history);
    if (rest) parts.onTurnSettled({ ...chat, title: state.title }, rest);
  }

  /** The queue's head has entered history: another message, perhaps another model. */
  #startTurn(): void {
    this.#context.startTurn();
    this.#summary = null;
    this.#isWithoutSummary = false;
  }

  async #decide(): Promise<NextAction> {
    const { history, state } = this.#hold;
    if (this.#summary) return { type: "compact", source: this.#summary.source };
    const rules = await this.#context.rules(history);
    const compactionThresholdPercent = this.#isWithoutSummary
      ? COMPACTION_OFF_PERCENT
      : rules.compactionThresholdPercent;
    return nextAction(history, state, { ...rules, compactionThresholdPercent });
  }

  async #act(action: NextAction): Promise<void> {
    const hold = this.#hold;
    switch (action.type) {
      case "call-model": {
        const { overflow } = await takeModelStep(hold, this.#context);
        return overflow ? this.#foldOverflow(overflow) : undefined;
      }
      case "run-tools":
        return takeToolStep(hold, this.#context, action);
      case "compact":
        return this.#compact(this.#summary ?? { source: action.source, level: 0, tries: 0 });
      case "await-client":
        return this.#awaitClient();
      case "finish":
        return void (await hold.commit([{ type: "finish-turn", fence: hold.fence() }]));
      case "fail":
        return hold.fail(TOO_MANY_STEPS);
    }
  }

  async #awaitClient(): Promise<void> {
    const { chat, state, parts } = this.#hold;
    const timeoutMs = clientToolTimeout(state.openCalls, chat.clientTools, parts.clientToolTimeoutMs);
    await this.#hold.commit([{ type: "await-client", fence: this.#hold.fence(), timeoutMs }]);
  }

  // ── summaries ────────────────────────────────────────────────────────────

  async #compact(task: SummaryTask): Promise<void> {
    if (task.source === "manual" && !canSummarize(this.#hold.history)) return this.#settleWithoutSummary();
    const end = await takeCompactionStep(this.#hold, this.#context, task);
    this.#summary = end.type === "again" ? end.task : null;
    if (end.type === "without") this.#isWithoutSummary = true;
  }

  /** The prompt was refused as too long. A summary helps when there is something to fold, and not for ever. */
  async #foldOverflow(refusal: ChatFailure): Promise<void> {
    const { history } = this.#hold;
    const mayFold = canSummarize(history) && compactionsInTurn(history) < MAX_COMPACTIONS_PER_TURN;
    if (!mayFold) return this.#hold.fail(refusal);
    if (await noticeRefusal(this.#hold, refusal)) this.#summary = { source: "overflow", level: 1, tries: 0 };
  }

  /** Somebody asked for a summary of nothing. */
  async #settleWithoutSummary(): Promise<void> {
    const fence = this.#hold.fence();
    await this.#hold.commit([
      { type: "commit-step", fence, messages: [], openCalls: [], settlesCompaction: true },
      { type: "finish-turn", fence },
    ]);
  }

  // ── ends ─────────────────────────────────────────────────────────────────

  /** An interrupt that was taken over: what the lost worker had streamed is in its generation's log. */
  async #partialOfLostWorker(): Promise<PartialStep> {
    const { parts: outside, chat, generation, state } = this.#hold;
    const logged = await outside.bus.readDeltas(chat.chatId, generation);
    const parts = partsFromDeltas(logged?.pieces.filter((delta) => delta.role === "assistant") ?? []);
    if (parts.every(({ type }) => type === "notice") || isNotice(parts) || state.openCalls.length > 0)
      return this.#hold.emptyPartial();
    const message: MessageDraft = {
      role: "assistant",
      visibility: "both",
      parts,
      generation: generationId(generation),
    };
    return { messages: [message], openCalls: openCallsOf(parts, new Set()) };
  }

  /**
   * A bug or a broken world: the chat must not hang on it. While only the database was away the turn has not failed: the
   * chat is handed back, and the step is taken again from what is committed.
   */
  async #failSafely(error: unknown): Promise<void> {
    const hold = this.#hold;
    const { log } = hold.parts;
    const { chatId } = hold.chat;
    const reference = randomUUID();
    const isFull = isDiskFull(error);
    const isOutage =
      error instanceof DatabaseUnavailable && !isFull && hold.state.attempt < MAX_ATTEMPTS_PER_STEP;
    if (isOutage)
      log.warn({ err: error, chatId }, "The database was away during a turn; the chat is handed back");
    else log.error({ err: error, chatId, reference }, "A run ended with an exception");
    try {
      // Ending an interrupt may promote the queue, and an interrupt may come before the failure: until it rests.
      while (hold.isHeld) {
        if (isOutage) await hold.releaseOrPersistPartial(hold.emptyPartial());
        else if (hold.state.status === "interrupting") await hold.finishInterrupt(hold.emptyPartial());
        else await hold.fail(isFull ? STORAGE_FULL_FAILURE : internalFailure(reference));
      }
      this.#notifyIdle();
    } catch (second) {
      if (second instanceof LeaseLost) return;
      const text = "The failed run could not be ended; the next heartbeat takes it up";
      log[second instanceof DatabaseUnavailable ? "warn" : "error"]({ err: second, chatId, reference }, text);
    }
  }
}

function internalFailure(reference: string): ChatFailure {
  const message = `Something went wrong inside Parley (reference ${reference}).`;
  return { kind: "internal", message, isRetryable: true };
}

/** Null when the chat does not rest. */
function restOf(state: ChatState, history: readonly MessageRow[]): Rest | null {
  switch (state.status) {
    case "waiting":
      return {
        kind: "finished",
        parts: history.findLast(({ role }) => role === "assistant")?.parts ?? [],
      };
    case "error":
      return state.lastError && { kind: "failed", failure: state.lastError };
    case "requires_action":
      return { kind: "needs-client", toolNames: state.openCalls.map(({ toolName }) => toolName) };
    case "pending":
    case "running":
    case "interrupting":
      return null;
  }
}

const TOO_MANY_STEPS: ChatFailure = {
  kind: "internal",
  message: "The turn was stopped: the model asked for tools more often than one turn allows.",
  isRetryable: false,
};
