// The soak's real deployment: the built program in several processes on one PostgreSQL, killed and started again.
import { readdir, readFile, readlink } from "node:fs/promises";
import pg from "pg";
import { startDemoModel } from "../../src/demo-model/server.js";
import { sleep, systemClock } from "../../src/lib/clock.js";
import { createGitRepository } from "../support/git/git-repository.js";
import { startRedis, type TestRedis } from "../support/network/redis.js";
import type { Chance, Tally } from "./chance.js";
import type { DatabaseTrouble } from "./database-trouble.js";
import { type AnswerAsModel, type Deployment, SMALL_CONTEXT } from "./deployment.js";
import { endServer, environmentOf, freeze, type Server, ServerWords, startServer } from "./server-process.js";
import { Storm, type Weather } from "./storm.js";
import { CONTEXT_LIMIT_TOKENS } from "./vendor.js";

/** A struck server stays away at most so long. */
const LONGEST_ABSENCE_MS = 1_500;
/** Longer than the sweep by which servers find what no news told them. */
export const REDIS_ABSENCE_MS = 20_000;
/** Shorter than a server's own, so that a killed one's chats go on soon. */
const DEFAULT_LEASE_MS = 3_000;
/** What an ended server's agents and their commands have to be gone after. */
const AFTERLIFE_MS = 15_000;

/** How often each kind of strike comes, against the others. */
const STRIKES = {
  mixed: { SIGKILL: 6, SIGTERM: 2, SIGSTOP: 2, "Redis away": 1 },
  kill: { SIGKILL: 1, SIGTERM: 0, SIGSTOP: 0, "Redis away": 0 },
} as const;
export type StrikeKind = keyof typeof STRIKES;

export type ProcessOptions = {
  servers: number;
  /** An empty database for all of them, or one that is struck too; it is closed with the rest. */
  database: string | DatabaseTrouble;
  /** Of all of them; absent = 3 s. */
  leaseMs?: number;
  /** The servers hear of each other through a Redis. */
  withRedis: boolean;
  /** False: Redis goes away only by `stopRedis`. */
  isRedisStruck: boolean;
  /** How long Redis stays away. */
  redisAbsenceMs: number;
  strikes: StrikeKind;
  /** Null = clients and servers reach each other, and Redis, without anything between them. */
  weather: Weather | null;
  answer: AnswerAsModel;
  tally: Tally;
};

export async function openProcesses(options: ProcessOptions): Promise<Deployment> {
  const { servers, answer, tally, leaseMs = DEFAULT_LEASE_MS } = options;
  const words = new ServerWords(tally);
  const complain = (sentence: string) => void words.complaints.push(sentence);
  const storm = options.weather ? new Storm({ weather: options.weather, tally, complain }) : null;
  const redis = options.withRedis ? await startRedis() : null;
  const [repository, demo] = await Promise.all([
    createGitRepository(),
    startDemoModel({ host: "127.0.0.1", port: 0, script: answer }),
  ]);
  const { databaseUrl, query, trouble, closeDatabase } = openSight(options.database, complain);
  const environment = {
    ...environmentOf({ databaseUrl, modelUrl: demo.url, folder: repository.folder, leaseMs }),
    ...(redis ? { REDIS_URL: storm ? await storm.coverRedis(redis.url) : redis.url } : {}),
  };
  const start = (place: number) => {
    const coverUrl = async (url: string) => (storm ? storm.coverServer(place, url) : url);
    return startServer({ environment, cwd: repository.folder, words, coverUrl });
  };
  const first = await start(0);
  await query(SMALL_CONTEXT, [CONTEXT_LIMIT_TOKENS]);
  const others = Array.from({ length: servers - 1 }, (_, index) => start(index + 1));
  const fleet = new Fleet([first, ...(await Promise.all(others))], start);
  const [workspace] = await query<{ id: string }>("SELECT 'ws_' || id AS id FROM workspaces");
  const { modelConfigs } = await first.api.get<{ modelConfigs: { id: string }[] }>("{ modelConfigs { id } }");
  storm?.begin();
  trouble?.begin();
  return {
    workspaceId: workspace?.id ?? "",
    modelConfigIds: modelConfigs.map(({ id }) => id),
    query,
    tellsLists: true,
    server: (chance) => fleet.pick(chance),
    async strike(chance) {
      const weights = { ...STRIKES[options.strikes] };
      const kind = chance.weighted(
        redis && options.isRedisStruck ? weights : { ...weights, "Redis away": 0 },
      );
      if (kind === "Redis away") await takeAway(redis, options.redisAbsenceMs);
      else await fleet.strike(kind, chance);
      return kind;
    },
    stopRedis: () => takeAway(redis, options.redisAbsenceMs),
    calm: async () => void (await Promise.all([storm?.calm(), trouble?.calm()])),
    explainedRepeats: () => words.explainedRepeats,
    livingWorkers: () => fleet.servers.length,
    remarks: async () => [
      ...(await memoryOf(fleet.servers.map(({ child }) => child.pid ?? 0))),
      ...words.summary(),
    ],
    complaints: () => words.complaints,
    async close() {
      await Promise.all(fleet.servers.map((server) => endServer(server, "SIGTERM")));
      const left = await untilGone(repository.folder);
      await Promise.all([closeDatabase(), demo.close(), storm?.close()]);
      await Promise.all([repository.remove(), redis?.stop()]);
      return left.map((process) => `A process was left behind: ${process}`);
    },
  };
}

/** How the servers find the database, and how the soak itself looks at it. */
function openSight(database: string | DatabaseTrouble, complain: (sentence: string) => void) {
  if (typeof database !== "string") {
    const query: Deployment["query"] = (text, values) => database.query(text, values);
    return { databaseUrl: database.url, query, trouble: database, closeDatabase: () => database.close() };
  }
  const pool = new pg.Pool({ connectionString: database, max: 4 });
  // The database goes while idle connections to it are still being closed.
  let isClosing = false;
  pool.on("error", (error) => isClosing || complain(`The database: ${error.message}`));
  const query = async <Row>(text: string, values: unknown[] = []) =>
    (await pool.query(text, values)).rows as Row[];
  const closeDatabase = () => {
    isClosing = true;
    return pool.end();
  };
  return { databaseUrl: database, query, trouble: null, closeDatabase };
}

/** The servers, each in its place whichever process it is. */
class Fleet {
  constructor(
    readonly servers: Server[],
    private readonly start: (place: number) => Promise<Server>,
  ) {}

  pick(chance: Chance): Server["api"] {
    const up = this.servers.filter(({ isUp }) => isUp);
    return chance.pick(up.length > 0 ? up : this.servers).api;
  }

  async strike(kind: "SIGKILL" | "SIGTERM" | "SIGSTOP", chance: Chance): Promise<void> {
    const place = chance.below(this.servers.length);
    const struck = this.servers[place];
    if (!struck) return;
    if (kind === "SIGSTOP") return freeze(struck);
    await endServer(struck, kind);
    await sleep(systemClock, chance.below(LONGEST_ABSENCE_MS));
    this.servers[place] = await this.start(place);
  }
}

async function takeAway(redis: TestRedis | null, absenceMs: number): Promise<void> {
  await redis?.kill();
  await sleep(systemClock, absenceMs);
  await redis?.restart();
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
