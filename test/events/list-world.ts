// In-memory chats of one user, driven by the real lifecycle: stand in for the store and the worker of a list hub. And a
// client that maintains a sidebar according to docs/concepts/events.md.
import { randomUUID } from "node:crypto";
import { initialState, transitionAll } from "../../src/domain/chats/chat-lifecycle.js";
import type { ChatState, ChatStatus } from "../../src/domain/chats/chat-state.js";
import type { MessageRow, SavedChange } from "../../src/domain/chats/chat-events.js";
import {
  type ListEvent,
  listUpdatesOf,
  readUpdate,
  type ReadChat,
} from "../../src/domain/chats/list-events.js";
import type { Command } from "../../src/domain/chats/transition.js";
import type { Bus } from "../../src/events/bus/bus.js";
import type { ListSource } from "../../src/events/lists/list-channel.js";
import { userMessage } from "./world.js";

type Chat = { state: ChatState; newestAnswer: number; lastRead: number };
type ListItem = { title: string; status: ChatStatus; isUnread: boolean };
type PublishOptions = { isPublished?: boolean };

export class ListWorld implements ListSource {
  readonly chats = new Map<string, Chat>();
  /** Hook that runs before each read of the checksum returns. */
  beforeRead: () => void | Promise<void> = () => undefined;
  checksumReads = 0;
  #checksum = 0;
  #nextMessage = 1;

  constructor(
    private readonly bus: Bus,
    readonly ownerId: string = randomUUID(),
  ) {}

  create(title = "A chat", { isPublished = true }: PublishOptions = {}): string {
    const chatId = randomUUID();
    const state = initialState(title);
    this.chats.set(chatId, { state, newestAnswer: 0, lastRead: 0 });
    this.#publish({ chatId, ownerId: this.ownerId, previousVersion: 0, state, messages: [] }, isPublished);
    return chatId;
  }

  /** Commits and publishes; false when the lifecycle refuses or has nothing to do. `isPublished: false`: the event is lost. */
  run(chatId: string, commands: Command[], { isPublished = true }: PublishOptions = {}): boolean {
    const chat = this.#chat(chatId);
    const before = chat.state;
    const result = transitionAll(before, commands, 1_000);
    if (result.outcome !== "changed") return false;
    chat.state = result.next;
    const drafts = result.writes.flatMap((write) => (write.type === "insert-messages" ? write.messages : []));
    const answers = drafts.filter(({ role, visibility }) => role === "assistant" && visibility !== "model");
    if (answers.length > 0) chat.newestAnswer = this.#nextMessage++;
    const { snapshotVersion: previousVersion, status, isArchived, titleVersion, diffVersion } = before;
    const isAcquired = commands[0]?.type === "acquire";
    const change: SavedChange = {
      chatId,
      ownerId: this.ownerId,
      previousVersion,
      ...(isAcquired ? {} : { before: { status, isArchived, titleVersion, diffVersion } }),
      state: result.next,
      messages: answers as unknown as MessageRow[],
    };
    this.#publish(change, isPublished);
    return true;
  }

  rename(chatId: string, title: string, options: PublishOptions = {}): boolean {
    return this.run(chatId, [{ type: "set-title", title, source: "person" }], options);
  }

  send(chatId: string, options: PublishOptions = {}): boolean {
    const queuedId = randomUUID();
    return this.run(
      chatId,
      [{ type: "send-message", whenBusy: "queue", message: userMessage("Hello"), queuedId }],
      options,
    );
  }

  acquire(chatId: string, options: PublishOptions = {}): boolean {
    const ids = { workerId: randomUUID(), runnerId: randomUUID() };
    return this.run(chatId, [{ type: "acquire", ...ids, isLeaseDead: false }], options);
  }

  finish(chatId: string, options: PublishOptions = {}): boolean {
    const { runnerId, historyVersion } = this.#chat(chatId).state;
    const fence = { runnerId: runnerId ?? "", historyVersion };
    const message = {
      role: "assistant",
      visibility: "both",
      parts: [{ type: "text", text: "Yes." }],
    } as const;
    return this.run(
      chatId,
      [
        { type: "commit-step", fence, messages: [{ ...message, parts: [...message.parts] }], openCalls: [] },
        { type: "finish-turn", fence },
      ],
      options,
    );
  }

