/** Gives one run of a tool its time: not more, and no longer than the turn itself goes on. */
import type { Clock } from "../../../lib/clock.js";
import { formatDuration } from "./duration.js";
import { ToolTimedOut } from "../tool.js";

/** A timer's longest time; a longer one would ring at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export type TimeLimit = { clock: Clock; timeoutMs: number; signal: AbortSignal };

/**
 * What `run` gives, or its failure. Rejects with `ToolTimedOut` as soon as the time is over, whether or not `run`
 * listens to the signal it was given; that is aborted then, and whenever `signal` is. A failure that comes after
 * that goes to `onLateFailure`.
 */
export async function runWithin<Result>(
  { clock, timeoutMs, signal }: TimeLimit,
  run: (signal: AbortSignal) => Promise<Result>,
  onLateFailure: (error: unknown) => void,
): Promise<Result> {
  const limitMs = Math.min(Math.max(0, timeoutMs), MAX_TIMER_MS);
  const own = new AbortController();
  const stop = () => own.abort(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  let cancel: (() => void) | undefined;
  let isOver = false;
  const timeUp = new Promise<never>((_resolve, reject) => {
    cancel = clock.after(limitMs, () => {
      isOver = true;
      const reason = new ToolTimedOut(
        `The tool was stopped: it did not end within ${formatDuration(limitMs)}. What it has done so far is not known.`,
      );
      // First the answer: what the tool says in reply to its abort comes too late.
      reject(reason);
      own.abort(reason);
    });
  });
  const running = startSafely(run, own.signal);
  running.catch((error: unknown) => {
    if (isOver && error !== own.signal.reason) onLateFailure(error);
  });
  try {
    return await Promise.race([running, timeUp]);
  } finally {
    cancel?.();
    signal.removeEventListener("abort", stop);
  }
}

/** What is thrown before the first wait is a rejection like any other. */
async function startSafely<Result>(
  run: (signal: AbortSignal) => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  return run(signal);
}
