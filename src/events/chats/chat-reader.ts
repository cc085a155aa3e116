/**
 * One subscriber of one chat: where it stands, and how saved items and pieces become its events. Everything it
 * is told moves its place, so each event's cursor is where a returning client goes on.
 */
import type { Generation, LivePiece, Position, SavedItem } from "../../domain/chats/chat-events.js";
import { compareGenerations, comparePositions, endOf, generationId } from "../../domain/chats/chat-events.js";
import type { ChatEvent, PreviewResetReason, RefreshReason } from "../../domain/chats/chat-stream.js";
import { encodeEventCursor, type EventCursor } from "../../domain/common/cursors.js";
import { isSameGeneration } from "./chat-view.js";
import type { EventStream } from "../common/event-stream.js";
import { rowSize } from "./row-size.js";
import type { EventBody, SharedEvents, SizedBody } from "./shared-events.js";

/** A saved row's event is counted by its text; everything else is small and counts as this. */
const SMALL_EVENT_BYTES = 256;

/** A piece, as one object for all who are shown it now. */
export type ShownPiece = { generation: Generation; piece: LivePiece };
/** The end of a preview without its message, as one object for all who are told of it now. */
export type PreviewReset = { generation: Generation; reason: PreviewResetReason };
/** A call to read the chat anew, as one object for all who are called now. */
export type Refresh = { reason: RefreshReason; version: number };

export type ReaderOptions = {
  chatId: string;
  /** What this chat's other readers are told. */
  shared: SharedEvents;
  stream: EventStream<ChatEvent>;
  after: EventCursor | null;
  /** The stream was full: called with the number of events thrown away. */
  fellBehind(reader: ChatReader, dropped: number): void;
  /** The reader has taken its refresh and may be told things again. */
  caughtBreath(reader: ChatReader): void;
};

export class ChatReader {
  /** False until it has had its snapshot or catch-up. */
  isLive = false;
  /** Its stream was full: it is told nothing until it has taken the refresh and joined again. */
  isBehind = false;
  /** It was shown as much of a preview as fits, and will be shown the rest once it has taken that. */
  isPaused = false;
  /** Events that it was told before it was live. */
  replayedEvents = 0;
  position: Position;
  /** The generation whose pieces it has been shown. */
  generation: Generation | null;
  sequence: number;
  /** The newest generation whose preview was called void; nothing more is shown of it or of older ones. */
  #void: Generation | null = null;
  readonly after: EventCursor | null;
  readonly #options: ReaderOptions;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.after = options.after;
    this.position = options.after?.position ?? endOf(0);
    this.generation = options.after?.generation ?? null;
    this.sequence = options.after?.sequence ?? 0;
  }

  /** Tells one saved item unless the reader has had it. */
  tell(item: SavedItem): void {
    if (this.isBehind || comparePositions(item.position, this.position) <= 0) return;
    this.position = item.position;
    // The preview is over with its message, so that event's cursor must not speak of it any more.
    const preview = this.generation && generationId(this.generation);
    if (item.type === "message" && preview !== null && item.message.generation === preview) this.endPreview();
    this.#push(item, () => describeItem(item, this.#options.chatId));
  }

  /** Shows a piece unless the reader has seen it; the caller has made sure that none before it is missing. */
  show(shown: ShownPiece): void {
    const { generation, piece } = shown;
    const isSame = isSameGeneration(this.generation, generation);
    if (this.isBehind || (isSame && piece.sequence <= this.sequence)) return;
    if (this.#void && compareGenerations(generation, this.#void) <= 0) return;
    this.generation = generation;
    this.sequence = piece.sequence;
    this.#push(shown, () => {
      const bytes = "append" in piece.piece ? piece.piece.append.length : JSON.stringify(piece.piece).length;
      return sized({ type: "part", generation, ...piece }, bytes);
    });
  }

  /** The message that its preview became has been told: the preview is over. */
  endPreview(): void {
    this.generation = null;
    this.sequence = 0;
  }

  /** What was shown of the generation is void, and nothing more of it will be shown: its message follows, if any. */
  resetPreview(reset: PreviewReset): void {
    this.endPreview();
    this.#void = reset.generation;
    this.#push(reset, () => sized({ type: "preview-reset", ...reset }));
  }

  refresh(refresh: Refresh): void {
    const { reason, version } = refresh;
    this.position = endOf(version);
    this.endPreview();
    this.#push(refresh, () => sized({ type: "refresh", reason, chatId: this.#options.chatId }));
  }

  /** Whether it should be told no more of what can wait. */
  get isCrowded(): boolean {
    return this.#options.stream.isHalfFull;
  }

  /** It joins again when it has taken what waits for it. */
  pause(): void {
    this.isPaused = true;
    this.#options.stream.whenDrained(() => this.#options.caughtBreath(this));
  }

  caughtUp(version: number): void {
    const { replayedEvents } = this;
    this.position = endOf(version);
    this.#push({}, () => sized({ type: "caught-up", replayedEvents }));
    this.isLive = !this.isBehind;
  }

  /** Nothing of this version is left to tell. */
  settle(version: number): void {
    if (!this.isBehind) this.position = endOf(version);
  }

  end(): void {
    this.#options.stream.end();
  }

  /** `news` is the same object for all readers that are told the same now. */
  #push(news: object, describe: () => SizedBody): void {
    if (this.isBehind) return;
    const { stream, shared } = this.#options;
    const { event, bytes } = shared.eventOf(news, this.#place(), describe);
    if (stream.push(event, bytes)) return;
    this.isLive = false;
    this.isBehind = true;
    this.endPreview();
    this.position = endOf(this.position.version);
    // Read for this reader alone, when it has found the time.
    const body: EventBody = { type: "refresh", reason: "fell_behind", chatId: this.#options.chatId };
    const refresh: ChatEvent = { ...body, cursor: encodeEventCursor(this.#place()) };
    const dropped = stream.replaceAll(refresh, () => this.#options.caughtBreath(this));
    this.#options.fellBehind(this, dropped + 1);
  }

  #place(): EventCursor {
    return { position: this.position, generation: this.generation, sequence: this.sequence };
  }
}

function describeItem(item: SavedItem, chatId: string): SizedBody {
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
