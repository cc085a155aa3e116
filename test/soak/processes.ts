// Real deployment of the soak: the built program in several processes on one PostgreSQL, killed and restarted.
import { readdir, readFile, readlink } from "node:fs/promises";
import pg from "pg";
import { startDemoModel } from "../../src/demo-model/server.js";
import { sleep, systemClock } from "../../src/lib/clock.js";
import { createGitRepository } from "../support/git/git-repository.js";
import { startRedis, type TestRedis } from "../support/network/redis.js";
import type { Chance, Tally } from "./chance.js";
import type { DatabaseFaults } from "./database-faults.js";
import { type AnswerAsModel, type Deployment, SMALL_CONTEXT } from "./deployment.js";
import { endServer, environmentOf, freeze, type Server, ServerLogs, startServer } from "./server-process.js";
import { NetworkFaults, type NetworkFaultOptions } from "./network-faults.js";
import { CONTEXT_LIMIT_TOKENS } from "./vendor.js";

/** Longest time before a killed server is restarted. */
const LONGEST_ABSENCE_MS = 1_500;
/** Longer than the interval of the sweep by which servers find changes without events. */
export const REDIS_ABSENCE_MS = 20_000;
/** Shorter than the default, so that a killed server's chats continue soon. */
const DEFAULT_LEASE_MS = 3_000;
/** Time in which an ended server's agents and their commands must be gone. */
const AFTERLIFE_MS = 15_000;

/** Relative frequency of each fault. */
const STRIKES = {
  mixed: { SIGKILL: 6, SIGTERM: 2, SIGSTOP: 2, "Redis away": 1 },
  kill: { SIGKILL: 1, SIGTERM: 0, SIGSTOP: 0, "Redis away": 0 },
} as const;
export type StrikeKind = keyof typeof STRIKES;

export type ProcessOptions = {
  servers: number;
  /** An empty database for all of them, or one with faults; it is closed with the rest. */
  database: string | DatabaseFaults;
  /** Lease of all servers; absent = 3 s. */
  leaseMs?: number;
  /** Whether the servers share a Redis. */
  withRedis: boolean;
  /** Whether Redis is among the random faults; false = only `stopRedis` stops it. */
  isRedisStruck: boolean;
  /** How long Redis stays stopped. */
  redisAbsenceMs: number;
  strikes: StrikeKind;
  /** Null = no proxies between clients, servers and Redis. */
  networkFaults: NetworkFaultOptions | null;
  answer: AnswerAsModel;
  tally: Tally;
};

export async function openProcesses(options: ProcessOptions): Promise<Deployment> {
  const { servers, answer, tally, leaseMs = DEFAULT_LEASE_MS } = options;
  const logs = new ServerLogs(tally);
  const complain = (sentence: string) => void logs.complaints.push(sentence);
  const network = options.networkFaults
    ? new NetworkFaults({ options: options.networkFaults, tally, complain })
    : null;
  const redis = options.withRedis ? await startRedis() : null;
  const [repository, demo] = await Promise.all([
    createGitRepository(),
    startDemoModel({ host: "127.0.0.1", port: 0, script: answer }),
  ]);
  const { databaseUrl, query, faults, closeDatabase } = connectToDatabase(options.database, complain);
  const environment = {
    ...environmentOf({ databaseUrl, modelUrl: demo.url, folder: repository.folder, leaseMs }),
    ...(redis ? { REDIS_URL: network ? await network.proxyRedis(redis.url) : redis.url } : {}),
  };
  const start = (index: number) => {
    const proxyUrl = async (url: string) => (network ? network.proxyServer(index, url) : url);
    return startServer({ environment, cwd: repository.folder, logs, proxyUrl });
  };
  const first = await start(0);
  await query(SMALL_CONTEXT, [CONTEXT_LIMIT_TOKENS]);
  const others = Array.from({ length: servers - 1 }, (_, index) => start(index + 1));
  const fleet = new Fleet([first, ...(await Promise.all(others))], start);
  const [workspace] = await query<{ id: string }>("SELECT 'ws_' || id AS id FROM workspaces");
  const { modelConfigs } = await first.api.get<{ modelConfigs: { id: string }[] }>("{ modelConfigs { id } }");
  network?.begin();
  faults?.begin();
  return {
    workspaceId: workspace?.id ?? "",
    modelConfigIds: modelConfigs.map(({ id }) => id),
    query,
    hasListEvents: true,
    server: (chance) => fleet.pick(chance),
    async strike(chance) {
      const weights = { ...STRIKES[options.strikes] };
      const kind = chance.weighted(
        redis && options.isRedisStruck ? weights : { ...weights, "Redis away": 0 },
      );
      if (kind === "Redis away") await stopFor(redis, options.redisAbsenceMs);
      else await fleet.strike(kind, chance);
      return kind;
    },
    stopRedis: () => stopFor(redis, options.redisAbsenceMs),
    calm: async () => void (await Promise.all([network?.calm(), faults?.calm()])),
    explainedRepeats: () => logs.explainedRepeats,
    livingWorkers: () => fleet.servers.length,
    remarks: async () => [
      ...(await memoryOf(fleet.servers.map(({ child }) => child.pid ?? 0))),
      ...logs.summary(),
    ],
    complaints: () => logs.complaints,
    async close() {
      await Promise.all(fleet.servers.map((server) => endServer(server, "SIGTERM")));
      const left = await untilGone(repository.folder);
      await Promise.all([closeDatabase(), demo.close(), network?.close()]);
      await Promise.all([repository.remove(), redis?.stop()]);
      return left.map((process) => `process left behind: ${process}`);
    },
  };
}

