// The soak's real deployment: the built program in several processes on one PostgreSQL, killed and started again.
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, readlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import pg from "pg";
import { Databases } from "../../bench/databases.js";
import { startDemoModel } from "../../src/demo-model/server.js";
import { sleep, systemClock } from "../../src/lib/clock.js";
import { ApiClient } from "../support/api-client.js";
import { createGitRepository } from "../support/git-repository.js";
import { startRedis, type TestRedis } from "../support/redis.js";
import type { Tally } from "./chance.js";
import { type AnswerAsModel, type Deployment, SMALL_CONTEXT } from "./deployment.js";
import { CONTEXT_LIMIT_TOKENS } from "./vendor.js";

const root = resolve(import.meta.dirname, "../..");
const SERVER = join(root, "dist/src/server.js");
const TOKEN = "pt_admin_token_of_the_soak";
const LISTENING = /^Parley listens on (\S+)\/graphql/;
/** A server that nobody ends is ended with the soak. */
const END_WITH_PARENT = `data:text/javascript,process.on("disconnect",()=>process.kill(process.pid,"SIGTERM"))`;
/** A struck server stays away at most so long. */
const LONGEST_ABSENCE_MS = 1_500;
/** More than a lease and a heartbeat. */
const FROZEN_MS = 5_000;
/** Longer than the sweep by which servers find what no news told them. */
const REDIS_ABSENCE_MS = 20_000;
/** What an ended server's agents and their commands have to be gone after. */
const AFTERLIFE_MS = 15_000;

type Server = { api: ApiClient; child: ChildProcess; isUp: boolean };

/** `withRedis`: the servers hear of each other through a Redis, which is struck as they are. */
export type ProcessOptions = { servers: number; withRedis: boolean; answer: AnswerAsModel; tally: Tally };

export async function openProcesses(options: ProcessOptions): Promise<Deployment> {
  const { servers, withRedis, answer, tally } = options;
  const redis = withRedis ? await startRedis() : null;
  const [databases, repository, demo] = await Promise.all([
    Databases.open(),
    createGitRepository(),
    startDemoModel({ host: "127.0.0.1", port: 0, script: answer }),
  ]);
  const { url } = await databases.create("soak");
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  const words = new ServerWords(tally);
  // The database goes while idle connections to it are still being closed.
  let isClosing = false;
  pool.on("error", (error) => void (isClosing || words.complaints.push(`The database: ${error.message}`)));
  const environment = {
    ...environmentOf({ databaseUrl: url, modelUrl: demo.url, folder: repository.folder }),
    ...(redis ? { REDIS_URL: redis.url } : {}),
  };
  const start = () => startServer(environment, repository.folder, words);
  const first = await start();
  await pool.query(SMALL_CONTEXT, [CONTEXT_LIMIT_TOKENS]);
  const fleet = [first, ...(await Promise.all(Array.from({ length: servers - 1 }, start)))];
  const query = async <Row>(text: string, values: unknown[] = []) =>
    (await pool.query(text, values)).rows as Row[];
  const [workspace] = await query<{ id: string }>("SELECT 'ws_' || id AS id FROM workspaces");
  const { modelConfigs } = await first.api.get<{ modelConfigs: { id: string }[] }>("{ modelConfigs { id } }");
  return {
    workspaceId: workspace?.id ?? "",
    modelConfigIds: modelConfigs.map(({ id }) => id),
    query,
    server(chance) {
      const up = fleet.filter(({ isUp }) => isUp);
      return chance.pick(up.length > 0 ? up : fleet).api;
    },
    async strike(chance) {
      const place = chance.below(fleet.length);
      const struck = fleet[place];
      const kind = chance.weighted({ SIGKILL: 6, SIGTERM: 2, SIGSTOP: 2, "Redis away": redis ? 1 : 0 });
      if (!struck) return "nothing";
      if (kind === "Redis away") await takeAway(redis);
      else if (kind === "SIGSTOP") await freeze(struck);
      else {
        await endServer(struck, kind);
        await sleep(systemClock, chance.below(LONGEST_ABSENCE_MS));
        fleet[place] = await start();
      }
      return kind;
    },
    livingWorkers: () => fleet.length,
    remarks: async () => [...(await memoryOf(fleet.map(({ child }) => child.pid ?? 0))), ...words.summary()],
    complaints: () => words.complaints,
    async close() {
      await Promise.all(fleet.map((server) => endServer(server, "SIGTERM")));
      const left = await untilGone(repository.folder);
      isClosing = true;
      await Promise.all([pool.end(), demo.close()]);
      await Promise.all([databases.close(), repository.remove(), redis?.stop()]);
      return left.map((process) => `A process was left behind: ${process}`);
    },
  };
}

