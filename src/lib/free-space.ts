/**
 * Watches how much space is free on the disk that everything is stored on, so that writes stop before it is full: a
 * database without space does not survive well. States: enough ⇄ low, moved by readings alone.
 */
import { statfs } from "node:fs/promises";
import type { Clock } from "./clock.js";
import type { Log } from "./log.js";
import { PeriodicJob } from "./concurrency/periodic-job.js";

const READ_EVERY_MS = 10_000;
/** So far above the mark, as a part of it, there is space again; nearer, the state would change at each reading. */
const RECOVERY_PART = 0.1;

export type FreeSpaceOptions = {
  /** Bytes that are free. A rejection leaves the state as it is. */
  read: () => Promise<number>;
  /** With less than this the space is low; 0 = never. */
  minBytes: number;
  clock: Clock;
  log: Log;
};

/** Whether there is space to store more. */
export interface SpaceCheck {
  /** By the latest reading, at most 10 seconds ago. */
  readonly isLow: boolean;
  /** Whether the space would not be low after so many bytes more, by a reading made now. */
  hasRoomFor(bytes: number): Promise<boolean>;
}

/** For data on disks that this server cannot see. */
export const UNWATCHED_SPACE: SpaceCheck = { isLow: false, hasRoomFor: () => Promise.resolve(true) };

export class FreeSpace implements SpaceCheck {
  readonly #job: PeriodicJob;
  #isLow = false;
  #freeBytes: number | null = null;
  #isReadable = true;

  constructor(private readonly options: FreeSpaceOptions) {
    this.#job = new PeriodicJob({
      clock: options.clock,
      intervalMs: READ_EVERY_MS,
      run: () => this.#look(),
      onError: () => undefined, // `#look` never rejects.
    });
  }

  /** Resolves after the first reading. */
  async start(): Promise<void> {
    await this.#look();
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

  async hasRoomFor(bytes: number): Promise<boolean> {
    await this.#look();
    return !this.#isLow && (this.#freeBytes === null || this.#freeBytes - bytes >= this.options.minBytes);
  }

  async #look(): Promise<void> {
    const { read, minBytes, log } = this.options;
    try {
      const freeBytes = await read();
      this.#freeBytes = freeBytes;
      this.#isReadable = true;
      const mark = minBytes + (this.#isLow ? Math.floor(minBytes * RECOVERY_PART) : 0);
      this.#move(freeBytes < mark);
    } catch (error) {
      if (this.#isReadable) log.warn({ err: error }, "Free disk space cannot be read");
      this.#isReadable = false;
    }
  }

  #move(isLow: boolean): void {
    if (isLow === this.#isLow) return;
    this.#isLow = isLow;
    const { minBytes, log } = this.options;
    const facts = { freeBytes: this.#freeBytes, minBytes };
    if (isLow) log.error(facts, "The disk is almost full: nothing new is stored until there is space again");
    else log.info(facts, "There is disk space again");
  }
}

/** Bytes that programs without special rights may still write to the folder's disk. */
export async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