/** The database's URL for the servers, and the soak's own connection, which has no faults. */
function connectToDatabase(database: string | DatabaseFaults, complain: (sentence: string) => void) {
  if (typeof database !== "string") {
    const query: Deployment["query"] = (text, values) => database.query(text, values);
    return { databaseUrl: database.url, query, faults: database, closeDatabase: () => database.close() };
  }
  const pool = new pg.Pool({ connectionString: database, max: 4 });
  // The database may close while idle connections to it are still being closed.
  let isClosing = false;
  pool.on("error", (error) => isClosing || complain(`database error: ${error.message}`));
  const query = async <Row>(text: string, values: unknown[] = []) =>
    (await pool.query(text, values)).rows as Row[];
  const closeDatabase = () => {
    isClosing = true;
    return pool.end();
  };
  return { databaseUrl: database, query, faults: null, closeDatabase };
}

/** The servers by index, which a restarted process keeps. */
class Fleet {
  constructor(
    readonly servers: Server[],
    private readonly start: (index: number) => Promise<Server>,
  ) {}

  pick(chance: Chance): Server["api"] {
    const up = this.servers.filter(({ isUp }) => isUp);
    return chance.pick(up.length > 0 ? up : this.servers).api;
  }

  async strike(kind: "SIGKILL" | "SIGTERM" | "SIGSTOP", chance: Chance): Promise<void> {
    const index = chance.below(this.servers.length);
    const struck = this.servers[index];
    if (!struck) return;
    if (kind === "SIGSTOP") return freeze(struck);
    await endServer(struck, kind);
    await sleep(systemClock, chance.below(LONGEST_ABSENCE_MS));
    this.servers[index] = await this.start(index);
  }
}

async function stopFor(redis: TestRedis | null, absenceMs: number): Promise<void> {
  await redis?.kill();
  await sleep(systemClock, absenceMs);
  await redis?.restart();
}

async function memoryOf(processIds: number[]): Promise<string[]> {
  const lines = await Promise.all(
    processIds.map(async (id) => {
      const status = await readFile(`/proc/${id}/status`, "utf8").catch(() => "");
      const kilobytes = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0);
      return `server ${id} uses ${Math.round(kilobytes / 1024)} MB`;
    }),
  );
  return lines;
}

/** Waits until no process runs in the folder; returns those left after the time limit. Linux only. */
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
      const cwd = await readlink(`/proc/${id}/cwd`).catch(() => "");
      if (cwd !== folder && !cwd.startsWith(`${folder}/`)) return "";
      const command = await readFile(`/proc/${id}/cmdline`, "utf8").catch(() => "");
      return `${id} ${command.replaceAll("\0", " ")}`;
    }),
  );
  return found.filter((line) => line !== "");
}
