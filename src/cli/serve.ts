/** `parley serve`: starts the server, prints its address, and stops it on a signal. */
import { secretsInEnvironment, type Config, type ConfigSources } from "../config/config.js";
import { DatabaseUnavailable } from "../domain/common/outages.js";
import { sleep, systemClock } from "../lib/clock.js";
import { ExplainedError } from "../lib/text/explained-error.js";
import { EXIT_SOFTWARE_ERROR, cleanUpWithinLimit, untilUncaughtError } from "../lib/uncaught-errors.js";
import type { Log } from "../lib/log.js";
import { openBrowser } from "./open-browser.js";
import { openLog } from "./open-log.js";
import { startParley, type Parley } from "../compose/server.js";
import { openDataDir } from "../compose/start/data-dir.js";
import { lockServer, type ServerLock } from "../compose/start/server-lock.js";
import { errorText } from "../lib/text/error-text.js";
import { findExposures, readShownProcess } from "./exposed-secrets.js";
import { readConfigOrExplain } from "./read-config.js";
import { runsAlready, welcome } from "./welcome.js";

/** Delay before a start that failed because of the database is retried. */
const RETRY_DELAY_MS = 500;
const STOP_SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** Resolves to the exit code when the server has ended. */
export async function serve(sources: ConfigSources, browser: { opensBrowser: boolean }): Promise<number> {
  const config = readConfigOrExplain(sources);
  if (!config) return 2;
  const log = await openLog(config);
  warnOfExposures(log);
  const lock = await lockOrExplain(config);
  if (lock === "refused") return 1;
  try {
    return await runServer({ config, log, lock, ...browser });
  } finally {
    await lock?.release();
  }
}

type Run = { config: Config; log: Log; lock: ServerLock | null; opensBrowser: boolean };

/** Resolves to the exit code. */
async function runServer({ config, log, lock, opensBrowser }: Run): Promise<number> {
  const stopped = nextSignal();
  const broken = untilUncaughtError(log, "The server").then(() => "broken" as const);
  const starting = startOrExplain(config, log);
  const parley = await Promise.race([starting, broken, stopped.then(() => "stopped" as const)]);
  if (parley === "stopped" || parley === "broken") {
    await cleanUpWithinLimit(async () => (await starting)?.close(), { clock: systemClock, log });
    return parley === "stopped" ? 0 : EXIT_SOFTWARE_ERROR;
  }
  if (!parley) return 1;
  await lock?.listens(parley.url);
  process.stdout.write(welcome(parley));
  if (opensBrowser && parley.url !== null) await openBrowser(`${parley.url}/graphql`, log);
  const end = await Promise.race([untilStopped(parley, stopped, log), broken]);
  if (end !== "broken") return end;
  await cleanUpWithinLimit(() => parley.close(), { clock: systemClock, log });
  return EXIT_SOFTWARE_ERROR;
}

/**
 * The lock on the data folder of the embedded database. None where several servers are meant: with a PostgreSQL of its own,
 * as a worker, or on a port that was chosen for it. "refused" after the reason was printed, such as where a server runs already.
 */
async function lockOrExplain(config: Config): Promise<ServerLock | "refused" | null> {
  if (config.databaseUrl !== undefined || config.role === "worker") return null;
  try {
    await openDataDir(config);
    const lock = await lockServer(config.dataDir);
    if (lock.kind === "locked") return lock;
    if (config.isPortChosen) return null;
    process.stderr.write(runsAlready(lock, config));
    return "refused";
  } catch (error) {
    process.stderr.write(`Parley could not start: ${errorText(error)}\n`);
    return "refused";
  }
}

/** This process has blanked its own environment; those that started it have not. */
function warnOfExposures(log: Log): void {
  for (const exposure of findExposures(process.ppid, secretsInEnvironment(), readShownProcess)) {
    log.warn(
      exposure,
      "a program that started the server shows its secrets to commands of this user; start the server without it",
    );
  }
}

async function untilStopped(parley: Parley, stopped: Promise<string>, log: Log): Promise<number> {
  const signal = await stopped;
  log.info({ signal }, "stopping; a second signal exits at once");
  const forced = nextSignal().then(() => "forced" as const);
  const end = await Promise.race([parley.close().then(() => "closed" as const), forced]);
  return end === "closed" ? 0 : 130;
}

async function startOrExplain(config: Config, log: Log): Promise<Parley | null> {
  try {
    return await startWithDatabase(config, log);
  } catch (error) {
    if (!(error instanceof ExplainedError)) log.fatal({ err: error }, "Parley could not start");
    else log.fatal(`Parley could not start: ${error.message}`);
    process.stderr.write(
      `Parley could not start: ${error instanceof Error ? error.message : String(error)}\n`,
    );
    return null;
  }
}

/** Retries the start when the database is lost during it, until the database's wait time is over. */
async function startWithDatabase(config: Config, log: Log): Promise<Parley> {
  const deadline = systemClock.now() + config.databaseWaitMs;
  for (let hasWarned = false; ; hasWarned = true) {
    try {
      return await startParley(config, log);
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable) || systemClock.now() >= deadline) throw error;
      if (!hasWarned) log.warn({ err: error }, "lost the database during the start; retrying");
      await sleep(systemClock, RETRY_DELAY_MS);
    }
  }
}

function nextSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of STOP_SIGNALS) process.once(signal, () => resolve(signal));
  });
}
