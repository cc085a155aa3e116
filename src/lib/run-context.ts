/**
 * Ambient request context for logs and traces: set where a request, a message on a socket or a turn begins, and carried
 * by every `await` below it. No decision may depend on it.
 */
import { AsyncLocalStorage } from "node:async_hooks";

export type RunContext = {
  requestId?: string | undefined;
  chatId?: string | undefined;
  /** The tracer's own context: parent of the spans that begin now. May be replaced while the work runs. */
  trace?: object | undefined;
  /** The trace's id, for log lines. */
  traceId?: string | undefined;
};

const storage = new AsyncLocalStorage<RunContext | undefined>();

/** Undefined outside of any request or turn, as in a timer of the whole process. */
export function currentContext(): RunContext | undefined {
  return storage.getStore();
}

/** Runs `work` with exactly this context; nothing of the surrounding one is inherited. */
export function runWithContext<T>(context: RunContext, work: () => T): T {
  return storage.run(context, work);
}

/** Runs `work` without a context, because it outlives the request or turn that began it. */
export function runDetached<T>(work: () => T): T {
  return storage.run(undefined, work);
}
