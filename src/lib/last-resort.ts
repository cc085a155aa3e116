/**
 * The last resort of a program: an error that nothing has caught. What the program knows may be wrong from then on, so it
 * says what it can, hands over what it has within a limit, and ends with a code of its own.
 */
import { type Clock, sleep } from "./clock.js";
import type { Log } from "./log.js";

/** EX_SOFTWARE of sysexits: an error within the program, as no operator's mistake or signal ends it. */
export const EXIT_BROKEN = 70;
/** Handing over takes this long at most, in milliseconds; then the process ends in the middle of it. */
export const LAST_RESORT_LIMIT_MS = 10_000;

/** Resolves with the first error that nothing has caught; every one is logged with its stack and cause. */
export function untilBroken(log: Log, program: string): Promise<unknown> {
  return new Promise((resolve) => {
    const take = (error: unknown, origin: string) => {
      log.fatal(
        { err: error, origin, exitCode: EXIT_BROKEN },
        `${program} broke: an error that nothing caught`,
      );
      resolve(error);
    };
    process.on("uncaughtException", (error, origin) => take(error, origin));
    // Node would make an uncaught exception of it, whose reason may be no error.
    process.on("unhandledRejection", (reason) => take(reason, "unhandledRejection"));
  });
}

/** Resolves when the work is done, has failed, which is logged, or has taken `LAST_RESORT_LIMIT_MS`. */
export async function handOver(
  work: () => Promise<void>,
  { clock, log }: { clock: Clock; log: Log },
): Promise<void> {
  const done = new AbortController();
  const inTime = work()
    .catch((error: unknown) => log.error({ err: error }, "Handing over failed"))
    .then(() => true);
  const late = sleep(clock, LAST_RESORT_LIMIT_MS, done.signal).then(() => false);
  if (!(await Promise.race([inTime, late])))
    log.error({ limitMs: LAST_RESORT_LIMIT_MS }, "Handing over took too long; the process ends without it");
  done.abort();
}
