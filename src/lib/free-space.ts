/**
 * Monitors the free space of the disk that all data is on, so that writes stop before it is full: a database does not
 * recover well from a full disk. States: enough ⇄ low, changed by readings alone.
 */
import { statfs } from "node:fs/promises";
import type { Clock } from "./clock.js";
import type { Log } from "./log.js";
import { PeriodicJob } from "./concurrency/periodic-job.js";

const READ_INTERVAL_MS = 10_000;
/** Hysteresis, as a share of the minimum: low ends only above it, so that the state does not change at each reading. */
const RECOVERY_SHARE = 0.1;

export type FreeSpaceOptions = {
  /** Resolves to the free bytes. A rejection leaves the state as it is. */
  read: () => Promise<number>;
  /** Space is low below this; 0 = never. */
  minBytes: number;
  clock: Clock;
  log: Log;
};

export interface SpaceCheck {
  /** By the latest reading, at most 10 seconds old. */
  readonly isLow: boolean;
  /** Whether `bytes` more would leave enough free space, by a reading made now. */
  hasSpaceFor(bytes: number): Promise<boolean>;
}

/** For data on disks that this server cannot see. */
export const UNMONITORED_SPACE: SpaceCheck = { isLow: false, hasSpaceFor: () => Promise.resolve(true) };

export class FreeSpace implements SpaceCheck {
  readonly #job: PeriodicJob;
  #isLow = false;
  #freeBytes: number | null = null;
  #isReadable = true;

  constructor(private readonly options: FreeSpaceOptions) {
    this.#job = new PeriodicJob({
      clock: options.clock,
      intervalMs: READ_INTERVAL_MS,
      run: () => this.#read(),
      onError: () => undefined, // `#read` never rejects.
    });
  }

  /** Resolves after the first reading. */
  async start(): Promise<void> {
    await this.#read();
    this.#job.start({ immediately: false });
  }

  close(): Promise<void> {
    return this.#job.close();
  }

  get isLow(): boolean {
    return this.#isLow;
  }

  /** By the latest reading; null before the first one that worked. */
  get freeBytes(): number | null {
    return this.#freeBytes;
  }

  async hasSpaceFor(bytes: number): Promise<boolean> {
    await this.#read();
    return !this.#isLow && (this.#freeBytes === null || this.#freeBytes - bytes >= this.options.minBytes);
  }

  async #read(): Promise<void> {
    const { read, minBytes, log } = this.options;
    try {
      const freeBytes = await read();
      this.#freeBytes = freeBytes;
      this.#isReadable = true;
      const threshold = minBytes + (this.#isLow ? Math.floor(minBytes * RECOVERY_SHARE) : 0);
      this.#setLow(freeBytes < threshold);
    } catch (error) {
      if (this.#isReadable) log.warn({ err: error }, "free disk space cannot be read");
      this.#isReadable = false;
    }
  }

  #setLow(isLow: boolean): void {
    if (isLow === this.#isLow) return;
    this.#isLow = isLow;
    const { minBytes, log } = this.options;
    const facts = { freeBytes: this.#freeBytes, minBytes };
    if (isLow) log.error(facts, "disk almost full: writes are refused until there is space");
    else log.info(facts, "disk space recovered");
  }
}

/** Free bytes of the folder's disk that unprivileged processes may use. */
export async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
