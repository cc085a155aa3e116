// An in-memory chat, driven by the real lifecycle: stands in for the store and the worker of a hub.
import { transitionAll, initialState } from "../../src/domain/chats/chat-lifecycle.js";
import type { ChatState, MessageDraft, UserMessage } from "../../src/domain/chats/chat-state.js";
import {
  generationId,
  type LiveDelta,
  type MessageRow,
  type MessageDelta,
  type QueuedRow,
} from "../../src/domain/chats/chat-events.js";
import type { Command, Fence, Write } from "../../src/domain/chats/transition.js";
import type { Bus } from "../../src/events/bus/bus.js";
import type { ChatAndRows } from "../../src/events/chats/chat-reads.js";
import type { HubSource } from "../../src/events/chats/chat-hub.js";
import type { ChatSnapshot } from "../../src/events/chats/chat-view.js";

export const CHAT_ID = "11111111-1111-4111-8111-111111111111";
export const OWNER_ID = "22222222-2222-4222-8222-222222222222";
export const viewer = {
  userId: OWNER_ID,
  username: "ada",
  name: "Ada",
  role: "member" as const,
  expiresAt: null,
};

export function userMessage(text: string): UserMessage {
  return {
    parts: [{ type: "text", text }],
    authorId: OWNER_ID,
    modelConfigId: null,
    reasoningEffort: null,
    mcpServerIds: null,
  };
}

export class ChatWorld implements HubSource {
  state: ChatState = initialState("A chat");
  /** All deltas written, by generation. */
  readonly deltas = new Map<string, LiveDelta[]>();
  /** Hook that runs before each read returns, for what a test lets happen meanwhile. */
  beforeRead: (name: "chat" | "rows" | "together" | "versions") => void | Promise<void> = () => undefined;
  isDeleted = false;
  rowReads = 0;
  #rows: (MessageRow & { isGone?: boolean })[] = [];
  #queue = new Map<string, QueuedRow>();
  #nextId = 1;

  constructor(private readonly bus: Bus) {
    this.#insert([{ role: "user", visibility: "both", ...userMessage("first") }]);
  }

  get fence(): Fence {
    return { runnerId: this.state.runnerId ?? "", historyVersion: this.state.historyVersion };
  }

  get generation() {
    return { historyVersion: this.state.historyVersion, attempt: this.state.attempt };
  }

  /** The messages that a user sees now. */
  get messages(): MessageRow[] {
    return this.#rows.filter((row) => !row.isGone && row.visibility !== "model").map((row) => ({ ...row }));
  }

