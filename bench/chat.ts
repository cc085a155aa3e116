/** The bench's view of a chat, independent of the program that runs it, and of a turn observed from outside. */
import { readStamps } from "./stamps.js";

export type BenchChat = {
  /** Sends a message and waits until the turn is over. Rejects when it fails or takes too long. */
  say(message: Message): Promise<Turn>;
  close(): Promise<void>;
};

/**
 * What the model is to answer with: so many deltas, with a pause between two of them; before that it calls one tool
 * in each of so many steps.
 */
export type Message = { deltas: number; delayMs: number; toolSteps?: number };

/** One turn as its first subscriber saw it. */
export type Turn = {
  /** From each delta's sending by the model to its arrival at the subscriber's socket, in microseconds. */
  delaysMicros: number[];
  /** Frames on the socket that carried deltas, and all frames. */
  deltaFrames: number;
  frames: number;
};

/** Far above any turn of the bench; a turn that takes longer is lost. */
export const TURN_LIMIT_MS = 60_000;

/** The words that order such an answer; the demo model's markers. */
export function textOf({ deltas, delayMs, toolSteps = 0 }: Message): string {
  return `Say ${deltas} words, please. [[demo: deltas=${deltas} delay=${delayMs} steps=${toolSteps}]]`;
}

/** Watches one turn after the other on one socket. */
export class TurnWatch {
  #turn: Turn = { delaysMicros: [], deltaFrames: 0, frames: 0 };
  #ended: { resolve: () => void; reject: (error: Error) => void } | null = null;

  /** Resolves at `end`, rejects at `fail`. Begin before the message is sent. */
  async begin(): Promise<Turn> {
    this.#turn = { delaysMicros: [], deltaFrames: 0, frames: 0 };
    await new Promise<void>((resolve, reject) => {
      this.#ended = { resolve, reject };
    });
    return this.#turn;
  }

  /** A frame that arrived at this time; `append` is null for a frame without deltas. */
  frame(arrivedMicros: number, append: string | null): void {
    this.#turn.frames += 1;
    if (append === null) return;
    this.#turn.deltaFrames += 1;
    for (const sentMicros of readStamps(append)) this.#turn.delaysMicros.push(arrivedMicros - sentMicros);
  }

  end(): void {
    this.#ended?.resolve();
  }

  fail(error: Error): void {
    this.#ended?.reject(error);
  }
}

/** A turn that lost or duplicated a delta is not a valid measurement. */
export function checked(turn: Turn, message: Message): Turn {
  if (turn.delaysMicros.length === message.deltas) return turn;
  throw new Error(`A turn of ${message.deltas} deltas arrived with ${turn.delaysMicros.length}`);
}
