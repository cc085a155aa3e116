// Polls the status of all chats in the database, for everything in the soak that waits for a change.
import type { ChatStatus } from "../../src/domain/chats/chat-state.js";
import { sleep, systemClock } from "../../src/lib/clock.js";
import type { Deployment } from "./deployment.js";

export type PolledStatus = {
  id: string;
  status: ChatStatus;
  isArchived: boolean;
  isClaimed: boolean;
  queued: number;
  version: number;
};

const POLL_INTERVAL_MS = 60;

export class ChatStatusPoller {
  #statuses = new Map<string, PolledStatus>();
  #polls = 0;
  #waiters: (() => void)[] = [];
  readonly #end = new AbortController();
  readonly #done: Promise<void>;

  constructor(private readonly deployment: Pick<Deployment, "query">) {
    this.#done = this.#poll();
  }

  /** `id` as in the API. */
  statusOf(id: string): PolledStatus | undefined {
    return this.#statuses.get(id);
  }

  all(): PolledStatus[] {
    return [...this.#statuses.values()];
  }

  /** Resolves at the end of a poll that began after this call. */
  async fresh(): Promise<void> {
    const target = this.#polls + 2;
    while (this.#polls < target && !this.#end.signal.aborted) {
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  /** The chat's status as soon as the condition holds, or when the time is over. */
  async until(
    id: string,
    condition: (status: PolledStatus) => boolean,
    limitMs: number,
  ): Promise<PolledStatus> {
    const deadline = Date.now() + limitMs;
    for (;;) {
      await this.fresh();
      const status = this.#statuses.get(id);
      if (!status) throw new Error(`chat ${id} not found in the database`);
      if (condition(status) || Date.now() > deadline || this.#end.signal.aborted) return status;
    }
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#done;
  }

  async #poll(): Promise<void> {
    while (!this.#end.signal.aborted) {
      const rows = await this.deployment.query<PolledStatus>(`
        SELECT 'chat_' || id AS id, status, archived_at IS NOT NULL AS "isArchived", runner_id IS NOT NULL AS "isClaimed",
          cardinality(queued_ids) AS queued, snapshot_version::int AS version FROM chats`);
      this.#statuses = new Map(rows.map((row) => [row.id, row]));
      this.#polls += 1;
      for (const wake of this.#waiters.splice(0)) wake();
      await sleep(systemClock, POLL_INTERVAL_MS, this.#end.signal);
    }
    for (const wake of this.#waiters.splice(0)) wake();
  }
}

export function isSettled({ status }: Pick<PolledStatus, "status">): boolean {
  return status === "waiting" || status === "error";
}
