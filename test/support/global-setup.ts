// Runs once before all system tests: builds the programs, finds or starts PostgreSQL, and makes the template database
// that each test's own database is cloned from. DATABASE_URL names a server whose user may create databases; without it
// the embedded PostgreSQL is started in a temporary folder and removed at the end. On a server that stays, the template
// stays as well, until a migration changes.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { chmod, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { createLog } from "../../src/lib/log.js";
import { createDataSource, migrate } from "../../src/store/data-source.js";
import { openEmbeddedPostgres } from "../../src/store/embedded-postgres/embedded-postgres.js";
import { buildPrograms } from "./build.js";
import { type TestServer, connectionTo, nameFor, startedAtOf } from "./test-server.js";

declare module "vitest" {
  interface ProvidedContext {
    /** The PostgreSQL server of this run; createTestDatabase() is the way to use it. */
    testServer: TestServer;
  }
}

/** What killed runs leave behind (databases, temporary folders) is removed by later runs once it is this old. */
const LEFTOVER_AGE_MS = 3_600_000;
const TEMPLATE_PREFIX = "parley_template_";
const MAX_OTHER_TEMPLATES = 4;
const MIGRATIONS = resolve(import.meta.dirname, "../../migrations");

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await buildPrograms();
  const { server, close } = await openServer();
  try {
    await dropDatabases(server, (startedAt) => Date.now() - startedAt > LEFTOVER_AGE_MS);
    await ensureTemplate(server);
  } catch (failure) {
    await close();
    throw failure;
  }
  project.provide("testServer", server);
  return async () => {
    await dropDatabases(server, (_startedAt, name) => name.startsWith(server.prefix));
    await close();
  };
}

async function openServer(): Promise<{ server: TestServer; close: () => Promise<void> }> {
  const prefix = nameFor(Date.now(), process.pid);
  const url = process.env["DATABASE_URL"];
  const template = `${TEMPLATE_PREFIX}${migrationsFingerprint()}`;
  if (url) return { server: { url, prefix, template }, close: () => Promise.resolve() };
  await removeOldFolders();
  const folder = await mkdtemp(join(tmpdir(), FOLDER_PREFIX));
  // Run by root, PostgreSQL is another account that must be able to pass.
  await chmod(folder, 0o755);
  const { host, port, user, database, close } = await openEmbeddedPostgres({
    dataDir: folder,
    systemDir: join(folder, "system"),
    durable: false,
    log: createLog("warn"),
  });
  return {
    server: { host, port, user, database, prefix, template },
    async close() {
      await close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const FOLDER_PREFIX = "parley-test-";

async function removeOldFolders(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(FOLDER_PREFIX)) continue;
    const folder = join(tmpdir(), name);
    const changedAt = await stat(folder).then(
      (found) => found.mtimeMs,
      () => Date.now(), // Another run was faster.
    );
    if (Date.now() - changedAt > LEFTOVER_AGE_MS) await rm(folder, { recursive: true, force: true });
  }
}

/** Of all migrations, in file order. */
function migrationsFingerprint(): string {
  const hash = createHash("sha256");
  for (const name of readdirSync(MIGRATIONS).sort())
    hash.update(name).update(readFileSync(join(MIGRATIONS, name)));
  return hash.digest("hex").slice(0, 16);
}

/** Runs that begin at the same time wait for one that makes it; the newest of other migrations stay for other checkouts. */
async function ensureTemplate(server: TestServer): Promise<void> {
  await withAdmin(server, async (admin) => {
    await admin.query("SELECT pg_advisory_lock(hashtext($1))", [TEMPLATE_PREFIX]);
    const found = await admin.query<{ name: string }>(
      "SELECT datname AS name FROM pg_database WHERE datname LIKE $1 ORDER BY oid DESC",
      [`${TEMPLATE_PREFIX}%`],
    );
    const names = found.rows.map(({ name }) => name);
    if (names.includes(server.template)) return;
    for (const name of names.slice(MAX_OTHER_TEMPLATES)) {
      await admin.query(`DROP DATABASE IF EXISTS ${name}`).catch(isInUse);
    }
    // A run that is killed in between leaves no database by the name of a finished one.
    const unfinished = `${server.prefix}_unfinished`;
    await admin.query(`CREATE DATABASE ${unfinished}`);
    const dataSource = createDataSource({ ...connectionTo(server, unfinished), poolSize: 2 });
    await dataSource.initialize();
    try {
      await migrate(dataSource);
    } finally {
      await dataSource.destroy();
    }
    await admin.query(`ALTER DATABASE ${unfinished} RENAME TO ${server.template}`);
  });
}

/** An older checkout may be cloning it; a later run drops it. */
function isInUse(error: unknown): void {
  if (!(error instanceof pg.DatabaseError && error.code === "55006")) throw error;
}

async function dropDatabases(
  server: TestServer,
  isDone: (startedAt: number, name: string) => boolean,
): Promise<void> {
  await withAdmin(server, async (admin) => {
    const found = await admin.query<{ name: string }>("SELECT datname AS name FROM pg_database");
    for (const { name } of found.rows) {
      const startedAt = startedAtOf(name);
      if (startedAt === undefined || !isDone(startedAt, name)) continue;
      await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    }
  });
}

async function withAdmin<T>(server: TestServer, work: (admin: pg.Client) => Promise<T>): Promise<T> {
  const { url, ...place } = connectionTo(server);
  const admin = new pg.Client(url ? { connectionString: url } : place);
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}
