/**
 * The agent program: `parley agent`, or this file started directly. Listens until it is told to stop (SIGTERM,
 * SIGINT, SIGHUP, or the end of stdin), then ends all its commands and exits.
 */
import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { fileURLToPath } from "node:url";
import { systemClock } from "../lib/clock.js";
import { createLog, type Log } from "../lib/log.js";
import { createAgent } from "./agent.js";
import { createAgentServer } from "./http.js";
import { inheritedEnvironment } from "./process/environment.js";
import type { ListeningLine } from "./protocol.js";
import { AGENT_USAGE, loadSettings, SettingsError, type AgentSettings } from "./settings.js";

/** Nobody but this machine may reach an agent without a tunnel. */
const HOST = "127.0.0.1";
const STOP_SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
const EXIT_BAD_USAGE = 2;

/** Runs until told to stop. Resolves to the exit code, with which the caller must end the program. */
export async function runAgent(argv: readonly string[]): Promise<number> {
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
  return serve(settings, createLog(settings.logLevel, "parley-agent"));
}

type Stop = { reason: string; exitCode: number };

async function serve(settings: AgentSettings, log: Log): Promise<number> {
  const stopped = watchForStop(settings.exitsWithStdin, log);
  const agent = createAgent({
    directory: settings.directory,
    homeDirectory: homedir(),
    contextPaths: settings.contextPaths,
    environment: inheritedEnvironment(),
    clock: systemClock,
    log,
  });
  const server = createAgentServer({ agent, token: settings.token, log });
  const url = await server.listen({ host: HOST, port: settings.port });
  const line: ListeningLine = { event: "listening", url, instanceId: agent.health().instanceId };
  process.stdout.write(`${JSON.stringify(line)}\n`);
  const { reason, exitCode } = await stopped;
  log.info({ reason }, "The workspace agent stops");
  // Processes first: their end wakes the requests that wait for them.
  await agent.close();
  await server.close();
  return exitCode;
}

function watchForStop(exitsWithStdin: boolean, log: Log): Promise<Stop> {
  return new Promise((resolve) => {
    for (const signal of STOP_SIGNALS) process.on(signal, () => resolve({ reason: signal, exitCode: 0 }));
    // A broken agent must still end its commands: nobody else knows them.
    process.on("uncaughtException", (error) => {
      log.fatal({ err: error }, "The workspace agent broke");
      resolve({ reason: "uncaught exception", exitCode: 1 });
    });
    if (!exitsWithStdin) return;
    for (const event of ["end", "close", "error"]) {
      process.stdin.once(event, () => resolve({ reason: "stdin closed", exitCode: 0 }));
    }
    process.stdin.resume();
  });
}

function isStartedDirectly(): boolean {
  const script = process.argv[1];
  return (
    script !== undefined && existsSync(script) && realpathSync(script) === fileURLToPath(import.meta.url)
  );
}

if (isStartedDirectly()) process.exit(await runAgent(process.argv.slice(2)));
