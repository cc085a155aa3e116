/**
 * One hold on one chat. A runner looks at committed history, decides one thing (domain/next-action), does it, and
 * commits; again until the chat rests or somebody else moves it.
 *
 * It never leaves a chat stuck: an exception ends the turn in `error`, a refused commit means that somebody else
 * has the chat now, and what it was told to stop for (`StopSwitch`) decides what is kept.
 */
import { randomUUID } from "node:crypto";
import type { LivePiece, MessageRow, SavedNews } from "../../domain/chat-events.js";
import { generationId } from "../../domain/chat-events.js";
import type { Command, Fence } from "../../domain/transition.js";
import type { ChatState, MessageDraft, OpenCall } from "../../domain/chat-state.js";
import type { ChatFailure } from "../../domain/failures.js";
import type { MessagePart, TokenUsage, ToolCallPart } from "../../domain/message-parts.js";
import { nextAction, openCallsOf, type NextAction } from "../../domain/next-action.js";
import type { HeldChat } from "../../store/leases.js";
import { sleep } from "../../lib/clock.js";
import { applyTransition } from "../state/apply-transition.js";
import { mergeRows } from "../state/recent-chats.js";
import { partsFromPieces } from "../turn/accumulate.js";
import { callModel, type CallOutcome } from "../turn/call-model.js";
import { executeTools } from "../turn/execute-tools.js";
import { retryDelay } from "../turn/retry.js";
import { StopSwitch, type StopReason } from "../turn/stop.js";
import { runToolOf } from "./run-tool.js";
import {
  clientToolNames,
  workspaceOf,
  prepareCall,
  type PreparedCall,
  type RunnerParts,
} from "./turn-context.js";

/** The chat is no longer this runner's; whatever it was doing is dropped. */
class Dropped extends Error {}

/** What an interrupted step leaves behind: finished rows, and the calls that are still to be answered. */
type Kept = {
  messages: MessageDraft[];
  openCalls: OpenCall[];
  addRuntime?: { messageId: string; runtimeMs: number };
};

export class Runner {
  readonly #switch = new StopSwitch();
  readonly #parts: RunnerParts;
  readonly #chat: HeldChat;
  readonly #workspace: ReturnType<typeof workspaceOf>;
  #state: ChatState;
  #history: MessageRow[] = [];
  /** The next attempt has been begun already: with the acquisition, or together with the results before it. */
  #hasBegun: boolean;
  /** When the step began, for its wall time; null between steps. */
  #stepStartedAt: number | null = null;

  constructor(parts: RunnerParts, chat: HeldChat) {
    this.#parts = parts;
    this.#chat = chat;
    this.#state = chat.state;
    this.#hasBegun = chat.state.status === "running";
    this.#workspace = workspaceOf(parts, chat);
  }

  stop(reason: StopReason): void {
    this.#switch.stop(reason);
  }

