/**
 * The pieces of running generations in Redis: one stream per generation, bounded by its writer, gone some time after
 * the last piece. Whoever comes late, or runs on another replica, reads it whole.
 */
import { LRUCache } from "lru-cache";
import type { createClient } from "redis";
import type { Generation, LiveBatch, LivePiece } from "../domain/chat-events.js";
import type { Clock } from "../lib/clock.js";
import type { LoggedPieces } from "./bus.js";
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
type Written = { bytes: number; isCut: boolean; renewedAt: number };

const PIECES = "p";
const CUT = "cut";

export class RedisPartLog {
  readonly #written = new LRUCache<string, Written>({ max: MAX_WRITTEN });

  constructor(
    private readonly client: Client,
    private readonly clock: Clock,
  ) {}

  /** Sends at once; the caller may send more in the same round trip. */
  async append({ chatId, generation, pieces }: LiveBatch): Promise<void> {
    const key = piecesKey(chatId, generation);
    const written = this.#written.get(key) ?? { bytes: 0, isCut: false, renewedAt: -Infinity };
    this.#written.set(key, written);
    if (written.isCut) return;
    const text = JSON.stringify(pieces);
    written.bytes += text.length;
    written.isCut = written.bytes > MAX_GENERATION_BYTES;
    const entry: Record<string, string> = written.isCut ? { [CUT]: "1" } : { [PIECES]: text };
    const sent: Promise<unknown>[] = [this.client.xAdd(key, "*", entry)];
    const now = this.clock.now();
    if (now - written.renewedAt >= RENEWAL_MS) {
      written.renewedAt = now;
      sent.push(this.client.pExpire(key, EXPIRY_MS));
    }
    await Promise.all(sent);
  }

  /** Null when the log is gone or never was. */
  async read(chatId: string, generation: Generation): Promise<LoggedPieces | null> {
    const entries = (await this.client.xRange(piecesKey(chatId, generation), "-", "+")) ?? [];
    if (entries.length === 0) return null;
    const bySequence = new Map<number, LivePiece>();
    for (const { message } of entries) {
      const text = message[PIECES];
      if (text === undefined) continue;
      for (const piece of JSON.parse(text) as LivePiece[]) bySequence.set(piece.sequence, piece);
    }
    const pieces = [...bySequence.values()].sort((a, b) => a.sequence - b.sequence);
    return { pieces, isCut: entries.some(({ message }) => message[CUT] !== undefined) };
  }
}
