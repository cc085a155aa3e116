/** Asks workspaces something, each at most once at a time: whoever asks meanwhile gets the same answer, or gives up. */
import type { Clock } from "../../lib/clock.js";
import { CONTEXT_TIMEOUT_MS } from "../../workspaces/agent-client/agent-connection.js";

export type Look<Value> = { kind: "seen"; value: Value } | { kind: "failed"; error: unknown };

export class WorkspaceLooks<Value> {
  readonly #running = new Map<string, Promise<Look<Value>>>();

  constructor(private readonly clock: Clock) {}

  /**
   * What `look` gives, within five seconds. Never rejects. A look goes on after its callers gave up: what comes late
   * may still be remembered by whoever wrote `look`.
   */
  async once(workspaceId: string, look: () => Promise<Value>): Promise<Look<Value>> {
    const running = this.#running.get(workspaceId);
    if (running !== undefined) return this.#withinLimit(running);
    const looking = settle(look).finally(() => this.#running.delete(workspaceId));
    this.#running.set(workspaceId, looking);
    return this.#withinLimit(looking);
  }

  /** Resolves when no workspace is asked any more. Close the agents first, or it waits for their answers. */
  async close(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  #withinLimit(looking: Promise<Look<Value>>): Promise<Look<Value>> {
    return new Promise((resolve) => {
      const cancel = this.clock.after(CONTEXT_TIMEOUT_MS, () =>
        resolve({ kind: "failed", error: new Error(`There was no answer within ${CONTEXT_TIMEOUT_MS} ms.`) }),
      );
      void looking.then((outcome) => {
        cancel();
        resolve(outcome);
      });
    });
  }
}

async function settle<Value>(look: () => Promise<Value>): Promise<Look<Value>> {
  try {
    return { kind: "seen", value: await look() };
  } catch (error) {
    return { kind: "failed", error };
  }
}
