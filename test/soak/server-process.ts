// One server of the soak: the built program in a process of its own, how it is started, frozen and ended, and what it
// logs.
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
/** A server that nobody ends is ended with the soak. */
const END_WITH_PARENT = `data:text/javascript,process.on("disconnect",()=>process.kill(process.pid,"SIGTERM"))`;
const HEARTBEATS_PER_LEASE = 4;
/** More than a lease of 3 s and a heartbeat. */
const FROZEN_MS = 5_000;

export type Server = { api: ApiClient; child: ChildProcess; isUp: boolean };

/** What all servers are started with. `coverUrl` tells how clients reach the server that listens at an address. */
export type ServerParts = {
  environment: Record<string, string>;
  cwd: string;
  words: ServerWords;
  coverUrl(url: string): Promise<string>;
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
    // All people of a soak show one token.
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

export async function startServer(parts: ServerParts): Promise<Server> {
  const { environment, cwd, words, coverUrl } = parts;
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
      words.hear(line);
    });
  const url = await new Promise<string>((found, failed) => {
    if (child.stdout)
      createInterface({ input: child.stdout }).on("line", (line) => {
        const address = LISTENING.exec(line)?.[1];
        if (address !== undefined) found(address);
      });
    child.once("exit", (code) =>
      failed(new Error(`A server ended before it listened (exit code ${code}): ${lastLine}`)),
    );
  });
  return { api: new ApiClient(await coverUrl(url), TOKEN), child, isUp: true };
}

/** Loses its chats to others without knowing it, and goes on in the middle of everything. */
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

/** What the servers log: counted; what only a bug can say is a complaint. */
export class ServerWords {
  readonly complaints: string[] = [];
  /** Model calls that had to be made once more: for each attempt that was lost or has failed. */
  explainedRepeats = 0;
  readonly #odd = new Map<string, number>();

  constructor(private readonly tally: Tally) {}

  hear(line: string): void {
    const said = parse(line);
    const message = (typeof said?.["msg"] === "string" ? said["msg"] : line).slice(0, 120);
    this.tally.add("servers logged", message);
    if (said === null || Number(said["level"]) >= ERROR_LEVEL) this.#odd.set(line.slice(0, 600), 1);
    if (REPEAT_WORDS.test(message)) this.explainedRepeats += Number(said?.["chats"] ?? 1);
    if (message.startsWith("A run ended with an exception")) this.complaints.push(line.slice(0, 2_000));
  }

  summary(): string[] {
    return [...this.#odd.keys()].slice(0, 20).map((line) => `logged: ${line}`);
  }
}

/** What is said of one attempt, or of `chats` of them, after which the model is asked again. */
const REPEAT_WORDS =
  /^(A chat was taken over from|The database was away during a turn|Running chats are handed back|A model call failed)/;
/** Of pino. */
const ERROR_LEVEL = 50;

function parse(line: string): Record<string, unknown> | null {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return null;
  }
}
