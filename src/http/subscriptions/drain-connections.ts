/**
 * The end of what stays open: clients are sent away in slices over time, so that they do not all come back to the
 * other replicas in one moment.
 */
import type { Clock } from "../../lib/clock.js";
import { sleep } from "../../lib/clock.js";

/** Those who have not left by then are cut. */
export const CLOSE_LIMIT_MS = 5_000;
const CLOSE_SLICES = 20;
/** With the slices, clients are sent away over 2 s; few clients at once are no storm. */
export const CLOSE_SLICE_INTERVAL_MS = 100;
export const MIN_CLOSE_SLICE_GUESTS = 50;

/** A socket or an event stream that is to go. */
export type Guest = {
  /** Asks it to go; what it has been sent still reaches it. */
  leave(): void;
  /** Ends it at once. */
  cut(): void;
  hasLeft: Promise<void>;
};

/** Resolves when all have gone, at the latest shortly after CLOSE_LIMIT_MS. */
export async function sendAway(guests: Guest[], clock: Clock): Promise<void> {
  const limit = new AbortController();
  const cancelLimit = clock.after(CLOSE_LIMIT_MS, () => limit.abort());
  const allLeft = Promise.all(guests.map(({ hasLeft }) => hasLeft));
  const sliceGuests = Math.max(MIN_CLOSE_SLICE_GUESTS, Math.ceil(guests.length / CLOSE_SLICES));
  for (let start = 0; start < guests.length && !limit.signal.aborted; start += sliceGuests) {
    if (start > 0) await sleep(clock, CLOSE_SLICE_INTERVAL_MS, limit.signal);
    for (const guest of guests.slice(start, start + sliceGuests)) guest.leave();
  }
  await Promise.race([allLeft, aborted(limit.signal)]);
  cancelLimit();
  for (const guest of guests) guest.cut();
  await allLeft;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
