/**
 * Runner of one claimed chat. Reads committed history, decides the next action (domain/next-action), performs it and
 * commits, until the turn settles or the chat is changed elsewhere.
 *
 * A chat never gets stuck: an exception ends the turn in `error`, a refused commit means that another worker has the
 * chat, and the reason of an abort (`RunAbortController`) decides what is persisted.
 */
import { randomUUID } from "node:crypto";
import { generationId, type MessageRow, type SavedChange } from "../../domain/chats/chat-events.js";
import type { ChatState, MessageDraft } from "../../domain/chats/chat-state.js";
import { clientToolTimeout } from "../../domain/chats/client-tools.js";
import {
  canSummarize,
  compactionsInTurn,
  isNotice,
  MAX_COMPACTIONS_PER_TURN,
} from "../../domain/chats/compaction.js";
import { nextAction, openCallsOf, type NextAction } from "../../domain/chats/next-action.js";
import type { ChatFailure } from "../../domain/common/failures.js";
import { MAX_ATTEMPTS_PER_STEP } from "../../domain/common/limits.js";
import { DatabaseUnavailable, isDiskFull } from "../../domain/common/outages.js";
import type { Span } from "../../domain/common/traces.js";
import { STORAGE_FULL_FAILURE } from "../../domain/files/storage-limits.js";
import { COMPACTION_OFF_PERCENT } from "../../domain/models/context-window.js";
import type { SettledTurn } from "../../domain/push/push.js";
import { runWithContext } from "../../lib/run-context.js";
import type { ClaimedChat } from "../../store/chats/leases.js";
import { partsFromDeltas } from "../turn/accumulate.js";
import type { StopReason } from "../turn/run-abort.js";
import { ChatRun, LeaseLost, type PartialStep } from "./chat-run.js";
import { takeCompactionStep, type SummaryTask } from "./compaction-step.js";
import { recordImmediateRetry, takeModelStep } from "./model-step.js";
import type { RunnerDependencies } from "./runner-dependencies.js";
import { takeToolStep } from "./tool-step.js";
import { TurnContext } from "./turn-context.js";

export class Runner {
  readonly #run: ChatRun;
  readonly #context: TurnContext;
  /** The summary that is being made; null = none. */
  #summary: SummaryTask | null = null;
  /** No summary could be made in this turn: it goes on without. */
  #isWithoutSummary = false;

  constructor(dependencies: RunnerDependencies, chat: ClaimedChat) {
    this.#run = new ChatRun(dependencies, chat);
    this.#context = new TurnContext(dependencies, chat);
  }

  stop(reason: StopReason): void {
    this.#run.abort.stop(reason);
  }

  /** Applies a change of the chat from elsewhere. */
  observe(state: ChatState): void {
    this.#run.observe(state);
  }

  /** Never rejects. When it resolves, the chat is no longer this runner's. */
  run(): Promise<void> {
    return runWithContext({ chatId: this.#run.chat.chatId }, () => this.#runSafely());
  }

  async #runSafely(): Promise<void> {
    const { bus, log } = this.#run.dependencies;
    const { chatId } = this.#run.chat;
    let unsubscribe: (() => void) | undefined;
    try {
      unsubscribe = await bus.subscribeChat(chatId, {
        saved: (change: SavedChange) => this.observe(change.state),
        live: () => undefined,
      });
      await this.#runTurns();
    } catch (error) {
      if (error instanceof LeaseLost) log.debug({ chatId }, "lease lost; run discarded");
      else await this.#failSafely(error);
    } finally {
      this.#context.endTurn();
      unsubscribe?.();
    }
  }

  // ── the loop ─────────────────────────────────────────────────────────────

  async #runTurns(): Promise<void> {
    const { chat, dependencies } = this.#run;
    const { traces } = dependencies.telemetry;
    const attributes = { "parley.chat_id": chat.chatId };
    const span = { name: "turn", turnOf: chat.chatId, attributes };
    await traces.within(span, async (turnSpan) => {
      await this.#run.loadHistory();
      dependencies.events.onTurnStart(chat, this.#run.history);
      await this.#runTurn(turnSpan, { isFirstOfRun: true });
    });
    while (this.#run.isActive) {
      this.#startTurn();
      await traces.within(span, (turnSpan) => this.#runTurn(turnSpan, { isFirstOfRun: false }));
    }
    this.#notifyIdle();
  }

  /** Resolves when the run has ended, or the next turn has begun. */
  async #runTurn(span: Span, { isFirstOfRun }: { isFirstOfRun: boolean }): Promise<void> {
    const run = this.#run;
    for (let isFirst = isFirstOfRun; ; isFirst = false) {
      const { historyVersion, queueVersion } = run.state;
      if (run.state.status === "interrupting") {
        await run.finishInterrupt(isFirst ? await this.#partialOfLostWorker() : run.emptyPartial());
      } else if (run.abort.reason !== null) await run.releaseOrPersistPartial(run.emptyPartial());
      else await this.#act(await this.#decide());
      const isPromoted = run.state.historyVersion > historyVersion && run.state.queueVersion > queueVersion;
      if (run.isActive && !isPromoted) continue;
      span.setAttributes({ "parley.chat_status": run.state.status });
      if (run.state.status === "error") span.fail(run.state.lastError?.kind ?? "internal");
      return;
    }
  }

  /** Not for an interrupt, which its user knows of, for a released chat, or for a subagent, which reports to its parent. */
  #notifyIdle(): void {
    const { dependencies, chat, state, history, wasInterrupted } = this.#run;
    const turn = wasInterrupted || state.isSubagent ? null : settledTurn(state, history);
    if (turn) dependencies.events.onTurnSettled({ ...chat, title: state.title }, turn);
  }

  /** The queue's head has entered history: another message, perhaps another model. */
  #startTurn(): void {
    this.#context.startTurn();
    this.#summary = null;
    this.#isWithoutSummary = false;
  }

