// One person's chats, whose truth is kept in memory by the real lifecycle: what the store and the worker are to the
// list hub. And a client that keeps a sidebar, as docs/events.md tells it to.
import { randomUUID } from "node:crypto";
import { createdState, transitionAll } from "../../src/domain/chats/chat-lifecycle.js";
import type { ChatState, ChatStatus } from "../../src/domain/chats/chat-state.js";
import type { MessageRow, SavedNews } from "../../src/domain/chats/chat-events.js";
import { type ListEvent, listNewsOf, readNews, type ReadChat } from "../../src/domain/chats/list-events.js";
import type { Command } from "../../src/domain/chats/transition.js";
import type { Bus } from "../../src/events/bus/bus.js";
import type { ListSource } from "../../src/events/lists/list-channel.js";
import { said } from "./world.js";

type Chat = { state: ChatState; newestAnswer: number; lastRead: number };
type Shown = { title: string; status: ChatStatus; isUnread: boolean };
type Told = { isTold?: boolean };

export class ListWorld implements ListSource {
  readonly chats = new Map<string, Chat>();
  /** Runs before each weighing answers. */
  beforeRead: () => void | Promise<void> = () => undefined;
  weighings = 0;
  #weight = 0;
  #nextMessage = 1;

  constructor(
    private readonly bus: Bus,
    readonly ownerId: string = randomUUID(),
  ) {}

  create(title = "A chat", { isTold = true }: Told = {}): string {
    const chatId = randomUUID();
    const state = createdState(title);
    this.chats.set(chatId, { state, newestAnswer: 0, lastRead: 0 });
    this.#tell({ chatId, ownerId: this.ownerId, previousVersion: 0, state, messages: [] }, isTold);
    return chatId;
  }

  /** Commits and tells; false when the lifecycle refuses or has nothing to do. `isTold: false` is lost news. */
  run(chatId: string, commands: Command[], { isTold = true }: Told = {}): boolean {
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
    const news: SavedNews = {
      chatId,
      ownerId: this.ownerId,
      previousVersion,
      ...(isAcquired ? {} : { before: { status, isArchived, titleVersion, diffVersion } }),
      state: result.next,
      messages: answers as unknown as MessageRow[],
    };
    this.#tell(news, isTold);
    return true;
  }

  rename(chatId: string, title: string, told: Told = {}): boolean {
    return this.run(chatId, [{ type: "set-title", title, source: "person" }], told);
  }

  send(chatId: string, told: Told = {}): boolean {
    const queuedId = randomUUID();
    return this.run(
      chatId,
      [{ type: "send-message", whenBusy: "queue", message: said("Hello"), queuedId }],
      told,
    );
  }

  acquire(chatId: string, told: Told = {}): boolean {
    const held = { workerId: randomUUID(), runnerId: randomUUID() };
    return this.run(chatId, [{ type: "acquire", ...held, isLeaseDead: false }], told);
  }

  finish(chatId: string, told: Told = {}): boolean {
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
      told,
    );
  }

  /** Null when there was nothing unread. */
  markRead(chatId: string): ReadChat | null {
    const chat = this.#chat(chatId);
    if (chat.newestAnswer <= chat.lastRead) return null;
    const moved = chat.newestAnswer - chat.lastRead;
    chat.lastRead = chat.newestAnswer;
    this.#weight += moved;
    const { status, snapshotVersion: version } = chat.state;
    return { chatId, ownerId: this.ownerId, status, version, moved };
  }

  read(chatId: string, { isTold = true }: Told = {}): void {
    const read = this.markRead(chatId);
    if (read && isTold) this.bus.publishList(this.ownerId, readNews(read));
  }

  /** What a sidebar shows that reads the list now. */
  get list(): Map<string, Shown> {
    const inSight = [...this.chats].filter(([, { state }]) => !state.isArchived);
    return new Map(inSight.map(([chatId]) => [chatId, this.show(chatId)]));
  }

  show(chatId: string): Shown {
    const { state, newestAnswer, lastRead } = this.#chat(chatId);
    return { title: state.title, status: state.status, isUnread: newestAnswer > lastRead };
  }

  async readListWeights(): Promise<Map<string, number>> {
    await this.beforeRead();
    this.weighings += 1;
    return new Map([[this.ownerId, this.#weight]]);
  }

  #chat(chatId: string): Chat {
    const chat = this.chats.get(chatId);
    if (!chat) throw new Error("There is no such chat.");
    return chat;
  }

  #tell(news: SavedNews, isTold: boolean): void {
    for (const { weight } of listNewsOf(news)) this.#weight += weight;
    if (isTold) this.bus.publishSaved(news);
  }
}

/** Keeps the list as the events say; the list outlives the stream. */
export class Sidebar {
  list = new Map<string, Shown>();
  cursor: string | null = null;
  readonly story: string[] = [];

  constructor(private readonly world: ListWorld) {}

  take(event: ListEvent): void {
    this.cursor = event.cursor;
    this.story.push(inWords(event));
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

  #change(chatId: string, changes: Partial<Shown>): void {
    const shown = this.list.get(chatId);
    if (shown) this.list.set(chatId, { ...shown, ...changes });
  }
}

function inWords(event: ListEvent): string {
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

/** Takes everything that waits on a stream into the sidebar; the stream stays open. */
export function followList(stream: AsyncIterator<ListEvent>, sidebar: Sidebar): { failure: unknown } {
  const result = { failure: null as unknown };
  const loop = async () => {
    for (let next = await stream.next(); !next.done; next = await stream.next()) sidebar.take(next.value);
  };
  loop().catch((error: unknown) => (result.failure = error));
  return result;
}
