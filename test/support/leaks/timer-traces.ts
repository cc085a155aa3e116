// Where each timer was started, for those who look for a leak: PARLEY_TEST_TRACE_LEAKS=1. Costs time, so it is off.
import { createHook } from "node:async_hooks";

const started = new Map<number, { timer: WeakRef<NodeJS.Timeout>; stack: string }>();
const isOn = process.env["PARLEY_TEST_TRACE_LEAKS"] === "1";

if (isOn) {
  createHook({
    init(id, type, _trigger, timer) {
      if (type !== "Timeout") return;
      started.set(id, {
        timer: new WeakRef(timer as NodeJS.Timeout),
        stack: new Error("started here").stack ?? "",
      });
    },
    destroy: (id) => started.delete(id),
  }).enable();
}

/** The stacks of the timers that run now and keep the process alive; empty unless switched on. */
export function timerTraces(): string[] {
  const running = [...started.values()].filter(({ timer }) => timer.deref()?.hasRef());
  return running.map(({ stack }) => stack);
}
