/** Delta texts with timestamps, from which the receiver computes their latency. */
import { nowMicros } from "./machine.js";

/** Base 36 keeps a stamp about as long as a long word of text. */
const RADIX = 36;

/** The current time as a word. */
export function stamp(): string {
  return `${nowMicros().toString(RADIX)} `;
}

/** When each delta in a text was sent, in microseconds of the shared clock. */
export function readStamps(text: string): number[] {
  return text
    .split(" ")
    .filter((word) => word !== "")
    .map((word) => Number.parseInt(word, RADIX));
}