function environmentOf(facts: {
  databaseUrl: string;
  modelUrl: string;
  folder: string;
}): Record<string, string> {
  return {
    DATABASE_URL: facts.databaseUrl,
    PARLEY_PORT: "0",
    PARLEY_ADMIN_TOKEN: TOKEN,
    PARLEY_WORKSPACE_DIR: facts.folder,
    PARLEY_LOG_LEVEL: "warn",
    PARLEY_TITLES: "off",
    PARLEY_LEASE_MS: "3000",
    PARLEY_HEARTBEAT_MS: "700",
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

async function startServer(
  environment: Record<string, string>,
  cwd: string,
  words: ServerWords,
): Promise<Server> {
  const child = fork(SERVER, ["serve"], {
    execArgv: ["--import", END_WITH_PARENT],
    cwd,
    env: { PATH: process.env["PATH"] ?? "", HOME: cwd, ...environment },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  if (child.stderr) createInterface({ input: child.stderr }).on("line", (line) => words.hear(line));
  const url = await new Promise<string>((found, failed) => {
    if (child.stdout)
      createInterface({ input: child.stdout }).on("line", (line) => {
        const address = LISTENING.exec(line)?.[1];
        if (address !== undefined) found(address);
      });
    child.once("exit", (code) => failed(new Error(`A server ended before it listened (exit code ${code}).`)));
  });
  return { api: new ApiClient(url, TOKEN), child, isUp: true };
}

async function takeAway(redis: TestRedis | null): Promise<void> {
  await redis?.kill();
  await sleep(systemClock, REDIS_ABSENCE_MS);
  await redis?.restart();
}

/** Loses its chats to others without knowing it, and goes on in the middle of everything. */
async function freeze(server: Server): Promise<void> {
  server.isUp = false;
  server.child.kill("SIGSTOP");
  await sleep(systemClock, FROZEN_MS);
  server.child.kill("SIGCONT");
  server.isUp = true;
}

async function endServer(server: Server, signal: NodeJS.Signals): Promise<void> {
  const { child } = server;
  server.isUp = false;
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill(signal);
  await gone;
}

/** What the servers log: counted; what only a bug can say is a complaint. */
class ServerWords {
  readonly complaints: string[] = [];
  readonly #odd = new Map<string, number>();

  constructor(private readonly tally: Tally) {}

  hear(line: string): void {
    const said = parse(line);
    const message = (typeof said?.["msg"] === "string" ? said["msg"] : line).slice(0, 120);
    this.tally.add("servers logged", message);
    if (said === null || Number(said["level"]) >= ERROR_LEVEL) this.#odd.set(line.slice(0, 600), 1);
    if (message.startsWith("A run ended with an exception")) this.complaints.push(line.slice(0, 2_000));
  }

  summary(): string[] {
    return [...this.#odd.keys()].slice(0, 20).map((line) => `logged: ${line}`);
  }
}

/** Of pino. */
const ERROR_LEVEL = 50;

function parse(line: string): Record<string, unknown> | null {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return null;
  }
}

async function memoryOf(processIds: number[]): Promise<string[]> {
  const lines = await Promise.all(
    processIds.map(async (id) => {
      const status = await readFile(`/proc/${id}/status`, "utf8").catch(() => "");
      const kilobytes = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0);
      return `server ${id} holds ${Math.round(kilobytes / 1024)} MB`;
    }),
  );
  return lines;
}

/** Processes at work in the folder, as soon as there is none, or when they have had their time. Linux only. */
async function untilGone(folder: string): Promise<string[]> {
  const deadline = Date.now() + AFTERLIFE_MS;
  for (;;) {
    const left = await processesIn(folder);
    if (left.length === 0 || Date.now() > deadline) return left;
    await sleep(systemClock, 100);
  }
}

async function processesIn(folder: string): Promise<string[]> {
  const ids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    ids.map(async (id) => {
      const place = await readlink(`/proc/${id}/cwd`).catch(() => "");
      if (place !== folder && !place.startsWith(`${folder}/`)) return "";
      const words = await readFile(`/proc/${id}/cmdline`, "utf8").catch(() => "");
      return `${id} ${words.replaceAll("\0", " ")}`;
    }),
  );
  return found.filter((line) => line !== "");
}
