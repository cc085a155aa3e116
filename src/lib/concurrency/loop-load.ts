/** How busy this process is. */
import { performance } from "node:perf_hooks";

/**
 * A meter of the event loop: each call tells the share of the time since the call before, in [0, 1], in which the loop
 * had something to do. Near 1 everything that happens waits for what happened before.
 */
export function createLoopMeter(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
