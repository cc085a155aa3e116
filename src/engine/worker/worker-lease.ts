/**
 * A worker's lease, on a reserved connection: neither an exhausted pool nor a slow claim delays its renewal, and a
 * renewal that hangs is abandoned before the next one is due.
 */
import type { Database, ReservedConnection } from "../../store/common/database.js";
import { dropLease, leaseConnectionName, renewLease } from "../../store/chats/leases.js";

type LeaseTimes = {
  /** How long a renewal is valid, in milliseconds. */
  leaseMs: number;
  /** Interval between renewals, and the longest that one may take, in milliseconds. */
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

  /** False when the lease had expired, or never existed. Rejects when it takes longer than a heartbeat. */
  renew(): Promise<boolean> {
    return renewLease(this.#connection, this.workerId, this.times.leaseMs);
  }

  /** Ends the lease, once: other workers may take over the worker's chats at once. */
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
