/**
 * The agent program, started by `parley agent` or by a server for a local workspace (program.ts). Listens, or dials out to a server, until it is
 * stopped (SIGTERM, SIGINT, SIGHUP, or the end of stdin); then ends all its commands and exits.
 */
import { homedir } from "node:os";
import { systemClock, type Clock } from "../lib/clock.js";
import { EXIT_SOFTWARE_ERROR, cleanUpWithinLimit, untilUncaughtError } from "../lib/uncaught-errors.js";
import { createLog, type Log } from "../lib/log.js";
import { createAgent } from "./agent.js";
import { HiddenFolders } from "./files/hidden-folders.js";
import { openEndpoint } from "./endpoint.js";
import { inheritedEnvironment } from "./process/environment.js";
import { AGENT_USAGE, loadSettings, SettingsError, type AgentSettings } from "./settings.js";

const STOP_SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
const EXIT_BAD_USAGE = 2;

/** Runs until stopped. Resolves to the exit code, with which the caller must end the program. */
export async function runAgent(argv: readonly string[], clock: Clock = systemClock): Promise<number> {
  let settings: AgentSettings | "help";
  try {
    settings = loadSettings(argv);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    process.stderr.write(`${error.message}\n\n${AGENT_USAGE}`);
    return EXIT_BAD_USAGE;
  }
  if (settings === "help") {
    process.stdout.write(AGENT_USAGE);
    return 0;
  }
  const log = createLog(settings.logLevel, "parley-agent");
  warnOfZombies(process.pid, log);
  return serve(settings, clock, log);
}

type Stop = { reason: string; exitCode: number };

async function serve(settings: AgentSettings, clock: Clock, log: Log): Promise<number> {
  const stopped = watchForStop(settings.exitsWithStdin, log);
  const { directory } = settings;
  const agent = createAgent({
    directory,
    hiddenFolders: await HiddenFolders.resolve(settings.hiddenDirectories, directory),
    homeDirectory: homedir(),
    contextPaths: settings.contextPaths,
    environment: inheritedEnvironment(settings.commandVariables),
    commandNice: settings.commandNice,
    processLimits: settings.processLimits,
    clock,
    log,
  });
  const endpoint = await openEndpoint({
    agent,
    endpoint: settings.endpoint,
    token: settings.token,
    print: (line) => process.stdout.write(`${JSON.stringify(line)}\n`),
    clock,
    log,
  });
  agent.mcpServers.start();
  const { reason, exitCode } = await stopped;
  log.info({ reason }, "workspace agent stopping");
  // Processes first: requests that wait for them complete when they end.
  const close = async () => {
    await agent.close();
    await endpoint.close();
  };
  // After an uncaught error the agent still tries to end its commands, as nothing else knows them; it may fail.
  await (exitCode === EXIT_SOFTWARE_ERROR ? cleanUpWithinLimit(close, { clock, log }) : close());
  return exitCode;
}

/** Orphans become children of process 1, and Node cannot reap children that it did not start. */
function warnOfZombies(pid: number, log: Log): void {
  if (pid !== 1) return;
  log.warn(
    "The agent is process 1 and cannot reap orphans: start it under an init (`docker run --init`, tini)",
  );
}

function watchForStop(exitsWithStdin: boolean, log: Log): Promise<Stop> {
  return new Promise((resolve) => {
    for (const signal of STOP_SIGNALS) process.on(signal, () => resolve({ reason: signal, exitCode: 0 }));
    void untilUncaughtError(log, "The workspace agent").then(() =>
      resolve({ reason: "uncaught error", exitCode: EXIT_SOFTWARE_ERROR }),
    );
    if (!exitsWithStdin) return;
    for (const event of ["end", "close", "error"]) {
      process.stdin.once(event, () => resolve({ reason: "stdin closed", exitCode: 0 }));
    }
    process.stdin.resume();
  });
}
