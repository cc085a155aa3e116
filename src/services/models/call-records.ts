/**
 * Bounded queue of model call records, written one after the other beside turns, which never wait for it. Records
 * beyond the bound are dropped and counted.
 */
import type { RecordMeter } from "../../domain/common/meters.js";
import type { Clock } from "../../lib/clock.js";
import { runDetached } from "../../lib/run-context.js";
import type { Log } from "../../lib/log.js";
import { yieldToEventLoop } from "../../lib/concurrency/yield-to-event-loop.js";
import type { Queryable } from "../../store/common/database.js";
import { insertModelCallRecord } from "../../store/models/model-call-records.js";
import { type RecordedCall, recordOf } from "./recorded-call.js";

/** Each references a turn's whole prompt, which is mostly in memory for the turn anyway. */
export const MAX_WAITING_RECORDS = 100;
/** Time for queued records on shutdown. */
const LAST_RECORDS_MS = 3_000;
/** Dropped records are logged at most this often, with their number. */
const WARNING_INTERVAL_MS = 60_000;

export interface CallRecorder {
  /** Returns at once, never throws, and costs nothing when recording is off. */
  record(call: RecordedCall): void;
}

/** Recording is off. */
export const NO_CALL_RECORDS: CallRecorder = { record: () => undefined };

export type CallRecordsDependencies = { database: Queryable; clock: Clock; log: Log; meter: RecordMeter };

export class CallRecords implements CallRecorder {
  readonly #dependencies: CallRecordsDependencies;
  readonly #waiting: RecordedCall[] = [];
  #writing: Promise<void> | null = null;
  #isOver = false;
  #lost = 0;
  #warnedAt = -Infinity;

  constructor(dependencies: CallRecordsDependencies) {
    this.#dependencies = dependencies;
  }

  record(call: RecordedCall): void {
    if (this.#waiting.length >= MAX_WAITING_RECORDS) return this.#lose("dropped", undefined);
    this.#waiting.push(call);
    this.#writing ??= runDetached(() => this.#write());
  }

  /** Writes queued records for a bounded time, then drops the rest. */
  async close(): Promise<void> {
    if (this.#writing === null) return;
    const { clock } = this.#dependencies;
    let cancel: () => void = () => undefined;
    const patience = new Promise<void>((resolve) => (cancel = clock.after(LAST_RECORDS_MS, resolve)));
    await Promise.race([this.#writing, patience]);
    cancel();
    this.#isOver = true;
    for (const _left of this.#waiting.splice(0)) this.#lose("dropped", undefined);
  }

  /** Never rejects. */
  async #write(): Promise<void> {
    const { database, meter } = this.#dependencies;
    for (
      let call = this.#waiting.shift();
      call !== undefined && !this.#isOver;
      call = this.#waiting.shift()
    ) {
      // Building a record takes milliseconds: streams go first.
      await yieldToEventLoop();
      try {
        await insertModelCallRecord(database, recordOf(call));
        meter.callRecord("written");
      } catch (error) {
        this.#lose("failed", error);
      }
    }
    this.#writing = null;
  }

  #lose(outcome: "dropped" | "failed", error: unknown): void {
    const { clock, log, meter } = this.#dependencies;
    meter.callRecord(outcome);
    this.#lost += 1;
    const now = clock.now();
    if (now - this.#warnedAt < WARNING_INTERVAL_MS) return;
    this.#warnedAt = now;
    log.warn({ err: error, records: this.#lost }, "model call records were lost");
    this.#lost = 0;
  }
}
