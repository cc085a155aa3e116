/** Meter of the event loop's utilization. */
import { performance } from "node:perf_hooks";

/**
 * Each call returns the share of the time since the previous call, in [0, 1], in which the event loop was busy. Near 1
 * everything waits for the work before it.
 */
export function createEventLoopMeter(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
