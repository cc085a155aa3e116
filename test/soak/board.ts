// Where all chats stand in the database, looked at again and again for everybody who waits for something.
import type { ChatStatus } from "../../src/domain/chats/chat-state.js";
import { sleep, systemClock } from "../../src/lib/clock.js";
import type { Deployment } from "./deployment.js";

export type Standing = {
  id: string;
  status: ChatStatus;
  isArchived: boolean;
  isHeld: boolean;
  queued: number;
  version: number;
};

const LOOK_EVERY_MS = 60;

export class Board {
  #standings = new Map<string, Standing>();
  #looks = 0;
  #waiters: (() => void)[] = [];
  readonly #end = new AbortController();
  readonly #done: Promise<void>;

  constructor(private readonly deployment: Pick<Deployment, "query">) {
    this.#done = this.#watch();
  }

  /** `id` as in the API. */
  standing(id: string): Standing | undefined {
    return this.#standings.get(id);
  }

  all(): Standing[] {
    return [...this.#standings.values()];
  }

  /** Resolves at the end of a look that began after this call. */
  async fresh(): Promise<void> {
    const wanted = this.#looks + 2;
    while (this.#looks < wanted && !this.#end.signal.aborted) {
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  /** The chat's standing as soon as it is so, or as it is when the time is over. */
  async until(id: string, isSo: (standing: Standing) => boolean, limitMs: number): Promise<Standing> {
    const deadline = Date.now() + limitMs;
    for (;;) {
      await this.fresh();
      const standing = this.#standings.get(id);
      if (!standing) throw new Error(`There is no chat ${id} in the database.`);
      if (isSo(standing) || Date.now() > deadline || this.#end.signal.aborted) return standing;
    }
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#done;
  }

  async #watch(): Promise<void> {
    while (!this.#end.signal.aborted) {
      const rows = await this.deployment.query<Standing>(`
        SELECT 'chat_' || id AS id, status, archived_at IS NOT NULL AS "isArchived", runner_id IS NOT NULL AS "isHeld",
          cardinality(queued_ids) AS queued, snapshot_version::int AS version FROM chats`);
      this.#standings = new Map(rows.map((row) => [row.id, row]));
      this.#looks += 1;
      for (const wake of this.#waiters.splice(0)) wake();
      await sleep(systemClock, LOOK_EVERY_MS, this.#end.signal);
    }
    for (const wake of this.#waiters.splice(0)) wake();
  }
}

export function isAtRest({ status }: Pick<Standing, "status">): boolean {
  return status === "waiting" || status === "error";
}
