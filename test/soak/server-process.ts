// A server process of the soak: starts, freezes and ends the built program, and reads its logs.
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { sleep, systemClock } from "../../src/lib/clock.js";
import { ApiClient } from "../support/clients/api-client.js";
import { SECRETS_KEYS } from "../support/users/secrets-keys.js";
import type { Tally } from "./chance.js";

const root = resolve(import.meta.dirname, "../..");
const SERVER = join(root, "dist/bin/server.js");
const TOKEN = "pt_admin_token_of_the_soak";
const LISTENING = /^Parley listens on (\S+)\/graphql/;
/** Ends the server with the soak's process. */
const END_WITH_PARENT = `data:text/javascript,process.on("disconnect",()=>process.kill(process.pid,"SIGTERM"))`;
const HEARTBEATS_PER_LEASE = 4;
/** More than a lease of 3 s and a heartbeat. */
const FROZEN_MS = 5_000;

export type Server = { api: ApiClient; child: ChildProcess; isUp: boolean };

/** Start options of all servers. `proxyUrl` returns the URL by which clients reach a server. */
export type ServerOptions = {
  environment: Record<string, string>;
  cwd: string;
  logs: ServerLogs;
  proxyUrl(url: string): Promise<string>;
};

export function environmentOf(facts: {
  databaseUrl: string;
  modelUrl: string;
  folder: string;
  leaseMs: number;
}): Record<string, string> {
  return {
    DATABASE_URL: facts.databaseUrl,
    PARLEY_SECRETS_KEYS: SECRETS_KEYS,
    PARLEY_PORT: "0",
    PARLEY_ADMIN_TOKEN: TOKEN,
    PARLEY_WORKSPACE_DIR: facts.folder,
    PARLEY_LOG_LEVEL: "info",
    PARLEY_TITLES: "off",
    PARLEY_RATE_LIMITS: "off",
    // All users of a soak share one token.
    PARLEY_USER_OPERATIONS: "1000",
    PARLEY_LEASE_MS: String(facts.leaseMs),
    PARLEY_HEARTBEAT_MS: String(Math.floor(facts.leaseMs / HEARTBEATS_PER_LEASE)),
    PARLEY_MODEL_STARTUP_TIMEOUT_MS: "1500",
    PARLEY_MODEL_STALL_TIMEOUT_MS: "1500",
    ANTHROPIC_API_KEY: "key-of-the-soak",
    ANTHROPIC_BASE_URL: facts.modelUrl,
    OPENAI_API_KEY: "key-of-the-soak",
    OPENAI_BASE_URL: `${facts.modelUrl}/v1`,
    GEMINI_API_KEY: "key-of-the-soak",
    GOOGLE_GEMINI_BASE_URL: facts.modelUrl,
  };
}

export async function startServer(options: ServerOptions): Promise<Server> {
  const { environment, cwd, logs, proxyUrl } = options;
  const child = fork(SERVER, ["serve"], {
    execArgv: ["--import", END_WITH_PARENT],
    cwd,
    env: { PATH: process.env["PATH"] ?? "", HOME: cwd, ...environment },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  let lastLine = "";
  if (child.stderr)
    createInterface({ input: child.stderr }).on("line", (line) => {
      lastLine = line.slice(0, 2_000);
      logs.read(line);
    });
  const url = await new Promise<string>((found, failed) => {
    if (child.stdout)
      createInterface({ input: child.stdout }).on("line", (line) => {
        const address = LISTENING.exec(line)?.[1];
        if (address !== undefined) found(address);
      });
    child.once("exit", (code) =>
      failed(new Error(`server exited before it listened (code ${code}): ${lastLine}`)),
    );
  });
  return { api: new ApiClient(await proxyUrl(url), TOKEN), child, isUp: true };
}

/** Pauses the process for longer than its lease: it loses its chats without noticing, and then continues. */
export async function freeze(server: Server): Promise<void> {
  server.isUp = false;
  server.child.kill("SIGSTOP");
  await sleep(systemClock, FROZEN_MS);
  server.child.kill("SIGCONT");
  server.isUp = true;
}

export async function endServer(server: Server, signal: NodeJS.Signals): Promise<void> {
  const { child } = server;
  server.isUp = false;
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill(signal);
  await gone;
}

/** Counts the servers' log messages; those that only a bug can cause are complaints. */
export class ServerLogs {
  readonly complaints: string[] = [];
  /** Model calls that had to be repeated, one per lost or failed attempt. */
  explainedRepeats = 0;
  readonly #errors = new Set<string>();

  constructor(private readonly tally: Tally) {}

  read(line: string): void {
    const entry = parse(line);
    const message = (typeof entry?.["msg"] === "string" ? entry["msg"] : line).slice(0, 120);
    this.tally.add("servers logged", message);
    if (entry === null || Number(entry["level"]) >= ERROR_LEVEL) this.#errors.add(line.slice(0, 600));
    if (REPEAT_MESSAGES.test(message)) this.explainedRepeats += Number(entry?.["chats"] ?? 1);
    if (message.startsWith("run failed with an exception")) this.complaints.push(line.slice(0, 2_000));
  }

  summary(): string[] {
    return [...this.#errors].slice(0, 20).map((line) => `logged: ${line}`);
  }
}

/** Log messages about one lost or failed attempt, or `chats` of them, after which the model call is repeated. */
const REPEAT_MESSAGES =
  /^(claimed chat of a lost worker|database unavailable during a turn|worker closing; running chats|model call failed)/;
/** Pino's numeric level. */
const ERROR_LEVEL = 50;

function parse(line: string): Record<string, unknown> | null {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return null;
  }
}
