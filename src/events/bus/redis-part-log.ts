/**
 * Redis log of the deltas of running generations: one stream per generation, bounded by its writer, expiring some time
 * after the last delta. Late subscribers and other replicas read it from the beginning.
 */
import { LRUCache } from "lru-cache";
import type { createClient } from "redis";
import type { Generation, LiveBatch, LiveDelta } from "../../domain/chats/chat-events.js";
import type { Clock } from "../../lib/clock.js";
import type { LastDelta, LoggedDeltas } from "./bus.js";
import { isOutput, RetainedOutput, withOmissionMark, type OutputDelta } from "./retained-output.js";
import { deltasKey } from "./redis-envelope.js";
import { fromWireDelta, toWireDelta, type WireDelta } from "./wire-format.js";

/** JSON size at which a generation's log is cut; subscribers then wait for the finished message. */
const MAX_GENERATION_BYTES = 4 * 1024 * 1024;
/** Longer than any silence within a model call or a tool's output, so that the log of a running generation does not expire. */
const EXPIRY_MS = 30 * 60_000;
/** Shortest time between two renewals of the expiry, to spare a command per delta. */
const RENEWAL_MS = 60_000;
/** Generations that this process writes at the same time, with ample headroom. */
const MAX_WRITTEN_GENERATIONS = 10_000;

type Client = ReturnType<typeof createClient>;
/** One delta of tool output, in an entry of its own so that it can be dropped; `id` is null when Redis rejected it. */
type Entry = { sequence: number; bytes: number; id: Promise<string | null> };
type WriteState = {
  bytes: number;
  isCut: boolean;
  isEnded: boolean;
  renewedAt: number;
  output: RetainedOutput<Entry>;
};

const DELTAS = "p";
const CUT = "cut";
/** The sequence number of the last delta, in the final entry. */
const END = "end";
/** `droppedUpTo` as it was when the entry was state. */
const DROPPED = "d";
/** On tool output: older output of the same call was dropped. */
const HAS_DROPPED = "m";

export class RedisPartLog {
  readonly #states = new LRUCache<string, WriteState>({ max: MAX_WRITTEN_GENERATIONS });

  constructor(
    private readonly client: Client,
    private readonly clock: Clock,
  ) {}

  /** Sends synchronously, so that the caller can send more in the same round trip. */
  async append({ chatId, generation, deltas }: LiveBatch): Promise<void> {
    const key = deltasKey(chatId, generation);
    const state = this.#states.get(key) ?? newLog();
    this.#states.set(key, state);
    if (state.isCut) return;
    const sent: Promise<unknown>[] = deltas
      .filter(isOutput)
      .map((delta) => this.#appendOutput(key, state, delta));
    const others = deltas.filter((delta) => !isOutput(delta));
    if (others.length > 0) sent.push(this.#appendOthers(key, state, others));
    const now = this.clock.now();
    if (now - state.renewedAt >= RENEWAL_MS) {
      state.renewedAt = now;
      sent.push(this.client.pExpire(key, EXPIRY_MS));
    }
    await Promise.all(sent);
  }

  async #appendOthers(key: string, state: WriteState, deltas: LiveDelta[]): Promise<void> {
    const text = JSON.stringify(deltas.map(toWireDelta));
    state.bytes += text.length;
    state.isCut = state.bytes > MAX_GENERATION_BYTES;
    const settled = deltas.flatMap(({ delta, partIndex }) =>
      delta.type === "tool-result" ? state.output.settle(partIndex) : [],
    );
    const entry: Record<string, string> = state.isCut ? { [CUT]: "1" } : { [DELTAS]: text };
    await this.#add(key, { ...entry, ...droppedField(state.output) }, settled);
  }

  async #appendOutput(key: string, { output }: WriteState, delta: OutputDelta): Promise<void> {
    const text = JSON.stringify([toWireDelta(delta)]);
    const entry: Entry = { sequence: delta.sequence, bytes: text.length, id: Promise.resolve(null) };
    const dropped = output.add(delta.partIndex, entry);
    const fields: Record<string, string> = { [DELTAS]: text, ...droppedField(output) };
    if (output.calls.get(delta.partIndex)?.hasDropped) fields[HAS_DROPPED] = "1";
    const adding = this.#add(key, fields, dropped);
    entry.id = adding.catch(() => null);
    await adding;
  }

  /** Adds the entry that records the drop before it deletes anything, so that no reader sees an unexplained gap. */
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

  /** Records that `sequence` was the last delta; a log that was cut has no end. */
  async end(chatId: string, { generation, sequence }: LastDelta): Promise<void> {
    const key = deltasKey(chatId, generation);
    const state = this.#states.get(key);
    if (!state || state.isCut || state.isEnded) return;
    state.isEnded = true;
    await this.client.xAdd(key, "*", { [END]: String(sequence) });
  }

  /** Null when the log has expired or never existed. */
  async read(chatId: string, generation: Generation): Promise<LoggedDeltas | null> {
    const entries = (await this.client.xRange(deltasKey(chatId, generation), "-", "+")) ?? [];
    if (entries.length === 0) return null;
    const bySequence = new Map<number, LiveDelta>();
    const cutCalls = new Set<number>();
    let droppedUpTo = 0;
    for (const { message } of entries) {
      droppedUpTo = Math.max(droppedUpTo, Number(message[DROPPED] ?? 0));
      const text = message[DELTAS];
      if (text === undefined) continue;
      for (const delta of (JSON.parse(text) as WireDelta[]).map(fromWireDelta)) {
        bySequence.set(delta.sequence, delta);
        if (message[HAS_DROPPED] !== undefined) cutCalls.add(delta.partIndex);
      }
    }
    const deltas = [...bySequence.values()].sort((a, b) => a.sequence - b.sequence);
    const isCut = entries.some(({ message }) => message[CUT] !== undefined);
    const end = entries.at(-1)?.message[END];
    const known = { isCut, droppedUpTo, end: end === undefined ? null : Number(end) };
    return { deltas: markOmissions(deltas, cutCalls), ...known };
  }
}

function newLog(): WriteState {
  return { bytes: 0, isCut: false, isEnded: false, renewedAt: -Infinity, output: new RetainedOutput() };
}

function droppedField(output: RetainedOutput<Entry>): Record<string, string> {
  return output.droppedUpTo > 0 ? { [DROPPED]: String(output.droppedUpTo) } : {};
}

function markOmissions(deltas: LiveDelta[], cutCalls: Set<number>): LiveDelta[] {
  return deltas.map((delta) => {
    if (!isOutput(delta) || !cutCalls.delete(delta.partIndex)) return delta;
    return withOmissionMark(delta);
  });
}
