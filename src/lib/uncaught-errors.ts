/**
 * Handling of uncaught errors. The program's state cannot be trusted after one, so it logs the error, cleans up within a
 * limit, and exits with a code of its own.
 */
import { type Clock, sleep } from "./clock.js";
import type { Log } from "./log.js";

/** EX_SOFTWARE of sysexits: an internal error, which no mistake of an operator and no signal exits with. */
export const EXIT_SOFTWARE_ERROR = 70;
/** The longest that the cleanup may take; then the process exits in the middle of it. */
const EXIT_CLEANUP_LIMIT_MS = 10_000;

/** Resolves with the first uncaught error; each one is logged with its stack and cause. */
export function untilUncaughtError(log: Log, program: string): Promise<unknown> {
  return new Promise((resolve) => {
    const onError = (error: unknown, origin: string) => {
      log.fatal({ err: error, origin, exitCode: EXIT_SOFTWARE_ERROR }, `${program} exits: uncaught error`);
      resolve(error);
    };
    process.on("uncaughtException", (error, origin) => onError(error, origin));
    // Node would turn it into an uncaught exception, whose reason need not be an error.
    process.on("unhandledRejection", (reason) => onError(reason, "unhandledRejection"));
  });
}

/** Resolves when the cleanup is done, has failed, which is logged, or has taken `EXIT_CLEANUP_LIMIT_MS`. */
export async function cleanUpWithinLimit(
  cleanUp: () => Promise<void>,
  { clock, log }: { clock: Clock; log: Log },
): Promise<void> {
  const done = new AbortController();
  const inTime = cleanUp()
    .catch((error: unknown) => log.error({ err: error }, "cleanup before exit failed"))
    .then(() => true);
  const late = sleep(clock, EXIT_CLEANUP_LIMIT_MS, done.signal).then(() => false);
  if (!(await Promise.race([inTime, late])))
    log.error({ limitMs: EXIT_CLEANUP_LIMIT_MS }, "cleanup before exit took too long; exiting without it");
  done.abort();
}
