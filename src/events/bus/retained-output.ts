/**
 * Retention of tool output in a generation's log. The output only previews results that will follow, and a tool may
 * print more than a log can store: the newest deltas of each call are retained, and none once its result is there. Pure.
 */
import type { LiveDelta, MessageDelta } from "../../domain/chats/chat-events.js";

/** Per call; enough to see what a command is doing now. Its result will include the beginning too. */
export const RETAINED_OUTPUT_BYTES = 64 * 1024;
/** Per call; spares a late subscriber thousands of tiny deltas. */
const RETAINED_OUTPUT_DELTAS = 200;

/** Put before the oldest retained output of a call whose earlier output was dropped. */
const OMISSION_MARK = "... [earlier output left out] ...\n";

export type OutputDelta = LiveDelta & { delta: MessageDelta & { type: "tool-output-delta" } };
type Measured = { sequence: number; bytes: number };
type Call<Item> = { items: Item[]; bytes: number; hasDropped: boolean };

export function isOutput(delta: LiveDelta): delta is OutputDelta {
  return delta.delta.type === "tool-output-delta";
}

/** The delta with the mark before its text; for the oldest retained delta of a call whose earlier output was dropped. */
export function withOmissionMark(delta: OutputDelta): OutputDelta {
  return { ...delta, delta: { ...delta.delta, append: OMISSION_MARK + delta.delta.append } };
}

/** The retained output of one generation; `Item` is how the owner identifies a stored delta. */
export class RetainedOutput<Item extends Measured> {
  readonly #calls = new Map<number, Call<Item>>();
  #droppedUpTo = 0;

  /** The highest sequence number of a dropped delta; 0 = none was dropped. */
  get droppedUpTo(): number {
    return this.#droppedUpTo;
  }

  /** The retained items of each call, oldest first, by part index. */
  get calls(): ReadonlyMap<number, Readonly<Call<Item>>> {
    return this.#calls;
  }

  /** Adds the next item of a call, and returns those that must be dropped for it. */
  add(partIndex: number, item: Item): Item[] {
    const call = this.#calls.get(partIndex) ?? { items: [], bytes: 0, hasDropped: false };
    this.#calls.set(partIndex, call);
    call.items.push(item);
    call.bytes += item.bytes;
    const dropped: Item[] = [];
    while (
      call.items.length > RETAINED_OUTPUT_DELTAS ||
      (call.bytes > RETAINED_OUTPUT_BYTES && call.items.length > 1)
    ) {
      const oldest = call.items.shift();
      if (!oldest) break;
      call.bytes -= oldest.bytes;
      call.hasDropped = true;
      dropped.push(oldest);
    }
    return this.#drop(dropped);
  }

  /** Drops all output of a call whose result is there, and returns it. */
  settle(partIndex: number): Item[] {
    const items = this.#calls.get(partIndex)?.items ?? [];
    this.#calls.delete(partIndex);
    return this.#drop(items);
  }

  #drop(items: Item[]): Item[] {
    for (const { sequence } of items) this.#droppedUpTo = Math.max(this.#droppedUpTo, sequence);
    return items;
  }
}
