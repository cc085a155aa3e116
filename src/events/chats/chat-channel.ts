/**
 * Event channel of one subscribed chat on this replica: merges committed changes and live deltas into one ordered
 * stream for all its readers.
 *
 * All work is serialized. Events are handled synchronously while nothing has to be awaited; once something must be read
 * (a gap, a joining reader), later events wait in the queue.
 */
import type {
  Generation,
  LiveBatch,
  LiveDelta,
  MessageRow,
  Position,
  SavedEvent,
  SavedChange,
} from "../../domain/chats/chat-events.js";
import { compareGenerations, generationId } from "../../domain/chats/chat-events.js";
import type { PreviewResetReason } from "../../domain/chats/chat-stream.js";
import type { ChatState } from "../../domain/chats/chat-state.js";
import type { Bus, ChatListener, PublishedChange } from "../bus/bus.js";
import { ChatReads, isNewerThan, type ChatAndRows, type ChatSource } from "./chat-reads.js";
import type { ChatReader, PreviewReset } from "./chat-reader.js";
import { ChatView, hasMessageOf, isSameGeneration, liveGeneration, type ChatSnapshot } from "./chat-view.js";
import { SerialQueue, type Task } from "../common/serial-queue.js";
import { follows, reaches } from "./delta-gaps.js";
import { SharedEvents } from "./shared-events.js";

/** Events that may wait while something is read. Beyond it they are dropped, and the chat is read instead. */
const MAX_BUFFERED_EVENTS = 2_000;
/** How previews may have ended: the rows written since, and the reason for a reset of a preview without one of them. */
type PreviewEnd = {
  rows: MessageRow[];
  reason: PreviewResetReason;
  /** Resets sent so far, so that all readers get the same object. */
  resets: PreviewReset[];
};

type ChannelDependencies = {
  source: ChatSource;
  bus: Bus;
  /** Called when a read failed: the channel may have missed changes and must be closed. */
  onFailure(channel: ChatChannel, error: unknown): void;
};

export class ChatChannel implements ChatListener {
  readonly readers = new Set<ChatReader>();
  readonly shared = new SharedEvents();
  readonly #queue: SerialQueue;
  readonly #reads: ChatReads;
  #view: ChatView;
  /** The live generation and its last delta handled; the next one must follow it. `isVoid`: its preview was reset. */
  #preview: { generation: Generation; sequence: number; isVoid: boolean } | null = null;
  /** The queue overflowed: a task that reads the dropped changes is queued. */
  #hasDropped = false;

  constructor(
    readonly chatId: string,
    snapshot: ChatSnapshot,
    private readonly dependencies: ChannelDependencies,
  ) {
    this.#view = new ChatView(snapshot);
    this.#reads = new ChatReads(chatId, dependencies.source);
    this.#queue = new SerialQueue((error) => dependencies.onFailure(this, error));
  }

  get ownerId(): string {
    return this.#view.ownerId;
  }

  get version(): number {
    return this.#view.version;
  }

