/**
 * The pieces of running generations in Redis: one stream per generation, bounded by its writer, gone some time after
 * the last piece. Whoever comes late, or runs on another replica, reads it whole.
 */
import { LRUCache } from "lru-cache";
import type { createClient } from "redis";
import type { Generation, LiveBatch, LivePiece } from "../../domain/chats/chat-events.js";
import type { Clock } from "../../lib/clock.js";
import type { LastPiece, LoggedPieces } from "./bus.js";
import { isOutput, KeptOutput, marked, type OutputPiece } from "./retained-output.js";
import { piecesKey } from "./redis-envelope.js";

/** JSON size after which a generation's log takes no more; subscribers are then told to wait for the message. */
const MAX_GENERATION_BYTES = 4 * 1024 * 1024;
/** Longer than any silence within a model call or a tool's output, so that a running generation keeps its log. */
const EXPIRY_MS = 30 * 60_000;
/** The expiry is renewed by a piece that comes this long after the last renewal, to spare a command for each. */
const RENEWAL_MS = 60_000;
/** Generations that this process writes at the same time, with room to spare. */
const MAX_WRITTEN = 10_000;

type Client = ReturnType<typeof createClient>;
/** A piece of a tool's output, an entry of its own so that it can be dropped; `id` is null when Redis did not take it. */
type Entry = { sequence: number; bytes: number; id: Promise<string | null> };
type Written = {
  bytes: number;
  isCut: boolean;
  isEnded: boolean;
  renewedAt: number;
  output: KeptOutput<Entry>;
};

const PIECES = "p";
const CUT = "cut";
/** The number of the last piece, in the entry behind all others. */
const END = "end";
/** `droppedUpTo` as it was when the entry was written. */
const DROPPED = "d";
/** On a piece of output: older pieces of the same call were dropped. */
const HAS_DROPPED = "m";

export class RedisPartLog {
  readonly #written = new LRUCache<string, Written>({ max: MAX_WRITTEN });

  constructor(
    private readonly client: Client,
    private readonly clock: Clock,
  ) {}

  /** Sends at once; the caller may send more in the same round trip. */
  async append({ chatId, generation, pieces }: LiveBatch): Promise<void> {
    const key = piecesKey(chatId, generation);
    const written = this.#written.get(key) ?? newLog();
    this.#written.set(key, written);
    if (written.isCut) return;
    const sent: Promise<unknown>[] = pieces
      .filter(isOutput)
      .map((piece) => this.#appendOutput(key, written, piece));
    const others = pieces.filter((piece) => !isOutput(piece));
    if (others.length > 0) sent.push(this.#appendOthers(key, written, others));
    const now = this.clock.now();
    if (now - written.renewedAt >= RENEWAL_MS) {
      written.renewedAt = now;
      sent.push(this.client.pExpire(key, EXPIRY_MS));
    }
    await Promise.all(sent);
  }

  async #appendOthers(key: string, written: Written, pieces: LivePiece[]): Promise<void> {
    const text = JSON.stringify(pieces);
    written.bytes += text.length;
    written.isCut = written.bytes > MAX_GENERATION_BYTES;
    const settled = pieces.flatMap(({ piece, partIndex }) =>
      piece.type === "tool-result" ? written.output.settle(partIndex) : [],
    );
    const entry: Record<string, string> = written.isCut ? { [CUT]: "1" } : { [PIECES]: text };
    await this.#add(key, { ...entry, ...droppedField(written.output) }, settled);
  }

  async #appendOutput(key: string, { output }: Written, piece: OutputPiece): Promise<void> {
    const text = JSON.stringify([piece]);
    const entry: Entry = { sequence: piece.sequence, bytes: text.length, id: Promise.resolve(null) };
    const dropped = output.add(piece.partIndex, entry);
    const fields: Record<string, string> = { [PIECES]: text, ...droppedField(output) };
    if (output.calls.get(piece.partIndex)?.hasDropped) fields[HAS_DROPPED] = "1";
    const adding = this.#add(key, fields, dropped);
    entry.id = adding.catch(() => null);
    await adding;
  }

  /** First the entry that tells of the drop, then the drop, so that no reader sees a gap that nobody explains. */
  async #add(key: string, fields: Record<string, string>, dropped: Entry[]): Promise<string> {
    const adding = this.client.xAdd(key, "*", fields);
    const [id] = await Promise.all([adding, dropped.length > 0 ? this.#remove(key, dropped) : null]);
    return id;
  }

  async #remove(key: string, dropped: Entry[]): Promise<void> {
    const ids = await Promise.all(dropped.map(({ id }) => id));
    const known = ids.filter((id) => id !== null);
    if (known.length > 0) await this.client.xDel(key, known);
  }

  /** Notes behind the last piece that it is the last; a log that is cut has no end. */
  async end(chatId: string, { generation, sequence }: LastPiece): Promise<void> {
    const key = piecesKey(chatId, generation);
    const written = this.#written.get(key);
    if (!written || written.isCut || written.isEnded) return;
    written.isEnded = true;
    await this.client.xAdd(key, "*", { [END]: String(sequence) });
  }

  /** Null when the log is gone or never was. */
  async read(chatId: string, generation: Generation): Promise<LoggedPieces | null> {
    const entries = (await this.client.xRange(piecesKey(chatId, generation), "-", "+")) ?? [];
    if (entries.length === 0) return null;
    const bySequence = new Map<number, LivePiece>();
    const cutCalls = new Set<number>();
    let droppedUpTo = 0;
    for (const { message } of entries) {
      droppedUpTo = Math.max(droppedUpTo, Number(message[DROPPED] ?? 0));
      const text = message[PIECES];
      if (text === undefined) continue;
      for (const piece of JSON.parse(text) as LivePiece[]) {
        bySequence.set(piece.sequence, piece);
        if (message[HAS_DROPPED] !== undefined) cutCalls.add(piece.partIndex);
      }
    }
    const pieces = [...bySequence.values()].sort((a, b) => a.sequence - b.sequence);
    const isCut = entries.some(({ message }) => message[CUT] !== undefined);
    const end = entries.at(-1)?.message[END];
    const known = { isCut, droppedUpTo, end: end === undefined ? null : Number(end) };
    return { pieces: markFirst(pieces, cutCalls), ...known };
  }
}

function newLog(): Written {
  return { bytes: 0, isCut: false, isEnded: false, renewedAt: -Infinity, output: new KeptOutput() };
}

function droppedField(output: KeptOutput<Entry>): Record<string, string> {
  return output.droppedUpTo > 0 ? { [DROPPED]: String(output.droppedUpTo) } : {};
}

function markFirst(pieces: LivePiece[], cutCalls: Set<number>): LivePiece[] {
  return pieces.map((piece) => {
    if (!isOutput(piece) || !cutCalls.delete(piece.partIndex)) return piece;
    return marked(piece);
  });
}
