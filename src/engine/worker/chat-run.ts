/**
 * One worker's hold on one chat: the state and history as they stand, the switch that stops the work, and the one
 * way to commit. It knows when the chat is no longer its own (`LeaseLost`), and never decides what to do next.
 */
import type { LiveDelta, MessageRow } from "../../domain/chats/chat-events.js";
import { generationId } from "../../domain/chats/chat-events.js";
import type { ChatState, MessageDraft, OpenCall } from "../../domain/chats/chat-state.js";
import type { ChatFailure } from "../../domain/common/failures.js";
import type { HistoryMessage } from "../../domain/chats/next-action.js";
import type { Command, Fence } from "../../domain/chats/transition.js";
import type { ClaimedChat } from "../../store/chats/leases.js";
import { billCall, type BilledCall } from "../../services/usage/bill-call.js";
import { mergeRows } from "../transitions/chat-cache.js";
import type { TurnPorts } from "../turn/ports.js";
import { RunAbortController } from "../turn/run-abort.js";
import { commitThroughOutages } from "./commit-with-retry.js";
import type { RunnerDependencies } from "./runner-dependencies.js";

/** The chat is no longer this runner's; whatever it was doing is dropped. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

/** What a stopped step leaves behind: finished rows, and the calls that are still to be answered. */
export type PartialStep = {
  messages: MessageDraft[];
  openCalls: OpenCall[];
  addRuntime?: { messageId: string; runtimeMs: number };
};

export class ChatRun {
  readonly switch = new RunAbortController();
  readonly parts: RunnerDependencies;
  readonly chat: ClaimedChat;
  state: ChatState;
  history: MessageRow[] = [];
  /** The next attempt has been begun already: with the acquisition, or together with the results before it. */
  hasBegun: boolean;
  /** The last thing that happened was a person's interrupt. */
  wasInterrupted = false;
  /** The model answered this step with nothing and is asked once more. */
  isAskedAgain = false;
  /** What was committed of what this hold has written. */
  readonly #kept = new WeakSet<MessageDraft>();
  /** When the step began, for its wall time; null between steps. */
  #stepStartedAt: number | null = null;

  constructor(parts: RunnerDependencies, chat: ClaimedChat) {
    this.parts = parts;
    this.chat = chat;
    this.state = chat.state;
    this.hasBegun = chat.state.status === "running";
  }

  /** News of this chat, from anywhere: of interrupts, of edits, and of losing the chat. */
  hear(state: ChatState): void {
    if (state.snapshotVersion <= this.state.snapshotVersion) return;
    const isRewritten = state.resetVersion > this.state.resetVersion;
    this.state = state;
    if (isRewritten) this.switch.stop({ kind: "history-rewritten" });
    else if (state.runnerId !== this.chat.state.runnerId) this.switch.stop({ kind: "ownership-lost" });
    else if (state.status === "interrupting") this.switch.stop({ kind: "interrupt" });
  }

  get isHeld(): boolean {
    return this.state.status === "running" || this.state.status === "interrupting";
  }

  /** What is known now, and what ends the wait for more. */
  get moment(): { history: MessageRow[]; signal: AbortSignal } {
    return { history: this.history, signal: this.switch.signal };
  }

  async loadHistory(): Promise<void> {
    const { chatId, ownerId, state } = this.chat;
    const chatCache = this.parts.chatCache.get(chatId);
    if (chatCache?.history && chatCache.state.snapshotVersion === state.snapshotVersion) {
      this.history = chatCache.history;
      return;
    }
    this.history = await this.parts.readHistory(chatId);
    if (this.state.snapshotVersion === state.snapshotVersion) {
      this.parts.chatCache.remember(chatId, ownerId, state, this.history);
    }
  }

  // ── steps ────────────────────────────────────────────────────────────────

  /** A step begins, or goes on after a failed attempt: its wall time counts from the first of these. */
  startStep(): void {
    this.#stepStartedAt ??= this.parts.clock.now();
  }