  /** News of this chat, from anywhere: the runner hears of interrupts and of losing the chat. */
  hear(state: ChatState): void {
    if (state.snapshotVersion <= this.#state.snapshotVersion) return;
    this.#state = state;
    if (state.runnerId !== this.#chat.state.runnerId) this.#switch.stop({ kind: "ownership-lost" });
    else if (state.status === "interrupting") this.#switch.stop({ kind: "interrupt" });
  }

  /** Never rejects. When it resolves, the chat is no longer this runner's. */
  async run(): Promise<void> {
    const { bus, log } = this.#parts;
    const { chatId } = this.#chat;
    let detach: (() => void) | undefined;
    try {
      detach = await bus.subscribeChat(chatId, {
        saved: (news: SavedNews) => this.hear(news.state),
        live: () => undefined,
      });
      this.#history = await this.#loadHistory();
      await this.#turn();
    } catch (error) {
      if (error instanceof Dropped) log.debug({ chatId }, "A run was dropped: the chat has moved on");
      else await this.#failSafely(error);
    } finally {
      detach?.();
    }
  }

  // ── the loop ─────────────────────────────────────────────────────────────

  async #turn(): Promise<void> {
    for (let isFirst = true; ; isFirst = false) {
      if (this.#state.status === "interrupting") {
        await this.#finishInterrupt(isFirst ? await this.#partialOfLostWorker() : this.#keepNothing());
      } else if (this.#switch.reason !== null) await this.#giveUp(this.#keepNothing());
      else await this.#act(nextAction(this.#history, this.#state));
      if (this.#state.status !== "running" && this.#state.status !== "interrupting") return;
    }
  }

  async #act(action: NextAction): Promise<void> {
    switch (action.type) {
      case "call-model":
        return this.#callModel();
      case "run-tools":
        return this.#runTools(action.calls, action.messageId);
      case "await-client":
        return void (await this.#commit([{ type: "await-client", fence: this.#fence() }]));
      case "finish":
        return void (await this.#commit([{ type: "finish-turn", fence: this.#fence() }]));
      case "fail":
        return this.#fail(TOO_MANY_STEPS);
    }
  }

  async #callModel(): Promise<void> {
    this.#stepStartedAt ??= this.#parts.clock.now();
    const prepared = await prepareCall(this.#parts, this.#chat, this.#history);
    if (!prepared.ok) return this.#fail(prepared.failure);
    if (!this.#hasBegun && !(await this.#commit([{ type: "begin-attempt", fence: this.#fence() }]))) return;
    const outcome = await callModel(prepared.call.open, this.#switch.signal, this.#ports());
    if (outcome.type === "failed") return this.#retryOrFail(outcome);
    const message = this.#assistantMessage(outcome, prepared.call);
    const openCalls = openCallsOf(outcome.parts, clientToolNames(this.#parts, this.#chat));
    if (outcome.type === "completed") return this.#commitAnswer(outcome, message, openCalls);
    await this.#giveUp({ messages: outcome.parts.length > 0 ? [message] : [], openCalls });
  }

  async #commitAnswer(
    { finishReason }: CallOutcome & { type: "completed" },
    message: MessageDraft,
    openCalls: OpenCall[],
  ): Promise<void> {
    const fence = this.#fence();
    const kept = { messages: [message], openCalls };
    const commands: Command[] = [{ type: "commit-step", fence, ...kept }];
    if (finishReason === "content-filter") commands.push({ type: "fail", fence, failure: CONTENT_FILTERED });
    else if (openCalls.length === 0) commands.push({ type: "finish-turn", fence });
    if (!(await this.#commit(commands))) await this.#finishInterrupt(kept);
  }

  async #runTools(calls: ToolCallPart[], messageId: string): Promise<void> {
    const startedAt = this.#parts.clock.now();
    const run = runToolOf(this.#parts, { chat: this.#chat, messageId, workspace: this.#workspace });
    const results = await executeTools(calls, run, this.#switch.signal, this.#ports());
    const answered = new Set(results.map((result) => result.toolCallId));
    const openCalls = this.#state.openCalls.filter((call) => !answered.has(call.toolCallId));
    const generation = generationId(this.#generation());
    const draft: MessageDraft = { role: "tool", visibility: "both", parts: results, generation };
    const kept = {
      messages: results.length > 0 ? [draft] : [],
      openCalls,
      addRuntime: { messageId, runtimeMs: this.#parts.clock.now() - startedAt },
    };
    if (this.#switch.reason !== null) return this.#giveUp(kept);
    const commands: Command[] = [{ type: "commit-step", fence: this.#fence(), ...kept }];
    const after = [...this.#history, { ...draft, id: "", isSummary: false }];
    const callsModelNext = nextAction(after, { openCalls }).type === "call-model";
    if (callsModelNext) commands.push({ type: "begin-attempt", fence: this.#fence() });
    if (!(await this.#commit(commands))) return this.#finishInterrupt(kept);
    this.#hasBegun = callsModelNext;
  }

  async #retryOrFail(outcome: CallOutcome & { type: "failed" }): Promise<void> {
    const { failure, retryAfterMs, cause } = outcome;
    const { clock, log, random } = this.#parts;
    const { chatId } = this.#chat;
    const delayMs = retryDelay(failure, this.#state.attempt, retryAfterMs, random());
    log.warn({ err: cause, chatId, failure, attempt: this.#state.attempt, delayMs }, "A model call failed");
    if (this.#switch.reason !== null) return this.#giveUp(this.#keepNothing());
    if (delayMs === null) return this.#fail(failure);
    if (!(await this.#commit([{ type: "record-retry", fence: this.#fence(), delayMs, failure }]))) return;
    await sleep(clock, delayMs, this.#switch.signal);
  }

  // ── being stopped ────────────────────────────────────────────────────────

  #keepNothing(): Kept {
    return { messages: [], openCalls: this.#state.openCalls };
  }

  /** What becomes of a step that was stopped before it was whole: an interrupt keeps it, nothing else does. */
  async #giveUp(kept: Kept): Promise<void> {
    if (this.#switch.reason?.kind === "ownership-lost") throw new Dropped();
    if (this.#state.status === "interrupting") return this.#finishInterrupt(kept);
    if (!(await this.#commit([{ type: "release", fence: this.#fence() }]))) await this.#finishInterrupt(kept);
  }

  async #finishInterrupt(kept: Kept): Promise<void> {
    await this.#commit([{ type: "finish-interrupt", fence: this.#fence(), ...kept }]);
    this.#switch.rearm();
  }

  /** An interrupt that was taken over: what the lost worker had streamed is in its generation's log. */
  async #partialOfLostWorker(): Promise<Kept> {
    const generation = this.#generation();
    const logged = await this.#parts.bus.readPieces(this.#chat.chatId, generation);
    const parts = partsFromPieces(logged?.pieces.filter((piece) => piece.role === "assistant") ?? []);
    if (parts.length === 0 || this.#state.openCalls.length > 0) return this.#keepNothing();
    const message: MessageDraft = {
      role: "assistant",
      visibility: "both",
      parts,
      generation: generationId(generation),
    };
    return { messages: [message], openCalls: openCallsOf(parts, new Set()) };
  }

  // ── ends ─────────────────────────────────────────────────────────────────

  async #fail(failure: ChatFailure): Promise<void> {
    await this.#commit([{ type: "fail", fence: this.#fence(), failure }]);
  }

  /** A bug or a broken world: the chat must not hang on it. */
  async #failSafely(error: unknown): Promise<void> {
    const { log } = this.#parts;
    const { chatId } = this.#chat;
    const reference = randomUUID();
    log.error({ err: error, chatId, reference }, "A run ended with an exception");
    try {
      // Ending an interrupt may promote the queue, and an interrupt may come before the failure: until it rests.
      while (this.#state.status === "running" || this.#state.status === "interrupting") {
        if (this.#state.status === "interrupting") await this.#finishInterrupt(this.#keepNothing());
        else await this.#fail(internalFailure(reference));
      }
    } catch (second) {
      if (second instanceof Dropped) return;
      log.error(
        { err: second, chatId, reference },
        "The failed run could not be ended; the next heartbeat takes it up",
      );
    }
  }

  // ── commits ──────────────────────────────────────────────────────────────

  #fence(): Fence {
    return { runnerId: this.#chat.state.runnerId ?? "", historyVersion: this.#state.historyVersion };
  }

  /**
   * True when the commands are committed. False when a person's interrupt came first: the chat is still ours and
   * `interrupting`. Throws `Dropped` when it is not ours any more.
   */
  async #commit(commands: Command[]): Promise<boolean> {
    const { chatId, ownerId } = this.#chat;
    const known = { ownerId, state: this.#state };
    const result = await applyTransition(this.#parts, { chatId, commands, known });
    if (result.outcome === "not_found") throw new Dropped();
    if (result.state.snapshotVersion >= this.#state.snapshotVersion) this.#state = result.state;
    if (result.outcome === "changed") {
      this.#hasBegun = false;
      this.#takeIn(result.messages);
      return true;
    }
    if (this.#state.runnerId !== this.#chat.state.runnerId) throw new Dropped();
    if (this.#state.status === "interrupting") return false;
    throw new Error(`A runner's commit was refused: ${JSON.stringify(result)}`);
  }

  #takeIn(messages: MessageRow[]): void {
    const visible = messages.filter((message) => message.visibility !== "user");
    if (visible.length === 0) return;
    this.#stepStartedAt = null;
    this.#history = mergeRows(this.#history, visible);
  }

  async #loadHistory(): Promise<MessageRow[]> {
    const { chatId, ownerId, state } = this.#chat;
    const recent = this.#parts.recent.get(chatId);
    if (recent?.history && recent.state.snapshotVersion === state.snapshotVersion) return recent.history;
    const history = await this.#parts.readHistory(chatId);
    if (this.#state.snapshotVersion === state.snapshotVersion) {
      this.#parts.recent.remember(chatId, ownerId, state, history);
    }
    return history;
  }

  // ── small things ─────────────────────────────────────────────────────────

  #generation(): { historyVersion: number; attempt: number } {
    return { historyVersion: this.#state.historyVersion, attempt: this.#state.attempt };
  }

  #ports() {
    const { bus, clock } = this.#parts;
    const { chatId } = this.#chat;
    const generation = this.#generation();
    return { clock, announce: (pieces: LivePiece[]) => bus.publishLive({ chatId, generation, pieces }) };
  }

  #assistantMessage(
    outcome: { parts: MessagePart[]; usage: TokenUsage | null },
    { model }: PreparedCall,
  ): MessageDraft {
    return {
      role: "assistant",
      visibility: "both",
      parts: outcome.parts,
      usage: outcome.usage,
      modelConfigId: model.config.id,
      runtimeMs: this.#parts.clock.now() - (this.#stepStartedAt ?? this.#parts.clock.now()),
      generation: generationId(this.#generation()),
    };
  }
}

function internalFailure(reference: string): ChatFailure {
  const message = `Something went wrong inside Parley (reference ${reference}).`;
  return { kind: "internal", message, isRetryable: true };
}

const CONTENT_FILTERED: ChatFailure = {
  kind: "content_filtered",
  message: "The provider's content filter stopped this answer.",
  isRetryable: false,
};

const TOO_MANY_STEPS: ChatFailure = {
  kind: "internal",
  message: "The turn was stopped: the model asked for tools more often than one turn allows.",
  isRetryable: false,
};
