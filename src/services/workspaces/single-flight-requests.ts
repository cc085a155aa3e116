/** Single-flight requests to workspaces: concurrent callers of one workspace share a request, each with a timeout. */
import type { Clock } from "../../lib/clock.js";
import { CONTEXT_TIMEOUT_MS } from "../../workspaces/agent-client/agent-connection.js";

export type RequestOutcome<Value> = { kind: "answered"; value: Value } | { kind: "failed"; error: unknown };

export class SingleFlightRequests<Value> {
  readonly #running = new Map<string, Promise<RequestOutcome<Value>>>();

  constructor(private readonly clock: Clock) {}

  /**
   * The outcome of `request` within five seconds. Never rejects. The request goes on after its callers' timeout, so
   * that `request` may still cache a late answer.
   */
  async once(workspaceId: string, request: () => Promise<Value>): Promise<RequestOutcome<Value>> {
    const running = this.#running.get(workspaceId);
    if (running !== undefined) return this.#withinLimit(running);
    const started = settle(request).finally(() => this.#running.delete(workspaceId));
    this.#running.set(workspaceId, started);
    return this.#withinLimit(started);
  }

  /** Resolves when all requests have ended. Close the agents first, or it waits for their answers. */
  async close(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  #withinLimit(running: Promise<RequestOutcome<Value>>): Promise<RequestOutcome<Value>> {
    return new Promise((resolve) => {
      const cancel = this.clock.after(CONTEXT_TIMEOUT_MS, () =>
        resolve({ kind: "failed", error: new Error(`There was no answer within ${CONTEXT_TIMEOUT_MS} ms.`) }),
      );
      void running.then((outcome) => {
        cancel();
        resolve(outcome);
      });
    });
  }
}

async function settle<Value>(request: () => Promise<Value>): Promise<RequestOutcome<Value>> {
  try {
    return { kind: "answered", value: await request() };
  } catch (error) {
    return { kind: "failed", error };
  }
}
