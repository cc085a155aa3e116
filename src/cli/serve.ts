/** `parley serve`: starts the server, greets, and ends it on a signal. */
import { parseArgs } from "node:util";
import { ConfigError, describeConfig, loadConfig, type Config } from "../config.js";
import { createLog, type Log } from "../lib/log.js";
import { startParley, type Parley } from "./parley.js";
import { welcome } from "./welcome.js";

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
  const stopped = nextSignal();
  const parley = await startOrExplain(config, log);
  if (!parley) return 1;
  process.stdout.write(welcome(parley));
  const signal = await stopped;
  log.info({ signal }, "Stopping; a second signal ends the process at once");
  const forced = nextSignal().then(() => "forced" as const);
  const end = await Promise.race([parley.close().then(() => "closed" as const), forced]);
  return end === "closed" ? 0 : 130;
}

/** Null after the problems were printed. */
export function readConfigOrExplain(): Config | null {
  try {
    return loadConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return null;
  }
}

async function startOrExplain(config: Config, log: Log): Promise<Parley | null> {
  try {
    return await startParley(config, log);
  } catch (error) {
    log.fatal({ err: error }, "Parley could not start");
    process.stderr.write(
      `Parley could not start: ${error instanceof Error ? error.message : String(error)}\n`,
    );
    return null;
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
