// Database faults: a PostgreSQL of the soak's own, with connections broken at random, and which is randomly slow,
// unresponsive, locked or restarted. Servers connect through a proxy; the soak itself connects directly. Every choice
// derives from the seed.
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Transform } from "node:stream";
import pg from "pg";
import { sleep, systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import {
  type EmbeddedPostgres,
  openEmbeddedPostgres,
} from "../../src/store/embedded-postgres/embedded-postgres.js";
import { isOutage } from "../../src/store/common/outages.js";
import { SocketProxy } from "../support/network/socket-proxy.js";
import { Chance, type Tally } from "./chance.js";

/** `everyMs`: mean milliseconds between two faults. `leaseMs`: the servers' lease. */
export type DatabaseFaultOptions = { seed: number; everyMs: number; leaseMs: number; tally: Tally };

/** Relative frequency of each fault. */
const STRIKES = {
  "one connection broken": 12,
  "all connections broken": 2,
  slow: 3,
  silent: 1,
  locked: 1,
  restarted: 2,
} as const;

/** Delay of each chunk in both directions while the database is slow. */
const SLOW_CHUNK_MS = 250;
/** The soak's own queries are retried for this long. */
const QUERY_TIMEOUT_MS = 60_000;
const RETRY_DELAY_MS = 50;

export class DatabaseFaults {
  readonly #calm = new AbortController();
  #striking = Promise.resolve();
  #chunkDelayMs = 0;
  #silentUntil = 0;

  private constructor(
    private readonly options: DatabaseFaultOptions,
    private readonly folder: string,
    private readonly postgres: EmbeddedPostgres,
    private readonly pool: pg.Pool,
  ) {}

  #proxy: SocketProxy | undefined;

  static async open(options: DatabaseFaultOptions): Promise<DatabaseFaults> {
    const folder = await mkdtemp(join(tmpdir(), "parley-soak-"));
    // When root runs the soak, PostgreSQL runs as another user that needs access.
    await chmod(folder, 0o755);
    const log = createLog("silent");
    const postgres = await openEmbeddedPostgres({ dataDir: folder, systemDir: folder, durable: false, log });
    const { host, port, user, database } = postgres;
    const pool = new pg.Pool({ host, port, user, database, max: 4 });
    pool.on("error", () => undefined);
    pool.on("connect", (client) => client.on("error", () => undefined));
    const faults = new DatabaseFaults(options, folder, postgres, pool);
    const stage = () => faults.#stage();
    const path = `${host}/.s.PGSQL.${port}`;
    faults.#proxy = await SocketProxy.start({ port: path, toServer: stage, toClient: stage });
    return faults;
  }

  /** URL for the servers. */
  get url(): string {
    return `postgres://${this.postgres.user}@127.0.0.1:${this.#proxy?.port ?? 0}/${this.postgres.database}`;
  }

  /** Starts the faults. */
  begin(): void {
    this.#striking = this.#strike();
  }

  /** Stops the faults; resolves when the last one is over. */
  async calm(): Promise<void> {
    this.#calm.abort();
    await this.#striking;
  }

  async close(): Promise<void> {
    await this.calm();
    await Promise.all([this.pool.end(), this.#proxy?.close()]);
    await this.postgres.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** The soak's own query, retried during faults. */
  async query<Row>(text: string, values: unknown[] = []): Promise<Row[]> {
    for (const deadline = Date.now() + QUERY_TIMEOUT_MS; ;) {
      try {
        return (await this.pool.query(text, values)).rows as Row[];
      } catch (error) {
        if (!isOutage(error) || Date.now() > deadline) throw error;
        await sleep(systemClock, RETRY_DELAY_MS);
      }
    }
  }

  async #strike(): Promise<void> {
    const { seed, everyMs, tally } = this.options;
    const chance = Chance.of(seed, "database");
    for (;;) {
      await sleep(systemClock, everyMs / 2 + chance.below(everyMs), this.#calm.signal);
      if (this.#calm.signal.aborted) return;
      const kind = chance.weighted(STRIKES);
      tally.add("database faults", kind);
      await this.#inject(kind);
    }
  }

  /** Faults with a duration last longer than a lease. */
  async #inject(kind: keyof typeof STRIKES): Promise<void> {
    const durationMs = 1.3 * this.options.leaseMs;
    switch (kind) {
      case "one connection broken":
        return this.#breakConnections("ORDER BY random() LIMIT 1");
      case "all connections broken":
        return this.#breakConnections("");
      case "slow":
        this.#chunkDelayMs = SLOW_CHUNK_MS;
        await sleep(systemClock, durationMs);
        this.#chunkDelayMs = 0;
        return;
      case "silent":
        this.#silentUntil = Date.now() + durationMs;
        return sleep(systemClock, durationMs);
      case "locked":
        return this.#lock(durationMs);
      case "restarted":
        return this.#restart();
    }
  }

  /** Terminates connections of the servers. */
  async #breakConnections(which: string): Promise<void> {
    await this.query(`SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE 'parley%' ${which}) victim`);
  }

  async #lock(durationMs: number): Promise<void> {
    const client = await this.pool.connect();
    try {
      await client.query("BEGIN");
      await client.query("LOCK TABLE chats IN ACCESS EXCLUSIVE MODE");
      await sleep(systemClock, durationMs);
      await client.query("COMMIT");
    } finally {
      client.release(true);
    }
  }

  /** A fast shutdown; the embedded database restarts by itself. */
  async #restart(): Promise<void> {
    const [before] = await this.query<{ at: string }>(STARTED_AT);
    const [processId] = (await readFile(join(this.folder, "postgres/postmaster.pid"), "utf8")).split("\n");
    process.kill(Number(processId), "SIGINT");
    for (;;) {
      const [now] = await this.query<{ at: string }>(STARTED_AT);
      if (now?.at !== before?.at) return;
      await sleep(systemClock, RETRY_DELAY_MS);
    }
  }

  #stage(): Transform {
    return new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        const waitMs = Math.max(this.#chunkDelayMs, this.#silentUntil - Date.now());
        if (waitMs <= 0) done(null, chunk);
        else setTimeout(() => done(null, chunk), waitMs);
      },
    });
  }
}

const STARTED_AT = "SELECT pg_postmaster_start_time()::text AS at";
