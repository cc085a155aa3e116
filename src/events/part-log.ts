/**
 * The pieces of running generations, in memory: what a late or returning subscriber reads before it goes live.
 * One log per chat, that of its newest generation; a new generation takes the place of the old one.
 */
import { LRUCache } from "lru-cache";
import type { Generation, LiveBatch, LivePiece } from "../domain/chat-events.js";
import { compareGenerations } from "../domain/chat-events.js";
import type { LoggedPieces } from "./bus.js";

/** JSON size after which a generation's log takes no more; subscribers are then told to wait for the message. */
const MAX_GENERATION_BYTES = 4 * 1024 * 1024;
/** All logs together; the chats quiet for longest lose theirs first. */
const MAX_LOG_BYTES = 64 * 1024 * 1024;
/** A log's size is told to the cache in steps of this, since telling it costs more than most pieces. */
const ACCOUNTING_STEP_BYTES = 16 * 1024;

type Log = {
  generation: Generation;
  pieces: LivePiece[];
  bytes: number;
  /** What the cache counts this log as; at least what it holds. */
  accountedBytes: number;
  isCut: boolean;
};

export class PartLog {
  readonly #logs: LRUCache<string, Log>;

  constructor(options: { maxGenerationBytes?: number } = {}) {
    this.#maxGenerationBytes = options.maxGenerationBytes ?? MAX_GENERATION_BYTES;
    this.#logs = new LRUCache({ maxSize: MAX_LOG_BYTES, sizeCalculation: (log) => log.accountedBytes });
  }

  readonly #maxGenerationBytes: number;

  append({ chatId, generation, pieces }: LiveBatch): void {
    const current = this.#logs.get(chatId);
    const order = current ? compareGenerations(generation, current.generation) : 1;
    if (order < 0) return;
    const log = current && order === 0 ? current : emptyLog(generation);
    for (const piece of pieces) {
      const bytes = pieceBytes(piece);
      if (log.isCut || log.bytes + bytes > this.#maxGenerationBytes) log.isCut = true;
      else {
        log.pieces.push(piece);
        log.bytes += bytes;
      }
    }
    if (log === current && log.bytes <= log.accountedBytes) return;
    log.accountedBytes = log.bytes + ACCOUNTING_STEP_BYTES;
    // The cache takes a changed size only from another object.
    this.#logs.set(chatId, { ...log });
  }

  read(chatId: string, generation: Generation): LoggedPieces | null {
    const log = this.#logs.get(chatId);
    if (!log || compareGenerations(generation, log.generation) !== 0) return null;
    return { pieces: [...log.pieces], isCut: log.isCut };
  }
}

function emptyLog(generation: Generation): Log {
  return { generation, pieces: [], bytes: 0, accountedBytes: 0, isCut: false };
}

/** About the memory a piece holds; exact enough for a bound, and cheap for the common small delta. */
function pieceBytes({ piece }: LivePiece): number {
  const overhead = 128;
  return overhead + ("append" in piece ? piece.append.length : JSON.stringify(piece).length);
}
