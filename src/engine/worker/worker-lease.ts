/**
 * A worker's lease, on a connection of its own: neither a pool that is drained nor a claim that takes long keeps it from
 * being renewed, and a renewal that hangs is given up before the next one is due.
 */
import type { Database, ReservedConnection } from "../../store/common/database.js";
import { dropLease, leaseConnectionName, renewLease } from "../../store/chats/leases.js";

export type LeaseTimes = {
  /** How long a renewal holds, in milliseconds. */
  leaseMs: number;
  /** Between two renewals, and the longest that one may take, in milliseconds. */
  heartbeatMs: number;
};

export class WorkerLease {
  readonly #connection: ReservedConnection;
  #dropped: Promise<void> | null = null;

  constructor(
    database: Database,
    private readonly workerId: string,
    private readonly times: LeaseTimes,
  ) {
    this.#connection = database.reserve(leaseConnectionName(workerId), times.heartbeatMs);
  }

  /** False when the lease had ended before, or never begun. Rejects when that takes longer than a heartbeat. */
  renew(): Promise<boolean> {
    return renewLease(this.#connection, this.workerId, this.times.leaseMs);
  }

  /** Ends it, once: whatever the worker still has may be taken over at once. */
  drop(): Promise<void> {
    return (this.#dropped ??= this.#drop());
  }

  async #drop(): Promise<void> {
    try {
      await dropLease(this.#connection, this.workerId);
    } finally {
      await this.#connection.close();
    }
  }
}
