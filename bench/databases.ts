/**
 * PostgreSQL for a run: the one that DATABASE_URL names, or an embedded one in a temporary folder. Each measured
 * program gets a fresh database of its own, so that their work can be measured separately.
 */
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { createLog } from "../src/lib/log.js";
import { openEmbeddedPostgres } from "../src/store/embedded-postgres/embedded-postgres.js";
import { isLocalProcess, type ListProcesses } from "./machine.js";

/** The run's databases. */
type DatabaseLocation = {
  urlOf(database: string): string;
  adminUrl: string;
  name: string;
  close(): Promise<void>;
};

export class Databases {
  readonly #created: string[] = [];

  private constructor(
    private readonly location: DatabaseLocation,
    private readonly admin: pg.Client,
    /** Version and kind, for the report. */
    readonly description: string,
    /** False when the database's processes are not on this machine: then its CPU time cannot be seen. */
    readonly isLocal: boolean,
  ) {}

  static async open(): Promise<Databases> {
    const url = process.env["DATABASE_URL"];
    const location = url ? configuredLocation(url) : await embeddedLocation();
    const admin = new pg.Client({ connectionString: location.adminUrl });
    await admin.connect();
    const found = await admin.query<{ version: string; pid: number }>(
      "SELECT current_setting('server_version') AS version, pg_backend_pid() AS pid",
    );
    const { version = "?", pid = 0 } = found.rows[0] ?? {};
    const isLocal = await isLocalProcess(pid, "postgres");
    return new Databases(location, admin, `${version.split(" ")[0]} (${location.name})`, isLocal);
  }

  /** Makes an empty database; its address fits DATABASE_URL. */
  // A purpose may come again; the number keeps the names apart.
  async create(purpose: string): Promise<{ name: string; url: string }> {
    const name = `parley_bench_${process.pid}_${this.#created.length}_${purpose}`;
    await this.admin.query(`CREATE DATABASE ${name}`);
    this.#created.push(name);
    return { name, url: this.location.urlOf(name) };
  }

  /** The processes that serve a database, and those that write for all of them (log writer, checkpointer …). */
  processesOf(name: string): ListProcesses {
    return async () => {
      if (!this.isLocal) return [];
      const found = await this.admin.query<{ pid: number }>({
        name: "bench-processes",
        text: "SELECT pid FROM pg_stat_activity WHERE datname = $1 OR datname IS NULL",
        values: [name],
      });
      return found.rows.map((row) => row.pid);
    };
  }

  /** Transactions that PostgreSQL counted; complete only once all connections to the database have ended. */
  async transactionsOf(name: string): Promise<number> {
    const found = await this.admin.query<{ ended: string }>(
      "SELECT xact_commit + xact_rollback AS ended FROM pg_stat_database WHERE datname = $1",
      [name],
    );
    return Number(found.rows[0]?.ended ?? 0);
  }

  async close(): Promise<void> {
    for (const name of this.#created) await this.admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await this.admin.end();
    await this.location.close();
  }
}

function configuredLocation(url: string): DatabaseLocation {
  const urlOf = (database: string) => {
    const address = new URL(url);
    address.pathname = `/${database}`;
    return address.href;
  };
  return { urlOf, adminUrl: url, name: "DATABASE_URL", close: () => Promise.resolve() };
}

async function embeddedLocation(): Promise<DatabaseLocation> {
  const folder = await mkdtemp(join(tmpdir(), "parley-bench-"));
  // Run by root, PostgreSQL is another account that must be able to pass.
  await chmod(folder, 0o755);
  const embedded = await openEmbeddedPostgres({
    dataDir: folder,
    systemDir: join(folder, "system"),
    log: createLog("warn", "bench"),
  });
  const { user, host, port, database } = embedded;
  const urlOf = (name: string) => `postgres://${user}@${encodeURIComponent(host)}:${port}/${name}`;
  const close = async () => {
    await embedded.close();
    await rm(folder, { recursive: true, force: true });
  };
  return { urlOf, adminUrl: urlOf(database), name: "embedded", close };
}
