/**
 * The pieces of running generations, in memory: what a late or returning subscriber reads before it goes live.
 * One log per chat, that of its newest generation; a new generation takes the place of the old one.
 */
import { LRUCache } from "lru-cache";
import type { Generation, LiveBatch, LivePiece } from "../../domain/chats/chat-events.js";
import { compareGenerations } from "../../domain/chats/chat-events.js";
import type { LastPiece, LoggedPieces } from "./bus.js";
import { isOutput, KeptOutput, marked, type OutputPiece } from "./retained-output.js";

/** JSON size after which a generation's log takes no more; subscribers are then told to wait for the message. */
const MAX_GENERATION_BYTES = 4 * 1024 * 1024;
/** All logs together; the chats quiet for longest lose theirs first. */
const MAX_LOG_BYTES = 64 * 1024 * 1024;
/** A log's size is told to the cache in steps of this, since telling it costs more than most pieces. */
const ACCOUNTING_STEP_BYTES = 16 * 1024;

type Log = {
  generation: Generation;
  /** All but the output of tools. */
  pieces: LivePiece[];
  bytes: number;
  output: KeptOutput<KeptPiece>;
  outputBytes: number;
  /** A log that lost its beginning cannot say what was dropped. */
  hasBeginning: boolean;
  /** What the cache counts this log as; at least what it holds. */
  accountedBytes: number;
  isCut: boolean;
};

type KeptPiece = { sequence: number; bytes: number; piece: OutputPiece };

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
    const log = current && order === 0 ? current : emptyLog(generation, pieces[0]?.sequence === 1);
    for (const piece of pieces) {
      if (isOutput(piece)) keepOutput(log, piece);
      else this.#keep(log, piece);
    }
    const bytes = log.bytes + log.outputBytes;
    if (log === current && bytes <= log.accountedBytes) return;
    log.accountedBytes = bytes + ACCOUNTING_STEP_BYTES;
    // The cache takes a changed size only from another object.
    this.#logs.set(chatId, { ...log });
  }

  read(chatId: string, generation: Generation): LoggedPieces | null {
    const log = this.#logs.get(chatId);
    if (!log || compareGenerations(generation, log.generation) !== 0) return null;
    const { isCut, hasBeginning, output } = log;
    return { pieces: allPieces(log), isCut, droppedUpTo: hasBeginning ? output.droppedUpTo : 0 };
  }

  /** The last piece of the chat's newest generation; null when that was not written here from its beginning on. */
  last(chatId: string): LastPiece | null {
    const log = this.#logs.get(chatId);
    if (!log || log.isCut || !log.hasBeginning) return null;
    const newest = [...log.output.calls.values()].map(({ items }) => items.at(-1)?.sequence ?? 0);
    return { generation: log.generation, sequence: Math.max(log.pieces.at(-1)?.sequence ?? 0, ...newest) };
  }

  #keep(log: Log, piece: LivePiece): void {
    if (piece.piece.type === "tool-result") forget(log, log.output.settle(piece.partIndex));
    const bytes = pieceBytes(piece);
    if (log.isCut || log.bytes + bytes > this.#maxGenerationBytes) log.isCut = true;
    else {
      log.pieces.push(piece);
      log.bytes += bytes;
    }
  }
}

function emptyLog(generation: Generation, hasBeginning: boolean): Log {
  const output = new KeptOutput<KeptPiece>();
  return {
    ...{ generation, pieces: [], bytes: 0, output, outputBytes: 0 },
    ...{ hasBeginning, accountedBytes: 0, isCut: false },
  };
}

function keepOutput(log: Log, piece: OutputPiece): void {
  const bytes = pieceBytes(piece);
  log.outputBytes += bytes;
  forget(log, log.output.add(piece.partIndex, { sequence: piece.sequence, bytes, piece }));
}

function forget(log: Log, dropped: KeptPiece[]): void {
  for (const { bytes } of dropped) log.outputBytes -= bytes;
}

function allPieces({ pieces, output }: Log): LivePiece[] {
  if (output.calls.size === 0) return [...pieces];
  const shown = [...output.calls.values()].flatMap(({ items, hasDropped }) =>
    items.map(({ piece }, index) => (index === 0 && hasDropped ? marked(piece) : piece)),
  );
  return [...pieces, ...shown].sort((a, b) => a.sequence - b.sequence);
}

/** About the memory a piece holds; exact enough for a bound, and cheap for the common small delta. */
function pieceBytes({ piece }: LivePiece): number {
  const overhead = 128;
  return overhead + ("append" in piece ? piece.append.length : JSON.stringify(piece).length);
}
