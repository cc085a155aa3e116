/**
 * For whom this process is doing what it does just now: set where a request, a message on a socket or a turn begins, and
 * carried along by every `await` below it. For log lines and traces only; no decision may depend on it.
 */
import { AsyncLocalStorage } from "node:async_hooks";

export type Doing = {
  requestId?: string | undefined;
  chatId?: string | undefined;
  /** What spans that begin now are parts of; the tracer's own. May be replaced while the work goes on. */
  trace?: object | undefined;
  /** By which the trace is found, for log lines. */
  traceId?: string | undefined;
};

const storage = new AsyncLocalStorage<Doing | undefined>();

/** Undefined: nobody's, such as what a timer of the whole process does. */
export function currentDoing(): Doing | undefined {
  return storage.getStore();
}

/** Runs `work` for exactly these; what was set around it does not count within. */
export function doingFor<T>(doing: Doing, work: () => T): T {
  return storage.run(doing, work);
}

/** Runs `work`, which outlives whoever happened to begin it, for nobody. */
export function doingForNobody<T>(work: () => T): T {
  return storage.run(undefined, work);
}
