/**
 * In-memory log of the deltas of running generations, which a late or returning subscriber reads before it goes live.
 * One log per chat, that of its newest generation; a new generation replaces it.
 */
import { LRUCache } from "lru-cache";
import type { Generation, LiveBatch, LiveDelta } from "../../domain/chats/chat-events.js";
import { compareGenerations } from "../../domain/chats/chat-events.js";
import type { LastDelta, LoggedDeltas } from "./bus.js";
import { isOutput, RetainedOutput, withOmissionMark, type OutputDelta } from "./retained-output.js";

/** JSON size at which a generation's log is cut; subscribers then wait for the finished message. */
const MAX_GENERATION_BYTES = 4 * 1024 * 1024;
/** Size of all logs together; the least recently written are evicted first. */
const MAX_LOG_BYTES = 64 * 1024 * 1024;
/** Granularity at which the cache learns a log's size: updating it costs more than appending most deltas. */
const ACCOUNTING_STEP_BYTES = 16 * 1024;

type Log = {
  generation: Generation;
  /** All deltas except tool output. */
  deltas: LiveDelta[];
  bytes: number;
  output: RetainedOutput<RetainedDelta>;
  outputBytes: number;
  /** Whether the log starts with sequence 1; otherwise `droppedUpTo` is unknown. */
  hasBeginning: boolean;
  /** The size that the cache assumes for this log; never less than the actual size. */
  accountedBytes: number;
  isCut: boolean;
};

type RetainedDelta = { sequence: number; bytes: number; delta: OutputDelta };

export class PartLog {
  readonly #logs: LRUCache<string, Log>;

  constructor(options: { maxGenerationBytes?: number } = {}) {
    this.#maxGenerationBytes = options.maxGenerationBytes ?? MAX_GENERATION_BYTES;
    this.#logs = new LRUCache({ maxSize: MAX_LOG_BYTES, sizeCalculation: (log) => log.accountedBytes });
  }

  readonly #maxGenerationBytes: number;

  append({ chatId, generation, deltas }: LiveBatch): void {
    const current = this.#logs.get(chatId);
    const order = current ? compareGenerations(generation, current.generation) : 1;
    if (order < 0) return;
    const log = current && order === 0 ? current : emptyLog(generation, deltas[0]?.sequence === 1);
    for (const delta of deltas) {
      if (isOutput(delta)) appendOutput(log, delta);
      else this.#append(log, delta);
    }
    const bytes = log.bytes + log.outputBytes;
    if (log === current && bytes <= log.accountedBytes) return;
    log.accountedBytes = bytes + ACCOUNTING_STEP_BYTES;
    // The cache recalculates the size only for a different object.
    this.#logs.set(chatId, { ...log });
  }

  read(chatId: string, generation: Generation): LoggedDeltas | null {
    const log = this.#logs.get(chatId);
    if (!log || compareGenerations(generation, log.generation) !== 0) return null;
    const { isCut, hasBeginning, output } = log;
    return { deltas: allDeltas(log), isCut, droppedUpTo: hasBeginning ? output.droppedUpTo : 0 };
  }

  /** The last delta of the chat's newest generation; null unless this log has all of it. */
  last(chatId: string): LastDelta | null {
    const log = this.#logs.get(chatId);
    if (!log || log.isCut || !log.hasBeginning) return null;
    const newest = [...log.output.calls.values()].map(({ items }) => items.at(-1)?.sequence ?? 0);
    return { generation: log.generation, sequence: Math.max(log.deltas.at(-1)?.sequence ?? 0, ...newest) };
  }

  #append(log: Log, delta: LiveDelta): void {
    if (delta.delta.type === "tool-result") subtractBytes(log, log.output.settle(delta.partIndex));
    const bytes = deltaBytes(delta);
    if (log.isCut || log.bytes + bytes > this.#maxGenerationBytes) log.isCut = true;
    else {
      log.deltas.push(delta);
      log.bytes += bytes;
    }
  }
}

function emptyLog(generation: Generation, hasBeginning: boolean): Log {
  const output = new RetainedOutput<RetainedDelta>();
  return {
    ...{ generation, deltas: [], bytes: 0, output, outputBytes: 0 },
    ...{ hasBeginning, accountedBytes: 0, isCut: false },
  };
}

function appendOutput(log: Log, delta: OutputDelta): void {
  const bytes = deltaBytes(delta);
  log.outputBytes += bytes;
  subtractBytes(log, log.output.add(delta.partIndex, { sequence: delta.sequence, bytes, delta }));
}

function subtractBytes(log: Log, dropped: RetainedDelta[]): void {
  for (const { bytes } of dropped) log.outputBytes -= bytes;
}

function allDeltas({ deltas, output }: Log): LiveDelta[] {
  if (output.calls.size === 0) return [...deltas];
  const retained = [...output.calls.values()].flatMap(({ items, hasDropped }) =>
    items.map(({ delta }, index) => (index === 0 && hasDropped ? withOmissionMark(delta) : delta)),
  );
  return [...deltas, ...retained].sort((a, b) => a.sequence - b.sequence);
}

/** Approximate memory of a delta: exact enough for a bound, and cheap for the common small one. */
function deltaBytes({ delta }: LiveDelta): number {
  const overhead = 128;
  return overhead + ("append" in delta ? delta.append.length : JSON.stringify(delta).length);
}
