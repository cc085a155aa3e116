/**
 * One subscriber of one chat: its position, and the mapping of saved items and deltas to its events. Every event moves
 * the position, so that each event's cursor is where a returning client resumes.
 */
import type { Generation, LiveDelta, Position, SavedEvent } from "../../domain/chats/chat-events.js";
import {
  compareGenerations,
  comparePositions,
  endOfVersion,
  generationId,
} from "../../domain/chats/chat-events.js";
import type { ChatEvent, PreviewResetReason, RefreshReason } from "../../domain/chats/chat-stream.js";
import { encodeEventCursor, type EventCursor } from "../../domain/common/cursors.js";
import { isSameGeneration } from "./chat-view.js";
import type { EventStream } from "../common/event-stream.js";
import { rowSize } from "./row-size.js";
import type { EventBody, SharedEvents, SizedBody } from "./shared-events.js";

/** Size assumed for each event; those with saved rows or deltas add the size of their text. */
const SMALL_EVENT_BYTES = 256;

/** A delta in one delivery; the same object for all its readers. */
export type SentDelta = { generation: Generation; delta: LiveDelta };
/** The reset of a preview in one delivery; the same object for all its readers. */
export type PreviewReset = { generation: Generation; reason: PreviewResetReason };
/** A refresh in one delivery; the same object for all its readers. */
export type Refresh = { reason: RefreshReason; version: number };

export type ChatReaderOptions = {
  chatId: string;
  /** Shared with the chat's other readers. */
  shared: SharedEvents;
  stream: EventStream<ChatEvent>;
  after: EventCursor | null;
  /** The stream was full: called with the number of discarded events. */
  onOverflow(reader: ChatReader, dropped: number): void;
  /** The subscriber has taken everything queued, and the reader may join again. */
  onDrained(reader: ChatReader): void;
};

export class ChatReader {
  /** False until it has had its snapshot or catch-up. */
  isLive = false;
  /** Its stream overflowed: it gets nothing until it has taken the refresh and joined again. */
  isBehind = false;
  /** It has as much of a preview as fits, and gets the rest once it has taken that. */
  isPaused = false;
  /** Events sent before it was live. */
  replayedEvents = 0;
  position: Position;
  /** The generation of the deltas sent last. */
  generation: Generation | null;
  sequence: number;
  /** The newest generation whose preview was reset; deltas of it and of older ones are no longer sent. */
  #lastReset: Generation | null = null;
  readonly after: EventCursor | null;
  readonly #options: ChatReaderOptions;

  constructor(options: ChatReaderOptions) {
    this.#options = options;
    this.after = options.after;
    this.position = options.after?.position ?? endOfVersion(0);
    this.generation = options.after?.generation ?? null;
    this.sequence = options.after?.sequence ?? 0;
  }

  /** Sends a saved item unless the reader has had it. */
  send(item: SavedEvent): void {
    if (this.isBehind || comparePositions(item.position, this.position) <= 0) return;
    this.position = item.position;
    // The message ends its preview, so that its event's cursor must no longer name the generation.
    const preview = this.generation && generationId(this.generation);
    if (item.type === "message" && preview !== null && item.message.generation === preview) this.endPreview();
    this.#push(item, () => describeItem(item, this.#options.chatId));
  }

  /** Sends a delta unless the reader has had it; the caller ensures that none before it is missing. */
  sendDelta(sent: SentDelta): void {
    const { generation, delta } = sent;
    const isSame = isSameGeneration(this.generation, generation);
    if (this.isBehind || (isSame && delta.sequence <= this.sequence)) return;
    if (this.#lastReset && compareGenerations(generation, this.#lastReset) <= 0) return;
    this.generation = generation;
    this.sequence = delta.sequence;
    this.#push(sent, () => {
      const bytes = "append" in delta.delta ? delta.delta.append.length : JSON.stringify(delta.delta).length;
      return sized({ type: "part", generation, ...delta }, bytes);
    });
  }

  /** Forgets the preview, whose message has been sent. */
  endPreview(): void {
    this.generation = null;
    this.sequence = 0;
  }

  /** Discards the preview of a generation, of which no more deltas will be sent; its message follows, if any. */
  resetPreview(reset: PreviewReset): void {
    this.endPreview();
    this.#lastReset = reset.generation;
    this.#push(reset, () => sized({ type: "preview-reset", ...reset }));
  }

  refresh(refresh: Refresh): void {
    const { reason, version } = refresh;
    this.position = endOfVersion(version);
    this.endPreview();
    this.#push(refresh, () => sized({ type: "refresh", reason, chatId: this.#options.chatId }));
  }

  /** Backpressure signal: deltas that can be sent later should wait. */
  get isHalfFull(): boolean {
    return this.#options.stream.isHalfFull;
  }

  /** Joins again when the subscriber has taken everything queued. */
  pause(): void {
    this.isPaused = true;
    this.#options.stream.whenDrained(() => this.#options.onDrained(this));
  }

  caughtUp(version: number): void {
    const { replayedEvents } = this;
    this.position = endOfVersion(version);
    this.#push({}, () => sized({ type: "caught-up", replayedEvents }));
    this.isLive = !this.isBehind;
  }

  /** Marks everything of this version as sent. */
  settle(version: number): void {
    if (!this.isBehind) this.position = endOfVersion(version);
  }

  end(): void {
    this.#options.stream.end();
  }

  /** `change` is the same object for all readers of one delivery. */
  #push(change: object, describe: () => SizedBody): void {
    if (this.isBehind) return;
    const { stream, shared } = this.#options;
    const { event, bytes } = shared.eventOf(change, this.#cursor(), describe);
    if (stream.push(event, bytes)) return;
    this.isLive = false;
    this.isBehind = true;
    this.endPreview();
    this.position = endOfVersion(this.position.version);
    // Not shared: each reader takes its refresh at its own time.
    const body: EventBody = { type: "refresh", reason: "fell_behind", chatId: this.#options.chatId };
    const refresh: ChatEvent = { ...body, cursor: encodeEventCursor(this.#cursor()) };
    const dropped = stream.replaceAll(refresh, () => this.#options.onDrained(this));
    this.#options.onOverflow(this, dropped + 1);
  }

  #cursor(): EventCursor {
    return { position: this.position, generation: this.generation, sequence: this.sequence };
  }
}

function describeItem(item: SavedEvent, chatId: string): SizedBody {
  switch (item.type) {
    case "message":
      return sized({ type: "message", message: item.message }, rowSize(item.message));
    case "queue":
      return sized({ type: "queue", queue: item.queue }, JSON.stringify(item.queue).length);
    case "status":
      return sized({ type: "status", status: item.status, chatId });
    case "error":
      return sized({ type: "error", failure: item.failure });
    case "action-required":
      return sized({ type: "action-required", calls: item.calls, deadline: item.deadline });
    case "retry":
      return sized({ type: "retry", retry: item.retry, generation: item.generation });
    case "title":
      return sized({ type: "title", title: item.title });
    case "diff-status":
      return sized({ type: "diff-status", chatId });
  }
}

function sized(body: EventBody, bytes = 0): SizedBody {
  return { body, bytes: SMALL_EVENT_BYTES + bytes };
}
