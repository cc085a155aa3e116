/** Composition of model call records, which are off by default. */
import type { Config } from "../config/config.js";
import { CallRecordSweep } from "../services/models/call-record-sweep.js";
import { CallRecords, type CallRecorder, NO_CALL_RECORDS } from "../services/models/call-records.js";
import type { RecordMeter } from "../domain/common/meters.js";
import type { Clock } from "../lib/clock.js";
import type { Log } from "../lib/log.js";
import type { Database } from "../store/common/database.js";
import type { Closers } from "./closers.js";

export function openCallRecords(
  { debugRecords: isRecording, debugRetentionDays: keepDays }: Config,
  dependencies: { database: Database; clock: Clock; log: Log; meter: RecordMeter },
  closers: Closers,
): CallRecorder {
  const sweep = new CallRecordSweep(dependencies, { keepDays, isRecording });
  sweep.start();
  closers.add("the sweep of model call records", () => sweep.close());
  if (!isRecording) return NO_CALL_RECORDS;
  const records = new CallRecords(dependencies);
  closers.add("the model call records", () => records.close());
  dependencies.log.warn({ keepDays }, "model calls are recorded in full, including users' messages");
  return records;
}