  async #decide(): Promise<NextAction> {
    const { history, state } = this.#run;
    if (this.#summary) return { type: "compact", source: this.#summary.source };
    const rules = await this.#context.model.rules(history);
    const compactionThresholdPercent = this.#isWithoutSummary
      ? COMPACTION_OFF_PERCENT
      : rules.compactionThresholdPercent;
    return nextAction(history, state, { ...rules, compactionThresholdPercent });
  }

  async #act(action: NextAction): Promise<void> {
    const run = this.#run;
    switch (action.type) {
      case "call-model": {
        const { overflow } = await takeModelStep(run, this.#context);
        return overflow ? this.#compactOverflow(overflow) : undefined;
      }
      case "run-tools":
        return takeToolStep(run, this.#context, action);
      case "compact":
        return this.#compact(this.#summary ?? { source: action.source, level: 0, tries: 0 });
      case "await-client":
        return this.#awaitClient();
      case "finish":
        return void (await run.commit([{ type: "finish-turn", fence: run.fence() }]));
      case "fail":
        return run.fail(TOO_MANY_STEPS);
    }
  }

  async #awaitClient(): Promise<void> {
    const { chat, state, dependencies } = this.#run;
    const { clientToolTimeoutMs } = dependencies.tools;
    const timeoutMs = clientToolTimeout(state.openCalls, chat.clientTools, clientToolTimeoutMs);
    await this.#run.commit([{ type: "await-client", fence: this.#run.fence(), timeoutMs }]);
  }

  // ── compaction ───────────────────────────────────────────────────────────

  async #compact(task: SummaryTask): Promise<void> {
    if (task.source === "manual" && !canSummarize(this.#run.history)) return this.#finishWithoutSummary();
    const end = await takeCompactionStep(this.#run, this.#context, task);
    this.#summary = end.type === "again" ? end.task : null;
    if (end.type === "without") this.#isWithoutSummary = true;
  }

  /** Starts a compaction after a prompt was refused as too long; fails when there is nothing to compact, or too often. */
  async #compactOverflow(refusal: ChatFailure): Promise<void> {
    const { history } = this.#run;
    const mayCompact = canSummarize(history) && compactionsInTurn(history) < MAX_COMPACTIONS_PER_TURN;
    if (!mayCompact) return this.#run.fail(refusal);
    if (await recordImmediateRetry(this.#run, refusal))
      this.#summary = { source: "overflow", level: 1, tries: 0 };
  }

  /** Ends a requested compaction of a history with nothing to summarize. */
  async #finishWithoutSummary(): Promise<void> {
    const fence = this.#run.fence();
    await this.#run.commit([
      { type: "commit-step", fence, messages: [], openCalls: [], settlesCompaction: true },
      { type: "finish-turn", fence },
    ]);
  }

  // ── ends ─────────────────────────────────────────────────────────────────

  /** An interrupt that was taken over: the output that the lost worker had streamed is in its generation's log. */
  async #partialOfLostWorker(): Promise<PartialStep> {
    const { dependencies, chat, generation, state } = this.#run;
    const logged = await dependencies.bus.readDeltas(chat.chatId, generation);
    const parts = partsFromDeltas(logged?.deltas.filter(({ role }) => role === "assistant") ?? []);
    if (parts.every(({ type }) => type === "notice") || isNotice(parts) || state.openCalls.length > 0)
      return this.#run.emptyPartial();
    const message: MessageDraft = {
      role: "assistant",
      visibility: "both",
      parts,
      generation: generationId(generation),
    };
    return { messages: [message], openCalls: openCallsOf(parts, new Set()) };
  }

  /**
   * Ends a run that threw, so that the chat does not hang. While only the database is unavailable the turn has not
   * failed: the chat is released, and the step is repeated from what is committed.
   */
  async #failSafely(error: unknown): Promise<void> {
    const run = this.#run;
    const { log } = run.dependencies;
    const { chatId } = run.chat;
    const reference = randomUUID();
    const isFull = isDiskFull(error);
    const isOutage =
      error instanceof DatabaseUnavailable && !isFull && run.state.attempt < MAX_ATTEMPTS_PER_STEP;
    if (isOutage) log.warn({ err: error, chatId }, "database unavailable during a turn; chat released");
    else log.error({ err: error, chatId, reference }, "run failed with an exception");
    try {
      // Ending an interrupt may promote the queue, and an interrupt may come before the failure: hence the loop.
      while (run.isActive) {
        if (isOutage) await run.releaseOrPersistPartial(run.emptyPartial());
        else if (run.state.status === "interrupting") await run.finishInterrupt(run.emptyPartial());
        else await run.fail(isFull ? STORAGE_FULL_FAILURE : internalFailure(reference));
      }
      this.#notifyIdle();
    } catch (second) {
      if (second instanceof LeaseLost) return;
      const level = second instanceof DatabaseUnavailable ? "warn" : "error";
      const facts = { err: second, chatId, reference };
      log[level](facts, "failed run could not be ended; the next heartbeat takes it over");
    }
  }
}

function internalFailure(reference: string): ChatFailure {
  const message = `Something went wrong inside Parley (reference ${reference}).`;
  return { kind: "internal", message, isRetryable: true };
}

/** Null when the turn has not settled. */
function settledTurn(state: ChatState, history: readonly MessageRow[]): SettledTurn | null {
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
