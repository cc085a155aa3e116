/**
 * What a generation's log keeps of the output of running tools. It is a preview of results that will come, and a tool
 * may say more than a log can hold: of each call the newest pieces stay, and none once its result is there. Pure.
 */
import type { LivePiece, Piece } from "../../domain/chats/chat-events.js";

/** Of each call: enough to see what a command is doing now. Its result has its beginning too. */
export const KEPT_OUTPUT_BYTES = 64 * 1024;
/** Of each call that says little at a time, so that a late comer need not take thousands. */
const KEPT_OUTPUT_PIECES = 200;

/** Put before the oldest output of a call that is kept, where older was dropped. */
const DROPPED_MARK = "... [earlier output left out] ...\n";

export type OutputPiece = LivePiece & { piece: Piece & { type: "tool-output-delta" } };
type Kept = { sequence: number; bytes: number };
type Call<Item> = { items: Item[]; bytes: number; hasDropped: boolean };

export function isOutput(piece: LivePiece): piece is OutputPiece {
  return piece.piece.type === "tool-output-delta";
}

/** With the mark, when it is the oldest that is kept of a call that said more. */
export function marked(piece: OutputPiece): OutputPiece {
  return { ...piece, piece: { ...piece.piece, append: DROPPED_MARK + piece.piece.append } };
}

/** Which output of one generation is kept; `Item` is how its owner finds a piece again. */
export class KeptOutput<Item extends Kept> {
  readonly #calls = new Map<number, Call<Item>>();
  #droppedUpTo = 0;

  /** Every piece that was dropped has this number or a lower one; 0 = none was. */
  get droppedUpTo(): number {
    return this.#droppedUpTo;
  }

  /** Each call's pieces, oldest first. */
  get calls(): ReadonlyMap<number, Readonly<Call<Item>>> {
    return this.#calls;
  }

  /** Takes the next piece of a call, and returns those that must go for it. */
  add(partIndex: number, item: Item): Item[] {
    const call = this.#calls.get(partIndex) ?? { items: [], bytes: 0, hasDropped: false };
    this.#calls.set(partIndex, call);
    call.items.push(item);
    call.bytes += item.bytes;
    const dropped: Item[] = [];
    while (
      call.items.length > KEPT_OUTPUT_PIECES ||
      (call.bytes > KEPT_OUTPUT_BYTES && call.items.length > 1)
    ) {
      const oldest = call.items.shift();
      if (!oldest) break;
      call.bytes -= oldest.bytes;
      call.hasDropped = true;
      dropped.push(oldest);
    }
    return this.#drop(dropped);
  }

  /** The call's result is there: all of its output goes. */
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
