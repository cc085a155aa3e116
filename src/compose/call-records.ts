/** Who keeps what models are asked and answer: nobody, unless the operator wants it. */
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
  closers.add("the sweep of old records of model calls", () => sweep.close());
  if (!isRecording) return NO_CALL_RECORDS;
  const records = new CallRecords(dependencies);
  closers.add("records of model calls", () => records.close());
  dependencies.log.warn(
    { keepDays },
    "What models are asked and answer is recorded, with what people say in it",
  );
  return records;
}
