/**
 * One subscriber of one chat: where it stands, and how saved items and pieces become its events. Everything it
 * is told moves its place, so each event's cursor is where a returning client goes on.
 */
import type { Generation, LivePiece, Position, SavedItem } from "../domain/chat-events.js";
import { compareGenerations, comparePositions, endOf, generationId } from "../domain/chat-events.js";
import type { ChatEvent, PreviewResetReason, RefreshReason } from "../domain/chat-stream.js";
import { encodeEventCursor, type EventCursor } from "../domain/cursors.js";
import { isSameGeneration } from "./chat-view.js";
import type { EventStream } from "./event-stream.js";

/** A saved row's event is counted by its text; everything else is small and counts as this. */
const SMALL_EVENT_BYTES = 256;

export type ReaderOptions = {
  chatId: string;
  stream: EventStream<ChatEvent>;
  after: EventCursor | null;
  /** The stream was full: called with the number of events thrown away. */
  fellBehind(reader: ChatReader, dropped: number): void;
  /** The reader has taken its refresh and may be told things again. */
  caughtBreath(reader: ChatReader): void;
};

type EventBody<E = ChatEvent> = E extends ChatEvent ? Omit<E, "cursor"> : never;

export class ChatReader {
  /** False until it has had its snapshot or catch-up. */
  isLive = false;
  /** Its stream was full: it is told nothing until it has taken the refresh and joined again. */
  isBehind = false;
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
    switch (item.type) {
      case "message":
        // The preview is over with this event, so its cursor must not speak of it any more.
        if (this.generation && item.message.generation === generationId(this.generation)) this.endPreview();
        return this.#push(
          { type: "message", message: item.message },
          JSON.stringify(item.message.parts).length,
        );
      case "queue":
        return this.#push({ type: "queue", queue: item.queue }, JSON.stringify(item.queue).length);
      case "status":
        return this.#push({ type: "status", status: item.status, chatId: this.#options.chatId });
      case "error":
        return this.#push({ type: "error", failure: item.failure });
      case "action-required":
        return this.#push({ type: "action-required", calls: item.calls, deadline: item.deadline });
      case "retry":
        return this.#push({ type: "retry", retry: item.retry, generation: item.generation });
      case "title":
        return this.#push({ type: "title", title: item.title });
    }
  }

  /** Shows a piece unless the reader has seen it; the caller has made sure that none before it is missing. */
  show(generation: Generation, piece: LivePiece): void {
    const isSame = isSameGeneration(this.generation, generation);
    if (this.isBehind || (isSame && piece.sequence <= this.sequence)) return;
    if (this.#void && compareGenerations(generation, this.#void) <= 0) return;
    this.generation = generation;
    this.sequence = piece.sequence;
    const bytes = "append" in piece.piece ? piece.piece.append.length : JSON.stringify(piece.piece).length;
    this.#push({ type: "part", generation, ...piece }, bytes);
  }

  /** The message that its preview became has been told: the preview is over. */
  endPreview(): void {
    this.generation = null;
    this.sequence = 0;
  }

  /** What was shown of the generation is void, and nothing more of it will be shown: its message follows, if any. */
  resetPreview(generation: Generation, reason: PreviewResetReason): void {
    this.endPreview();
    this.#void = generation;
    this.#push({ type: "preview-reset", generation, reason });
  }

  refresh(reason: RefreshReason, version: number): void {
    this.position = endOf(version);
    this.endPreview();
    this.#push({ type: "refresh", reason, chatId: this.#options.chatId });
  }

  caughtUp(version: number, replayedEvents: number): void {
    this.position = endOf(version);
    this.#push({ type: "caught-up", replayedEvents });
    this.isLive = !this.isBehind;
  }

  /** Nothing of this version is left to tell. */
  settle(version: number): void {
    if (!this.isBehind) this.position = endOf(version);
  }

  end(): void {
    this.#options.stream.end();
  }

  #push(body: EventBody, bytes = 0): void {
    if (this.isBehind) return;
    const { stream } = this.#options;
    if (stream.push(this.#withCursor(body), SMALL_EVENT_BYTES + bytes)) return;
    this.isLive = false;
    this.isBehind = true;
    this.endPreview();
    this.position = endOf(this.position.version);
    const refresh = this.#withCursor({
      type: "refresh",
      reason: "fell_behind",
      chatId: this.#options.chatId,
    });
    const dropped = stream.replaceAll(refresh, () => this.#options.caughtBreath(this));
    this.#options.fellBehind(this, dropped + 1);
  }

  #withCursor(body: EventBody): ChatEvent {
    const cursor = encodeEventCursor({
      position: this.position,
      generation: this.generation,
      sequence: this.sequence,
    });
    return { ...body, cursor };
  }
}