  saved(change: PublishedChange): void {
    this.#enqueue(() => {
      if (change.state.snapshotVersion <= this.version) return;
      const missed = change.previousVersion === this.version ? this.#readMissedDeltas(change) : null;
      return missed ? missed.then(() => this.#apply(change)) : this.#apply(change);
    });
  }

  live(batch: LiveBatch): void {
    this.#enqueue(() => this.#handleLive(batch));
  }

  /** Reads what the bus lost: the database is ahead of this channel, or too many events came at once. */
  heal(): void {
    this.#queue.run(() => this.#catchUp());
  }

  /**
   * Sends a snapshot or catch-up and the deltas so far, then goes live. Also resumes a reader that fell behind or was
   * paused, once its stream has drained.
   */
  join(reader: ChatReader): void {
    this.#queue.run(async () => {
      if (!this.readers.has(reader)) return;
      const isReturning = reader.isBehind || reader.isPaused;
      if (reader.isBehind) reader.replayedEvents = 0;
      reader.isBehind = false;
      reader.isPaused = false;
      reader.replayedEvents += isReturning ? await this.#replay(reader) : await this.#open(reader);
      const generation = liveGeneration(this.#view.state);
      if (generation) await this.#replayDeltas(reader, generation);
      if (!reader.isPaused) reader.caughtUp(this.version);
    });
  }

  #enqueue(task: Task): void {
    if (this.#hasDropped) return;
    if (this.#queue.waiting < MAX_BUFFERED_EVENTS) return this.#queue.run(task);
    this.#hasDropped = true;
    this.#queue.run(() => {
      this.#hasDropped = false;
      return this.#catchUp();
    });
  }

  // ── committed changes ────────────────────────────────────────────────────

  #apply(change: SavedChange): void | Promise<void> {
    const before = this.#view.state;
    if (!this.#view.apply(change)) return this.#catchUp();
    this.#sendToAll(before, change.messages ?? []);
  }

  /** Null when no delta of the change's message can have been lost. */
  #readMissedDeltas({ lastDelta, messages }: PublishedChange): Promise<void> | null {
    const preview = this.#preview;
    if (lastDelta === undefined || !preview || preview.isVoid) return null;
    if (!hasMessageOf(messages ?? [], preview.generation)) return null;
    if (!lastDelta || !isSameGeneration(lastDelta.generation, preview.generation))
      return this.#completePreview(messages ?? []);
    return lastDelta.sequence > preview.sequence ? this.#continueLive(lastDelta.sequence) : null;
  }

  async #catchUp(): Promise<void> {
    const read = await this.#reads.from(this.version + 1);
    if (read) return this.#advance(read);
    for (const reader of [...this.readers]) reader.end();
  }

  /** `rows` must be all rows written since the current version. */
  async #advance({ fresh, rows }: ChatAndRows): Promise<void> {
    const before = this.#view.state;
    if (fresh.state.snapshotVersion > before.snapshotVersion) {
      await this.#completePreview(rows ?? []);
      if (rows) this.#view.advance(fresh.state, rows, fresh.queue);
      else this.#view = new ChatView(fresh);
      const refresh = { reason: "cursor_too_old" as const, version: this.version };
      for (const reader of rows ? [] : this.#liveReaders()) reader.refresh(refresh);
      this.#sendToAll(before, rows ?? []);
    }
    await this.#continueLive();
  }

  /** Sends every live reader what changed since `before`; `rows` are the rows written since, earlier ones were sent. */
  #sendToAll(before: ChatState, rows: MessageRow[]): void {
    const { state } = this.#view;
    const isRewritten = state.resetVersion > before.snapshotVersion;
    const batches = new Map<string, ReturnType<ChatView["itemsAfter"]>>();
    const refresh = { reason: "history_edited" as const, version: this.version };
    const end = { rows, reason: this.#resetReason(before), resets: [] };
    for (const reader of this.#liveReaders()) {
      if (isRewritten && reader.position.version < state.resetVersion) {
        reader.refresh(refresh);
        continue;
      }
      const key = positionKey(reader.position);
      const items = batches.get(key) ?? this.#view.itemsAfter(reader.position, rows);
      batches.set(key, items);
      this.#send(reader, items, end);
      reader.settle(this.version);
    }
    const generation = liveGeneration(state);
    if (!isSameGeneration(this.#preview?.generation ?? null, generation)) {
      this.#preview = generation && { generation, sequence: 0, isVoid: false };
    }
  }

  /**
   * Sends items, and ends or resets the reader's preview. A preview that is no longer being written has become one of
   * the messages, or is void; so is one whose message was rewritten and now comes after later ones. A void preview is
   * reset before the messages that replace it; only a retry is sent before its reset.
   */
  #send(reader: ChatReader, items: SavedEvent[], { rows, reason: presumed, resets }: PreviewEnd): void {
    const previewed = reader.generation;
    // The current retry may belong to a later generation; then the reader's preview ended in another way.
    const reason = presumed === "retry" && !this.#isRetried(previewed) ? "worker_lost" : presumed;
    const isOver = previewed !== null && !isSameGeneration(previewed, liveGeneration(this.#view.state));
    const hasMessage = isOver && (this.#view.hasMessageOf(previewed) || hasMessageOf(rows, previewed));
    const isVoid = isOver && (!hasMessage || comesAfterLaterOnes(items, previewed));
    if (isVoid && reason !== "retry") reader.resetPreview(resetOf(resets, previewed, reason));
    for (const event of items) reader.send(event);
    if (isVoid && reason === "retry") reader.resetPreview(resetOf(resets, previewed, reason));
    if (isOver && !isVoid) reader.endPreview();
  }

  #isRetried(generation: Generation | null): boolean {
    const { historyVersion, retry } = this.#view.state;
    return retry !== null && isSameGeneration(generation, { historyVersion, attempt: retry.attempt });
  }

  #resetReason(before: ChatState): PreviewResetReason {
    if (this.#view.state.retry !== null) return "retry";
    return before.status === "interrupting" ? "interrupt" : "worker_lost";
  }

  // ── live deltas ──────────────────────────────────────────────────────────

  #handleLive({ generation, deltas }: LiveBatch): void | Promise<void> {
    const current = liveGeneration(this.#view.state);
    const order = current ? compareGenerations(generation, current) : 1;
    if (order < 0) return;
    // The deltas overtook the change that began their attempt.
    if (!current || order > 0) return this.#isAhead(generation) ? this.#catchUp() : undefined;
    return this.#sendDeltas(current, deltas);
  }

  #isAhead(generation: Generation): boolean {
    const { historyVersion, attempt } = this.#view.state;
    return compareGenerations(generation, { historyVersion, attempt }) > 0;
  }

  #sendDeltas(generation: Generation, deltas: LiveDelta[]): void | Promise<void> {
    const preview = this.#preview;
    if (!preview || preview.isVoid) return;
    for (const delta of deltas) {
      if (delta.sequence <= preview.sequence) continue;
      if (delta.sequence > preview.sequence + 1) return this.#continueLive(delta.sequence);
      preview.sequence = delta.sequence;
      const sent = { generation, delta };
      for (const reader of this.#liveReaders()) reader.sendDelta(sent);
    }
  }

  /**
   * Sends the logged deltas after the last one sent. If they do not reach `upTo`, deltas are lost: the preview is reset,
   * and the saved message will follow.
   */
  async #continueLive(upTo = 0): Promise<void> {
    const preview = this.#preview;
    if (!preview || preview.isVoid) return;
    const logged = await this.dependencies.bus.readDeltas(this.chatId, preview.generation);
    const missing = logged?.deltas.filter((delta) => delta.sequence > preview.sequence) ?? [];
    for (const delta of missing) {
      if (!follows(delta, preview.sequence, logged)) break;
      preview.sequence = delta.sequence;
      const sent = { generation: preview.generation, delta };
      for (const reader of this.#liveReaders()) reader.sendDelta(sent);
    }
    if (preview.sequence < upTo) this.#resetPreview(preview);
  }

  /**
   * Completes the preview of a generation whose message is among `rows`: its last deltas may still wait in the queue, so
   * they are sent from the log, before the message. If the log may not have them all, the preview is reset.
   */
  async #completePreview(rows: MessageRow[]): Promise<void> {
    const preview = this.#preview;
    if (!preview || preview.isVoid || !hasMessageOf(rows, preview.generation)) return;
    const logged = await this.dependencies.bus.readDeltas(this.chatId, preview.generation);
    if (logged && !logged.isCut && logged.end !== null) return this.#continueLive(logged.end);
    preview.isVoid = true;
    const previewing = this.#liveReaders().filter((reader) =>
      isSameGeneration(reader.generation, preview.generation),
    );
    const reset: PreviewReset = { generation: preview.generation, reason: "worker_lost" };
    for (const reader of previewing) reader.resetPreview(reset);
  }

  #resetPreview(preview: { generation: Generation; isVoid: boolean }): void {
    preview.isVoid = true;
    const reset: PreviewReset = { generation: preview.generation, reason: "worker_lost" };
    for (const reader of this.#liveReaders()) reader.resetPreview(reset);
  }

  // ── joining ──────────────────────────────────────────────────────────────

  /** Returns the number of replayed saved events. */
  async #open(reader: ChatReader): Promise<number> {
    const { after } = reader;
    if (after === null) {
      reader.refresh({ reason: "first_snapshot", version: this.version });
      return 0;
    }
    if (after.position.version > this.version) await this.#catchUp();
    if (after.position.version > this.version) {
      reader.refresh({ reason: "cursor_too_old", version: this.version });
      return 0;
    }
    return this.#replay(reader);
  }

  async #replay(reader: ChatReader): Promise<number> {
    const { position } = reader;
    const rows = this.#view.covers(position) ? [] : await this.#rowsUpToNow(position.version);
    if (position.version < this.#view.state.resetVersion) {
      reader.refresh({ reason: "history_edited", version: this.version });
      return 0;
    }
    if (rows === null) {
      reader.refresh({ reason: "cursor_too_old", version: this.version });
      return 0;
    }
    const items = this.#view.itemsAfter(position, this.#view.covers(position) ? undefined : rows);
    const reason = this.#view.state.retry === null ? "worker_lost" : "retry";
    this.#send(reader, items, { rows, reason, resets: [] });
    return items.length;
  }

  /** Rows from `revision` on, none newer than the view: if a commit came in between, all readers catch up first. */
  async #rowsUpToNow(revision: number): Promise<MessageRow[] | null> {
    const rows = await this.#reads.rowsFrom(revision);
    if (!isNewerThan(this.version, rows)) return rows;
    const read = await this.#reads.together(revision);
    if (!read?.rows) {
      await this.#catchUp();
      return null;
    }
    const { version } = this;
    await this.#advance({ fresh: read.fresh, rows: read.rows.filter((row) => row.revision > version) });
    return read.rows;
  }

  /**
   * Sends the deltas written before this reader joined; resets its preview when some are missing. The reader is paused
   * when there are more than its stream takes.
   */
  async #replayDeltas(reader: ChatReader, generation: Generation): Promise<void> {
    this.#preview ??= { generation, sequence: 0, isVoid: false };
    const preview = this.#preview;
    const logged = await this.dependencies.bus.readDeltas(this.chatId, generation);
    const seen = isSameGeneration(reader.generation, generation) ? reader.sequence : 0;
    const missing = (logged?.deltas ?? []).filter((delta) => delta.sequence > seen);
    const reached = Math.max(preview.sequence, logged?.deltas.at(-1)?.sequence ?? 0);
    if (preview.isVoid || logged?.isCut || !reaches(missing, { seen, reached, logged })) {
      reader.resetPreview({ generation, reason: "worker_lost" });
      return;
    }
    for (const delta of missing) {
      if (reader.isHalfFull) return reader.pause();
      reader.sendDelta({ generation, delta });
      reader.replayedEvents += 1;
    }
    // The other live readers get the newest of these when their event is dequeued; this reader then skips them.
    if (![...this.readers].some((other) => other.isLive)) preview.sequence = reached;
  }

  #liveReaders(): ChatReader[] {
    return [...this.readers].filter((reader) => reader.isLive && !reader.isBehind);
  }
}

/** Whether the generation's message comes after newer messages. */
function comesAfterLaterOnes(items: SavedEvent[], generation: Generation): boolean {
  const messages = items.flatMap((event) => (event.type === "message" ? [event.message] : []));
  const own = messages.findIndex((message) => message.generation === generationId(generation));
  return messages.slice(0, own + 1).some(({ id }) => Number(id) > Number(messages[own]?.id));
}

function positionKey(position: Position): string {
  return `${position.version}|${position.stage}|${position.messageId}`;
}

function resetOf(resets: PreviewReset[], generation: Generation, reason: PreviewResetReason): PreviewReset {
  const known = resets.find((it) => it.reason === reason && isSameGeneration(it.generation, generation));
  if (known) return known;
  const reset = { generation, reason };
  resets.push(reset);
  return reset;
}
