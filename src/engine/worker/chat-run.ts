/**
 * One worker's run of a claimed chat: its current state and history, the abort controller of its work, and the only
 * way to commit. It detects the loss of the lease (`LeaseLost`), and never decides what to do next.
 */
import { generationId, type LiveDelta, type MessageRow } from "../../domain/chats/chat-events.js";
import type { ChatState, MessageDraft, OpenCall } from "../../domain/chats/chat-state.js";
import type { HistoryMessage } from "../../domain/chats/next-action.js";
import type { Command, Fence } from "../../domain/chats/transition.js";
import type { ChatFailure } from "../../domain/common/failures.js";
import type { ClaimedChat } from "../../store/chats/leases.js";
import { billCall, type BilledCall } from "../../services/usage/bill-call.js";
import { mergeRows } from "../transitions/chat-cache.js";
import type { TurnPorts } from "../turn/ports.js";
import { RunAbortController } from "../turn/run-abort.js";
import { commitThroughOutages } from "./commit-with-retry.js";
import type { PromptInput } from "./prompt-input.js";
import type { RunnerDependencies } from "./runner-dependencies.js";

/** The chat is no longer this runner's; its work is discarded. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

/** What a stopped step leaves behind: finished rows, and the calls that are still unanswered. */
export type PartialStep = {
  messages: MessageDraft[];
  openCalls: OpenCall[];
  addRuntime?: { messageId: string; runtimeMs: number };
};

export class ChatRun {
  readonly abort = new RunAbortController();
  readonly dependencies: RunnerDependencies;
  readonly chat: ClaimedChat;
  state: ChatState;
  history: MessageRow[] = [];
  /** The next attempt has been begun already: with the claim, or together with the results before it. */
  hasBegun: boolean;
  /** The last commit was a user's interrupt. */
  wasInterrupted = false;
  /** The model gave this step an empty answer and is asked once more. */
  isAskedAgain = false;
  /** Drafts of this run that were committed. */
  readonly #committed = new WeakSet<MessageDraft>();
  /** When the step began, for its wall time; null between steps. */
  #stepStartedAt: number | null = null;

  constructor(dependencies: RunnerDependencies, chat: ClaimedChat) {
    this.dependencies = dependencies;
    this.chat = chat;
    this.state = chat.state;
    this.hasBegun = chat.state.status === "running";
  }

  /** Applies a change of this chat from elsewhere: an interrupt, an edit, or another worker's claim. Old ones are ignored. */
  observe(state: ChatState): void {
    if (state.snapshotVersion <= this.state.snapshotVersion) return;
    const isRewritten = state.resetVersion > this.state.resetVersion;
    this.state = state;
    if (isRewritten) this.abort.stop({ kind: "history-rewritten" });
    else if (state.runnerId !== this.chat.state.runnerId) this.abort.stop({ kind: "ownership-lost" });
    else if (state.status === "interrupting") this.abort.stop({ kind: "interrupt" });
  }

  get isActive(): boolean {
    return this.state.status === "running" || this.state.status === "interrupting";
  }

  get promptInput(): PromptInput {
    return { history: this.history, signal: this.abort.signal };
  }

  async loadHistory(): Promise<void> {
    const { chatId, ownerId, state } = this.chat;
    const { chatCache, store } = this.dependencies;
    const cached = chatCache.get(chatId);
    if (cached?.history && cached.state.snapshotVersion === state.snapshotVersion) {
      this.history = cached.history;
      return;
    }
    this.history = await store.readHistory(chatId);
    if (this.state.snapshotVersion === state.snapshotVersion) {
      chatCache.set(chatId, ownerId, state, this.history);
    }
  }

  // ── steps ────────────────────────────────────────────────────────────────

  /** Starts a step's wall time, which continues across its failed attempts. */
  startStep(): void {
    this.#stepStartedAt ??= this.dependencies.clock.now();
  }