  /** Null when there was nothing unread. */
  markRead(chatId: string): ReadChat | null {
    const chat = this.#chat(chatId);
    if (chat.newestAnswer <= chat.lastRead) return null;
    const markAdvance = chat.newestAnswer - chat.lastRead;
    chat.lastRead = chat.newestAnswer;
    this.#checksum += markAdvance;
    const { status, snapshotVersion: version } = chat.state;
    return { chatId, ownerId: this.ownerId, status, version, markAdvance };
  }

  read(chatId: string, { isPublished = true }: PublishOptions = {}): void {
    const read = this.markRead(chatId);
    if (read && isPublished) this.bus.publishList(this.ownerId, readUpdate(read));
  }

  /** The list as a client reads it now. */
  get list(): Map<string, ListItem> {
    const visible = [...this.chats].filter(([, { state }]) => !state.isArchived);
    return new Map(visible.map(([chatId]) => [chatId, this.show(chatId)]));
  }

  show(chatId: string): ListItem {
    const { state, newestAnswer, lastRead } = this.#chat(chatId);
    return { title: state.title, status: state.status, isUnread: newestAnswer > lastRead };
  }

  async readListChecksums(): Promise<Map<string, number>> {
    await this.beforeRead();
    this.checksumReads += 1;
    return new Map([[this.ownerId, this.#checksum]]);
  }

  #chat(chatId: string): Chat {
    const chat = this.chats.get(chatId);
    if (!chat) throw new Error("chat not found");
    return chat;
  }

  #publish(change: SavedChange, isPublished: boolean): void {
    for (const { checksumDelta } of listUpdatesOf(change)) this.#checksum += checksumDelta;
    if (isPublished) this.bus.publishSaved(change);
  }
}

/** Client that applies the events to its list; it outlives the stream. */
export class Sidebar {
  list = new Map<string, ListItem>();
  cursor: string | null = null;
  readonly eventLog: string[] = [];

  constructor(private readonly world: ListWorld) {}

  take(event: ListEvent): void {
    this.cursor = event.cursor;
    this.eventLog.push(describe(event));
    switch (event.type) {
      case "refresh":
        this.list = this.world.list;
        return;
      case "caught-up":
        return;
      case "created":
        this.list.set(event.chatId, this.world.show(event.chatId));
        return;
      case "removed":
        this.list.delete(event.chatId);
        return;
      case "diff-status":
        return;
      case "title":
        this.#change(event.chatId, { title: event.title });
        return;
      case "status": {
        const { chatId, status } = event;
        this.#change(chatId, { status, isUnread: event.isUnread ?? this.world.show(chatId).isUnread });
      }
    }
  }

  #change(chatId: string, changes: Partial<ListItem>): void {
    const item = this.list.get(chatId);
    if (item) this.list.set(chatId, { ...item, ...changes });
  }
}

function describe(event: ListEvent): string {
  switch (event.type) {
    case "refresh":
      return `refresh ${event.reason}`;
    case "caught-up":
      return `caught-up ${event.replayedEvents}`;
    case "removed":
      return `removed ${event.reason}`;
    case "title":
      return `title ${event.title}`;
    case "status":
      return `status ${event.status}${event.isUnread ? " unread" : event.isUnread === false ? " read" : ""}`;
    case "created":
    case "diff-status":
      return event.type;
  }
}

/** Applies all events of the stream to the sidebar, in the background. */
export function followList(stream: AsyncIterator<ListEvent>, sidebar: Sidebar): { failure: unknown } {
  const result = { failure: null as unknown };
  const loop = async () => {
    for (let next = await stream.next(); !next.done; next = await stream.next()) sidebar.take(next.value);
  };
  loop().catch((error: unknown) => (result.failure = error));
  return result;
}
