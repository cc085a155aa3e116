/** Time limit of one tool run, which also ends with the turn. */
import type { Clock } from "../../../lib/clock.js";
import { formatDuration } from "./duration.js";
import { ToolTimedOut } from "../tool.js";

/** Longest timeout of a Node timer; a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

type TimeLimit = { clock: Clock; timeoutMs: number; signal: AbortSignal };

/**
 * Settles as `run` does. Rejects with `ToolTimedOut` on the timeout, whether or not `run` listens to its signal, which is
 * aborted then, and whenever `signal` is. A failure after the timeout goes to `onLateFailure`.
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
      // Reject first: the tool's reaction to its abort comes too late.
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

/** Turns a synchronous throw into a rejection. */
async function startSafely<Result>(
  run: (signal: AbortSignal) => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  return run(signal);
}
