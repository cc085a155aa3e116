/**
 * Enforces users' storage limits. Far from the limit a check executes no statement: a reading is reused for a while,
 * and only for a small part of the bytes that it left. Near the limit every check reads the database, and writes are
 * checked once more in their own transaction (`demand`), serialized, so that concurrent requests and replicas cannot
 * exceed it.
 *
 * What a turn has paid for (answers, results of tools) is always stored; the turn ends before its next model call.
 */
import { LRUCache } from "lru-cache";
import type { ChatFailure } from "../../domain/common/failures.js";
import {
  fitsStorage,
  isStorageFull,
  STORAGE_FULL_FAILURE,
  type StorageCheck,
  storageLimitFailure,
  type StorageStatus,
} from "../../domain/files/storage-limits.js";
import type { Bus } from "../../events/bus/bus.js";
import type { Clock } from "../../lib/clock.js";
import type { SpaceCheck } from "../../lib/free-space.js";
import type { Database, Queryable } from "../../store/common/database.js";
import { demandStorage, readStorageStatus, StorageFull } from "../../store/files/storage.js";

/** With less than this left every check reads: far more than a user's running turns store while a reading is reused. */
const FAR_BYTES = 64 * 1024 * 1024;
/** How long a reading is reused. */
const READING_LIFE_MS = 10_000;
/** The part of the remaining bytes that a reading covers, as other replicas have readings of their own. */
const USABLE_PART = 1 / 16;
/** Users with a cached reading, a few hundred bytes each. */
const MAX_READINGS = 10_000;

export type StorageLimitsOptions = {
  database: Database;
  clock: Clock;
  bus: Pick<Bus, "onConfigChange">;
  space: SpaceCheck;
  /** For users without a limit of their own; null = none. */
  defaultBytes: bigint | null;
};

type Reading = { usableBytes: number; expiresAt: number };

export class StorageLimits {
  readonly #readings = new LRUCache<string, Reading>({ max: MAX_READINGS });
  readonly #stopListening: () => void;

  constructor(private readonly options: StorageLimitsOptions) {
    this.#stopListening = options.bus.onConfigChange((topic) => {
      if (topic === "storage-limits") this.#readings.clear();
    });
  }

  get defaultBytes(): bigint | null {
    return this.options.defaultBytes;
  }

  /** Whether that many more bytes are within the user's limit. Rejects when the database fails. */
  async check(userId: string, bytes: number): Promise<StorageCheck> {
    if (this.#use(userId, bytes)) return { outcome: "fits" };
    const status = await this.#read(userId);
    if (!fitsStorage(status, bytes)) return { outcome: "exceeded", status };
    return this.#use(userId, bytes) ? { outcome: "fits" } : { outcome: "near" };
  }

  /** Why a turn's next model call is not allowed; null = allowed. Rejects when the database fails. */
  async whyNoTurn(userId: string): Promise<ChatFailure | null> {
    if (this.options.space.isLow) return STORAGE_FULL_FAILURE;
    if (this.#use(userId, 0)) return null;
    const status = await this.#read(userId);
    return isStorageFull(status) ? storageLimitFailure(status) : null;
  }

  /**
   * As the last statement of a transaction, or before one that adds `addedBytes`: throws `StorageLimitExceeded` or
   * `StorageFull` when that exceeds the limit or the server's space.
   */
  async demand(transaction: Queryable, userId: string, addedBytes: number): Promise<void> {
    if (this.options.space.isLow) throw new StorageFull();
    await demandStorage(transaction, { userId, defaultBytes: this.options.defaultBytes, addedBytes });
  }

  close(): void {
    this.#stopListening();
  }

  /** Subtracts the bytes from a recent reading. False when there is none, or not enough left. */
  #use(userId: string, bytes: number): boolean {
    const reading = this.#readings.get(userId);
    if (!reading || this.options.clock.now() >= reading.expiresAt || reading.usableBytes < bytes)
      return false;
    reading.usableBytes -= bytes;
    return true;
  }

  async #read(userId: string): Promise<StorageStatus> {
    const { database, clock, defaultBytes } = this.options;
    const expiresAt = clock.now() + READING_LIFE_MS;
    const status = await readStorageStatus(database, userId, defaultBytes);
    const { limitBytes, usedBytes } = status;
    const leftBytes = limitBytes === null ? Infinity : Number(limitBytes - usedBytes);
    if (leftBytes < FAR_BYTES) this.#readings.delete(userId);
    else this.#readings.set(userId, { usableBytes: leftBytes * USABLE_PART, expiresAt });
    return status;
  }
}
