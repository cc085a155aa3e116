/**
 * One watched chat on this replica: saved changes and live pieces become one ordered stream for all its readers.
 *
 * Everything happens one after the other. While nothing has to be waited for, news is handled at once, in the
 * caller's own call; as soon as something must be read (a gap, a reader that joins), all later news waits its turn.
 */
import type {
  Generation,
  LiveBatch,
  LivePiece,
  MessageRow,
  Position,
  SavedItem,
  SavedNews,
} from "../../domain/chats/chat-events.js";
import { compareGenerations, generationId } from "../../domain/chats/chat-events.js";
import type { PreviewResetReason } from "../../domain/chats/chat-stream.js";
import type { ChatState } from "../../domain/chats/chat-state.js";
import type { Bus, ChatListener, HeardNews } from "../bus/bus.js";
import { ChatReads, isNewerThan, type ChatAndRows, type ChatSource } from "./chat-reads.js";
import type { ChatReader, PreviewReset } from "./chat-reader.js";
import { ChatView, hasMessageOf, isSameGeneration, liveGeneration, type ChatSnapshot } from "./chat-view.js";
import { OneByOne, type Work } from "../common/serial-queue.js";
import { follows, reaches } from "./delta-gaps.js";
import { SharedEvents } from "./shared-events.js";

/** News that may wait while something is read. Beyond it news is dropped, and what it said is read instead. */
const MAX_WAITING_NEWS = 2_000;
/** How previews may have ended: the rows written since, and why a preview without one of them is void. */
type PreviewEnd = {
  rows: MessageRow[];
  reason: PreviewResetReason;
  /** Those told so far, so that all readers are told of one object. */
  resets: PreviewReset[];
};

/** `broken` hears of a read that failed: this channel is then not to be trusted any more. */
type ChannelParts = { source: ChatSource; bus: Bus; broken(channel: ChatChannel, error: unknown): void };

export class ChatChannel implements ChatListener {
  readonly readers = new Set<ChatReader>();
  readonly shared = new SharedEvents();
  readonly #work: OneByOne;
  readonly #reads: ChatReads;
  #view: ChatView;
  /** Pieces of the live generation handled so far; the next one must follow. */
  #shown: { generation: Generation; sequence: number; isVoid: boolean } | null = null;
  /** Too much waited: the work that reads what was dropped is on its way. */
  #hasDropped = false;

  constructor(
    readonly chatId: string,
    snapshot: ChatSnapshot,
    private readonly parts: ChannelParts,
  ) {
    this.#view = new ChatView(snapshot);
    this.#reads = new ChatReads(chatId, parts.source);
    this.#work = new OneByOne((error) => parts.broken(this, error));
  }

  get ownerId(): string {
    return this.#view.ownerId;
  }

  get version(): number {
    return this.#view.version;
  }

