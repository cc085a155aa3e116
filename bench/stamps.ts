/** Delta texts that say when they were sent, so that whoever receives them knows how long they travelled. */
import { nowMicros } from "./machine.js";

/** Base 36 keeps a stamp about as long as a long word of text. */
const RADIX = 36;

/** A word that says what time it is. */
export function stamp(): string {
  return `${nowMicros().toString(RADIX)} `;
}

/** When each delta in a piece of text was sent, in microseconds of the shared clock. */
export function readStamps(text: string): number[] {
  return text
    .split(" ")
    .filter((word) => word !== "")
    .map((word) => Number.parseInt(word, RADIX));
}