  get queue(): QueuedRow[] {
    return this.state.queuedIds.flatMap((id) => this.#queue.get(id) ?? []);
  }

  /** Commits and publishes; false when the lifecycle refuses or has nothing to do. `isPublished: false`: the event is lost. */
  run(commands: Command[], { isPublished = true, isLarge = false } = {}): boolean {
    const before = this.state;
    const result = transitionAll(before, commands, 1_000);
    if (result.outcome !== "changed") return false;
    this.state = result.next;
    const messages = result.writes.flatMap((write) => this.#write(write));
    const hasQueue = result.next.queueVersion === result.next.snapshotVersion;
    if (!isPublished) return true;
    this.bus.publishSaved({
      chatId: CHAT_ID,
      ownerId: OWNER_ID,
      previousVersion: before.snapshotVersion,
      state: result.next,
      messages: isLarge ? null : messages,
      ...(hasQueue ? { queue: isLarge ? null : this.queue } : {}),
    });
    return true;
  }

  /** Acquires, which begins an attempt. */
  start(workerId = "worker-1", runnerId = "runner-1", isLeaseDead = false): void {
    this.run([{ type: "acquire", workerId, runnerId, isLeaseDead }]);
  }

  /** The assistant's message of the current generation. */
  answer(text: string): MessageDraft {
    const generation = generationId(this.generation);
    return { role: "assistant", visibility: "both", parts: [{ type: "text", text }], generation };
  }

  /** Commits an answer and ends the turn. */
  finish(text: string): boolean {
    const { fence } = this;
    return this.run([
      { type: "commit-step", fence, messages: [this.answer(text)], openCalls: [] },
      { type: "finish-turn", fence },
    ]);
  }

  /** Streams words of the current generation, one delta each, in one batch. */
  write(...words: string[]): void {
    const { generation } = this;
    const all = this.deltas.get(generationId(generation)) ?? [];
    this.deltas.set(generationId(generation), all);
    const fresh = words.map((append): LiveDelta => {
      const delta: MessageDelta = { type: "text-delta", append };
      const live = { sequence: all.length + 1, role: "assistant" as const, partIndex: 0, delta };
      all.push(live);
      return live;
    });
    this.bus.publishLive({ chatId: CHAT_ID, generation, deltas: fresh });
  }

  async readChat(): Promise<ChatSnapshot | null> {
    await this.beforeRead("chat");
    return this.isDeleted ? null : { ownerId: OWNER_ID, state: this.state, queue: this.queue };
  }

  async readRowsFrom(_chatId: string, fromRevision: number, limit: number): Promise<MessageRow[]> {
    await this.beforeRead("rows");
    this.rowReads += 1;
    return this.#rowsFrom(fromRevision, limit);
  }

  #rowsFrom(fromRevision: number, limit: number): MessageRow[] {
    return this.messages
      .filter((row) => row.revision >= fromRevision)
      .sort((a, b) => a.revision - b.revision || Number(a.id) - Number(b.id))
      .slice(0, limit);
  }

  async readChatAndRowsFrom(
    _chatId: string,
    fromRevision: number,
    limit: number,
  ): Promise<ChatAndRows | null> {
    await this.beforeRead("together");
    if (this.isDeleted) return null;
    const fresh = { ownerId: OWNER_ID, state: this.state, queue: this.queue };
    return { fresh, rows: this.#rowsFrom(fromRevision, limit) };
  }

  async readVersions(): Promise<Map<string, number>> {
    await this.beforeRead("versions");
    return new Map(this.isDeleted ? [] : [[CHAT_ID, this.state.snapshotVersion]]);
  }

  #write(write: Write): MessageRow[] {
    switch (write.type) {
      case "insert-messages":
        return this.#insert(write.messages);
      case "add-runtime":
        return this.#rewrite(write.messageId, write.runtimeMs);
      case "delete-from":
        for (const row of this.#rows) if (Number(row.id) >= Number(write.messageId)) row.isGone = true;
        return [];
      case "enqueue": {
        const { queuedId: id, message } = write;
        this.#queue.set(id, { id, chatId: CHAT_ID, ...message, isCut: false, createdAt: 0 });
        return [];
      }
      case "promote": {
        const queued = this.#queue.get(write.queuedId);
        if (!queued) throw new Error("The promoted message is not in the queue.");
        this.#queue.delete(write.queuedId);
        const { parts, authorId, modelConfigId, reasoningEffort } = queued;
        const message = { parts, authorId, modelConfigId, reasoningEffort };
        return this.#insert([{ role: "user", visibility: "both", ...message }]);
      }
      case "delete-queued":
        for (const id of write.queuedIds) this.#queue.delete(id);
        return [];
    }
  }

  #insert(drafts: MessageDraft[]): MessageRow[] {
    const revision = this.state.snapshotVersion;
    const rows = drafts.map((draft): MessageRow => {
      const id = String(this.#nextId++);
      const { role, visibility, parts, generation = null, runtimeMs = null } = draft;
      const author = {
        authorId: draft.authorId ?? null,
        modelConfigId: null,
        reasoningEffort: null,
        mcpServerIds: null,
      };
      const cost = {
        usage: null,
        costMicros: null,
        runtimeMs,
        generation,
        finishReason: null,
        responseId: null,
        isSummary: false,
      };
      return { id, chatId: CHAT_ID, role, visibility, parts, ...author, ...cost, revision, createdAt: 0 };
    });
    this.#rows.push(...rows);
    return rows.map((row) => ({ ...row }));
  }

  #rewrite(messageId: string, runtimeMs: number): MessageRow[] {
    const row = this.#rows.find(({ id, isGone }) => id === messageId && !isGone);
    if (!row) return [];
    Object.assign(row, { runtimeMs: (row.runtimeMs ?? 0) + runtimeMs, revision: this.state.snapshotVersion });
    return [{ ...row }];
  }
}