  /** Milliseconds since the step began. */
  get stepRuntimeMs(): number {
    const now = this.parts.clock.now();
    return now - (this.#stepStartedAt ?? now);
  }

  /** Begins the next attempt unless that has been done. False when an interrupt came first. */
  async beginAttempt(): Promise<boolean> {
    return this.hasBegun || this.commit([{ type: "begin-attempt", fence: this.fence() }]);
  }

  get generation(): { historyVersion: number; attempt: number } {
    return { historyVersion: this.state.historyVersion, attempt: this.state.attempt };
  }

  get generationId(): string {
    return generationId(this.generation);
  }

  /**
   * Time, and a voice that speaks for the present generation, whatever comes after it. It falls silent with the loss of
   * the chat: what was heard of that may be the generation of who has the chat now.
   */
  ports(): TurnPorts {
    const { bus, clock, deltaIntervalMs } = this.parts;
    const { chatId } = this.chat;
    const { generation } = this;
    const publish = (deltas: LiveDelta[]) => {
      if (!this.switch.isLost) bus.publishLive({ chatId, generation, deltas });
    };
    return { clock, publish, deltaIntervalMs };
  }

  // ── being stopped, and ends ──────────────────────────────────────────────

  emptyPartial(): PartialStep {
    return { messages: [], openCalls: this.state.openCalls };
  }

  /** What becomes of a step that was stopped before it was whole: an interrupt keeps it, nothing else does. */
  async releaseOrPersistPartial(kept: PartialStep): Promise<void> {
    if (this.switch.isLost) throw new LeaseLost();
    if (this.state.status === "interrupting") return this.finishInterrupt(kept);
    if (!(await this.commit([{ type: "release", fence: this.fence() }]))) await this.finishInterrupt(kept);
  }

  async finishInterrupt(kept: PartialStep): Promise<void> {
    const keepsQueue = await this.#keepsQueue();
    await this.commit([{ type: "finish-interrupt", fence: this.fence(), ...kept, ...keepsQueue }]);
    this.switch.reset();
  }

  /** What waits in the chat of somebody who was deactivated goes on waiting. */
  async #keepsQueue(): Promise<{ keepsQueue?: true }> {
    if (this.state.queuedIds.length === 0) return {};
    return (await this.parts.isOwnerActive(this.chat.ownerId)) ? {} : { keepsQueue: true };
  }

  /** The turn has failed for good. */
  async fail(failure: ChatFailure): Promise<void> {
    await this.commit([{ type: "fail", fence: this.fence(), failure }]);
  }

  // ── commits ──────────────────────────────────────────────────────────────

  fence(): Fence {
    return { runnerId: this.chat.state.runnerId ?? "", historyVersion: this.state.historyVersion };
  }

  /**
   * True when the commands are committed. False when a person's interrupt came first: the chat is still ours and
   * `interrupting`. Throws `LeaseLost` when it is not ours any more.
   */
  async commit(commands: Command[]): Promise<boolean> {
    const { chatId, ownerId } = this.chat;
    const known = { ownerId, state: this.state };
    const result = await commitThroughOutages(
      this.parts,
      { chatId, commands, known },
      () => this.switch.isLost || this.switch.isShuttingDown,
    );
    if (result.outcome === "not_found") throw new LeaseLost();
    if (result.state.snapshotVersion >= this.state.snapshotVersion) this.state = result.state;
    if (result.outcome === "changed") {
      this.hasBegun = commands.at(-1)?.type === "begin-attempt";
      this.wasInterrupted = commands.some(({ type }) => type === "finish-interrupt");
      this.#remember(commands);
      this.#appendCommitted(result.messages);
      return true;
    }
    if (this.state.runnerId !== this.chat.state.runnerId) throw new LeaseLost();
    if (this.state.status === "interrupting") return false;
    throw new Error(`A runner's commit was refused: ${JSON.stringify(result)}`);
  }

  /** Bills the call of a message that was not committed, whatever kept it from being. */
  async billUnlessKept(
    message: MessageDraft | null,
    call: Pick<BilledCall, "config" | "purpose" | "usage">,
  ): Promise<void> {
    if (message !== null && this.#kept.has(message)) return;
    // Its time is in the step's, which is still going on.
    await billCall(this.parts, { ...call, chatId: this.chat.chatId, runtimeMs: null });
  }

  #remember(commands: Command[]): void {
    for (const command of commands) {
      if ("messages" in command) for (const message of command.messages) this.#kept.add(message);
    }
  }

  #appendCommitted(messages: MessageRow[]): void {
    const visible = messages.filter((message) => message.visibility !== "user");
    if (visible.length === 0) return;
    this.#stepStartedAt = null;
    this.isAskedAgain = false;
    this.history = mergeRows(this.history, visible);
  }
}

/** History as it will be when the draft is committed: for decisions about what comes next. */
export function asHistory(history: MessageRow[], draft: MessageDraft): HistoryMessage[] {
  return [...history, { id: "", isSummary: false, ...draft }];
}
