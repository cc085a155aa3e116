/** `parley serve`: starts the server, prints its address, and stops it on a signal. */
import { parseArgs } from "node:util";
import { describeConfig, secretsInEnvironment, type Config } from "../config/config.js";
import { DatabaseUnavailable } from "../domain/common/outages.js";
import { sleep, systemClock } from "../lib/clock.js";
import { ExplainedError } from "../lib/text/explained-error.js";
import { EXIT_SOFTWARE_ERROR, cleanUpWithinLimit, untilUncaughtError } from "../lib/uncaught-errors.js";
import { createLog, type Log } from "../lib/log.js";
import { startParley, type Parley } from "../compose/server.js";
import { findExposures, readShownProcess } from "./exposed-secrets.js";
import { readConfigOrExplain } from "./read-config.js";
import { welcome } from "./welcome.js";

/** Delay before a start that failed because of the database is retried. */
const RETRY_DELAY_MS = 500;
const STOP_SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** Resolves to the exit code when the server has ended. */
export async function serve(argv: string[]): Promise<number> {
  const { values } = parseArgs({ args: argv, options: { help: { type: "boolean", short: "h" } } });
  if (values.help) {
    process.stdout.write(serveHelp());
    return 0;
  }
  const config = readConfigOrExplain();
  if (!config) return 2;
  const log = createLog(config.logLevel);
  warnOfExposures(log);
  const stopped = nextSignal();
  const broken = untilUncaughtError(log, "The server").then(() => "broken" as const);
  const starting = startOrExplain(config, log);
  const parley = await Promise.race([starting, broken, stopped.then(() => "stopped" as const)]);
  if (parley === "stopped" || parley === "broken") {
    await cleanUpWithinLimit(async () => (await starting)?.close(), { clock: systemClock, log });
    return parley === "stopped" ? 0 : EXIT_SOFTWARE_ERROR;
  }
  if (!parley) return 1;
  process.stdout.write(welcome(parley));
  const end = await Promise.race([untilStopped(parley, stopped, log), broken]);
  if (end !== "broken") return end;
  await cleanUpWithinLimit(() => parley.close(), { clock: systemClock, log });
  return EXIT_SOFTWARE_ERROR;
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

function serveHelp(): string {
  const rows = describeConfig().map(
    ({ name, meaning, defaultText }) => `  ${name}\n      ${meaning}\n      Default: ${defaultText}`,
  );
  return `Usage: parley serve

Starts the server. Everything is set by environment variables, or by a .env file in the current
directory; the environment wins.

${rows.join("\n")}
`;
}
