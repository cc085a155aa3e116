/**
 * Closes long-lived connections in slices over time, so that their clients do not all reconnect to the other replicas
 * at once.
 */
import type { Clock } from "../../lib/clock.js";
import { sleep } from "../../lib/clock.js";

/** Connections still open after this are terminated. */
export const CLOSE_LIMIT_MS = 5_000;
const CLOSE_SLICES = 20;
/** With the number of slices, draining takes 2 s; small slices need not be spread further. */
export const CLOSE_SLICE_INTERVAL_MS = 100;
export const MIN_CLOSE_SLICE_CONNECTIONS = 50;

/** A WebSocket or event stream that can be closed. */
export type DrainableConnection = {
  /** Asks the client to go; what it has been sent still reaches it. */
  requestClose(): void;
  /** Ends the connection at once. */
  terminate(): void;
  closed: Promise<void>;
};

/** Resolves when all connections are closed, at the latest shortly after CLOSE_LIMIT_MS. */
export async function drainConnections(connections: DrainableConnection[], clock: Clock): Promise<void> {
  const limit = new AbortController();
  const cancelLimit = clock.after(CLOSE_LIMIT_MS, () => limit.abort());
  const allClosed = Promise.all(connections.map(({ closed }) => closed));
  const sliceSize = Math.max(MIN_CLOSE_SLICE_CONNECTIONS, Math.ceil(connections.length / CLOSE_SLICES));
  for (let start = 0; start < connections.length && !limit.signal.aborted; start += sliceSize) {
    if (start > 0) await sleep(clock, CLOSE_SLICE_INTERVAL_MS, limit.signal);
    for (const connection of connections.slice(start, start + sliceSize)) connection.requestClose();
  }
  await Promise.race([allClosed, aborted(limit.signal)]);
  cancelLimit();
  for (const connection of connections) connection.terminate();
  await allClosed;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