  saved(news: HeardNews): void {
    this.#hear(() => {
      if (news.state.snapshotVersion <= this.version) return;
      const missed = news.previousVersion === this.version ? this.#readMissed(news) : null;
      return missed ? missed.then(() => this.#take(news)) : this.#take(news);
    });
  }

  live(batch: LiveBatch): void {
    this.#hear(() => this.#handleLive(batch));
  }

  /** Reads what the bus lost: somebody saw that the database is ahead of us, or too much news came at once. */
  heal(): void {
    this.#work.do(() => this.#catchUp());
  }

  /**
   * Snapshot or catch-up, pieces so far, then live. Also for a reader that fell behind and has caught breath, and for
   * one that has taken as many of the pieces as fit.
   */
  join(reader: ChatReader): void {
    this.#work.do(async () => {
      if (!this.readers.has(reader)) return;
      const isReturning = reader.isBehind || reader.isPaused;
      if (reader.isBehind) reader.replayedEvents = 0;
      reader.isBehind = false;
      reader.isPaused = false;
      reader.replayedEvents += isReturning ? await this.#replay(reader) : await this.#open(reader);
      const generation = liveGeneration(this.#view.state);
      if (generation) await this.#showSoFar(reader, generation);
      if (!reader.isPaused) reader.caughtUp(this.version);
    });
  }

  #hear(work: Work): void {
    if (this.#hasDropped) return;
    if (this.#work.waiting < MAX_WAITING_NEWS) return this.#work.do(work);
    this.#hasDropped = true;
    this.#work.do(() => {
      this.#hasDropped = false;
      return this.#catchUp();
    });
  }

  // ── saved news ───────────────────────────────────────────────────────────

  #take(news: SavedNews): void | Promise<void> {
    const before = this.#view.state;
    if (!this.#view.apply(news)) return this.#catchUp();
    this.#tellAll(before, news.messages ?? []);
  }

  /** Null when no piece of the message that the news brings can have been lost. */
  #readMissed({ lastPiece, messages }: HeardNews): Promise<void> | null {
    const shown = this.#shown;
    if (lastPiece === undefined || !shown || shown.isVoid) return null;
    if (!hasMessageOf(messages ?? [], shown.generation)) return null;
    if (!lastPiece || !isSameGeneration(lastPiece.generation, shown.generation))
      return this.#endShown(messages ?? []);
    return lastPiece.sequence > shown.sequence ? this.#continueLive(lastPiece.sequence) : null;
  }

  async #catchUp(): Promise<void> {
    const read = await this.#reads.from(this.version + 1);
    if (read) return this.#moveOn(read);
    for (const reader of [...this.readers]) reader.end();
  }

  /** `rows` is every row written since the version so far. */
  async #moveOn({ fresh, rows }: ChatAndRows): Promise<void> {
    const before = this.#view.state;
    if (fresh.state.snapshotVersion > before.snapshotVersion) {
      await this.#endShown(rows ?? []);
      if (rows) this.#view.advance(fresh.state, rows, fresh.queue);
      else this.#view = new ChatView(fresh);
      const refresh = { reason: "cursor_too_old" as const, version: this.version };
      for (const reader of rows ? [] : this.#liveReaders()) reader.refresh(refresh);
      this.#tellAll(before, rows ?? []);
    }
    await this.#continueLive();
  }

  /** `rows` is what was written since `before`: every live reader has been told all that came earlier. */
  #tellAll(before: ChatState, rows: MessageRow[]): void {
    const { state } = this.#view;
    const isRewritten = state.resetVersion > before.snapshotVersion;
    const batches = new Map<string, ReturnType<ChatView["newsAfter"]>>();
    const refresh = { reason: "history_edited" as const, version: this.version };
    const end = { rows, reason: this.#resetReason(before), resets: [] };
    for (const reader of this.#liveReaders()) {
      if (isRewritten && reader.position.version < state.resetVersion) {
        reader.refresh(refresh);
        continue;
      }
      const key = positionKey(reader.position);
      const items = batches.get(key) ?? this.#view.newsAfter(reader.position, rows);
      batches.set(key, items);
      this.#tell(reader, items, end);
      reader.settle(this.version);
    }
    const generation = liveGeneration(state);
    if (!isSameGeneration(this.#shown?.generation ?? null, generation)) {
      this.#shown = generation && { generation, sequence: 0, isVoid: false };
    }
  }

  /**
   * A preview that is no longer being written has become one of the messages, or is void; so is one whose message was
   * written once more and comes after later ones now. A void one is taken away before messages come in its place; only
   * a retry is told before the preview that it voids.
   */
  #tell(reader: ChatReader, items: SavedItem[], { rows, reason: presumed, resets }: PreviewEnd): void {
    const shown = reader.generation;
    // The present retry may be that of a later generation; then what the reader was shown ended in another way.
    const reason = presumed === "retry" && !this.#isRetried(shown) ? "worker_lost" : presumed;
    const isOver = shown !== null && !isSameGeneration(shown, liveGeneration(this.#view.state));
    const hasMessage = isOver && (this.#view.hasMessageOf(shown) || hasMessageOf(rows, shown));
    const isVoid = isOver && (!hasMessage || comesAfterLaterOnes(items, shown));
    if (isVoid && reason !== "retry") reader.resetPreview(resetOf(resets, shown, reason));
    for (const item of items) reader.tell(item);
    if (isVoid && reason === "retry") reader.resetPreview(resetOf(resets, shown, reason));
    if (isOver && !isVoid) reader.endPreview();
  }

  #isRetried(shown: Generation | null): boolean {
    const { historyVersion, retry } = this.#view.state;
    return retry !== null && isSameGeneration(shown, { historyVersion, attempt: retry.attempt });
  }

  #resetReason(before: ChatState): PreviewResetReason {
    if (this.#view.state.retry !== null) return "retry";
    return before.status === "interrupting" ? "interrupt" : "worker_lost";
  }

  // ── live pieces ──────────────────────────────────────────────────────────

  #handleLive({ generation, pieces }: LiveBatch): void | Promise<void> {
    const current = liveGeneration(this.#view.state);
    const order = current ? compareGenerations(generation, current) : 1;
    if (order < 0) return;
    // The pieces overtook the news that their attempt has begun.
    if (!current || order > 0) return this.#isAhead(generation) ? this.#catchUp() : undefined;
    return this.#showPieces(current, pieces);
  }

  #isAhead(generation: Generation): boolean {
    const { historyVersion, attempt } = this.#view.state;
    return compareGenerations(generation, { historyVersion, attempt }) > 0;
  }

  #showPieces(generation: Generation, pieces: LivePiece[]): void | Promise<void> {
    const shown = this.#shown;
    if (!shown || shown.isVoid) return;
    for (const piece of pieces) {
      if (piece.sequence <= shown.sequence) continue;
      if (piece.sequence > shown.sequence + 1) return this.#continueLive(piece.sequence);
      shown.sequence = piece.sequence;
      const news = { generation, piece };
      for (const reader of this.#liveReaders()) reader.show(news);
    }
  }

  /**
   * Shows what the log has beyond what was shown. If that does not reach `upTo`, pieces are lost: the preview is
   * void, and the saved message will follow.
   */
  async #continueLive(upTo = 0): Promise<void> {
    const shown = this.#shown;
    if (!shown || shown.isVoid) return;
    const logged = await this.parts.bus.readPieces(this.chatId, shown.generation);
    const missing = logged?.pieces.filter((piece) => piece.sequence > shown.sequence) ?? [];
    for (const piece of missing) {
      if (!follows(piece, shown.sequence, logged)) break;
      shown.sequence = piece.sequence;
      const news = { generation: shown.generation, piece };
      for (const reader of this.#liveReaders()) reader.show(news);
    }
    if (shown.sequence < upTo) this.#voidPreview(shown);
  }

  /**
   * What was read may hold the message of a generation whose last pieces still wait for their turn: they are told
   * before it, from the log. Where the log does not have them all, or may not, the preview is void.
   */
  async #endShown(rows: MessageRow[]): Promise<void> {
    const shown = this.#shown;
    if (!shown || shown.isVoid || !hasMessageOf(rows, shown.generation)) return;
    const logged = await this.parts.bus.readPieces(this.chatId, shown.generation);
    if (logged && !logged.isCut && logged.end !== null) return this.#continueLive(logged.end);
    shown.isVoid = true;
    const viewers = this.#liveReaders().filter((reader) =>
      isSameGeneration(reader.generation, shown.generation),
    );
    const reset: PreviewReset = { generation: shown.generation, reason: "worker_lost" };
    for (const reader of viewers) reader.resetPreview(reset);
  }

  #voidPreview(shown: { generation: Generation; isVoid: boolean }): void {
    shown.isVoid = true;
    const reset: PreviewReset = { generation: shown.generation, reason: "worker_lost" };
    for (const reader of this.#liveReaders()) reader.resetPreview(reset);
  }

  // ── joining ──────────────────────────────────────────────────────────────

  /** How many saved events were replayed. */
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
    const items = this.#view.newsAfter(position, this.#view.covers(position) ? undefined : rows);
    const reason = this.#view.state.retry === null ? "worker_lost" : "retry";
    this.#tell(reader, items, { rows, reason, resets: [] });
    return items.length;
  }

  /** Rows from `revision` on, none newer than the view: with a commit that came between, all readers catch up. */
  async #rowsUpToNow(revision: number): Promise<MessageRow[] | null> {
    const rows = await this.#reads.rowsFrom(revision);
    if (!isNewerThan(this.version, rows)) return rows;
    const read = await this.#reads.together(revision);
    if (!read?.rows) {
      await this.#catchUp();
      return null;
    }
    const { version } = this;
    await this.#moveOn({ fresh: read.fresh, rows: read.rows.filter((row) => row.revision > version) });
    return read.rows;
  }

  /**
   * The pieces that were written before this reader came; its preview is void when they cannot all be had. A log may
   * hold more of them than a reader's queue does: then the reader is paused.
   */
  async #showSoFar(reader: ChatReader, generation: Generation): Promise<void> {
    this.#shown ??= { generation, sequence: 0, isVoid: false };
    const shown = this.#shown;
    const logged = await this.parts.bus.readPieces(this.chatId, generation);
    const seen = isSameGeneration(reader.generation, generation) ? reader.sequence : 0;
    const missing = (logged?.pieces ?? []).filter((piece) => piece.sequence > seen);
    const reached = Math.max(shown.sequence, logged?.pieces.at(-1)?.sequence ?? 0);
    if (shown.isVoid || logged?.isCut || !reaches(missing, { seen, reached, logged })) {
      reader.resetPreview({ generation, reason: "worker_lost" });
      return;
    }
    for (const piece of missing) {
      if (reader.isCrowded) return reader.pause();
      reader.show({ generation, piece });
      reader.replayedEvents += 1;
    }
    // Others hear of the newest of these when their news takes its turn; this reader passes them over.
    if (![...this.readers].some((other) => other.isLive)) shown.sequence = reached;
  }

  #liveReaders(): ChatReader[] {
    return [...this.readers].filter((reader) => reader.isLive && !reader.isBehind);
  }
}

/** Whether messages that are newer than the generation's come before it. */
function comesAfterLaterOnes(items: SavedItem[], generation: Generation): boolean {
  const messages = items.flatMap((item) => (item.type === "message" ? [item.message] : []));
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