  /** Milliseconds since the step began. */
  get stepRuntimeMs(): number {
    const now = this.dependencies.clock.now();
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
   * Ports bound to the present generation, whatever comes after it. They stop publishing once the lease is lost: the
   * generation may then be that of the chat's next runner.
   */
  ports(): TurnPorts {
    const { bus, clock, events } = this.dependencies;
    const { chatId } = this.chat;
    const { generation } = this;
    const publish = (deltas: LiveDelta[]) => {
      if (!this.abort.isLost) bus.publishLive({ chatId, generation, deltas });
    };
    return { clock, publish, deltaIntervalMs: events.deltaIntervalMs };
  }

  // ── stops and ends ───────────────────────────────────────────────────────

  emptyPartial(): PartialStep {
    return { messages: [], openCalls: this.state.openCalls };
  }

  /** Ends a step that was stopped before it was whole: an interrupt persists it, a shutdown releases the chat without it. */
  async releaseOrPersistPartial(partial: PartialStep): Promise<void> {
    if (this.abort.isLost) throw new LeaseLost();
    if (this.state.status === "interrupting") return this.finishInterrupt(partial);
    if (!(await this.commit([{ type: "release", fence: this.fence() }]))) await this.finishInterrupt(partial);
  }

  async finishInterrupt(partial: PartialStep): Promise<void> {
    const keepsQueue = await this.#keepsQueue();
    await this.commit([{ type: "finish-interrupt", fence: this.fence(), ...partial, ...keepsQueue }]);
    this.abort.reset();
  }

  /** Queued messages of a deactivated user stay queued. */
  async #keepsQueue(): Promise<{ keepsQueue?: true }> {
    if (this.state.queuedIds.length === 0) return {};
    return (await this.dependencies.store.isOwnerActive(this.chat.ownerId)) ? {} : { keepsQueue: true };
  }

  /** Fails the turn for good. */
  async fail(failure: ChatFailure): Promise<void> {
    await this.commit([{ type: "fail", fence: this.fence(), failure }]);
  }

  // ── commits ──────────────────────────────────────────────────────────────

  fence(): Fence {
    return { runnerId: this.chat.state.runnerId ?? "", historyVersion: this.state.historyVersion };
  }

  /**
   * True when the commands are committed. False when a user's interrupt came first: the chat is still ours and
   * `interrupting`. Throws `LeaseLost` when it is not ours any more.
   */
  async commit(commands: Command[]): Promise<boolean> {
    const { chatId, ownerId } = this.chat;
    const known = { ownerId, state: this.state };
    const result = await commitThroughOutages(
      this.dependencies,
      { chatId, commands, known },
      () => this.abort.isLost || this.abort.isShuttingDown,
    );
    if (result.outcome === "not_found") throw new LeaseLost();
    if (result.state.snapshotVersion >= this.state.snapshotVersion) this.state = result.state;
    if (result.outcome === "changed") {
      this.hasBegun = commands.at(-1)?.type === "begin-attempt";
      this.wasInterrupted = commands.some(({ type }) => type === "finish-interrupt");
      this.#markCommitted(commands);
      this.#appendCommitted(result.messages);
      return true;
    }
    if (this.state.runnerId !== this.chat.state.runnerId) throw new LeaseLost();
    if (this.state.status === "interrupting") return false;
    throw new Error(`A runner's commit was refused: ${JSON.stringify(result)}`);
  }

  /** Bills the call of a message that was not committed, whatever the reason. */
  async billUnlessCommitted(
    message: MessageDraft | null,
    call: Pick<BilledCall, "config" | "purpose" | "usage">,
  ): Promise<void> {
    if (message !== null && this.#committed.has(message)) return;
    // Its time is in the step's, which is still running.
    await billCall(this.dependencies, { ...call, chatId: this.chat.chatId, runtimeMs: null });
  }

  #markCommitted(commands: Command[]): void {
    for (const command of commands) {
      if ("messages" in command) for (const message of command.messages) this.#committed.add(message);
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

/** History as it will be once the draft is committed: for decisions about what comes next. */
export function asHistory(history: MessageRow[], draft: MessageDraft): HistoryMessage[] {
  return [...history, { id: "", isSummary: false, ...draft }];
}
