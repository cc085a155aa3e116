// Runs once before all tests: compiles the programs, finds or starts PostgreSQL and builds the template database that each test file's
// own database is cloned from. DATABASE_URL names a server whose user may create databases; without it the
// embedded PostgreSQL is started in a temporary folder and removed at the end.
import { chmod, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await buildPrograms();
  const { server, close } = await openServer();
  try {
    await dropDatabases(server, (startedAt) => Date.now() - startedAt > LEFTOVER_AGE_MS);
    await buildTemplate(server);
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
  if (url) return { server: { url, prefix, template: `${prefix}_template` }, close: () => Promise.resolve() };
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
    server: { host, port, user, database, prefix, template: `${prefix}_template` },
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

async function buildTemplate(server: TestServer): Promise<void> {
  await withAdmin(server, (admin) => admin.query(`CREATE DATABASE ${server.template}`));
  const dataSource = createDataSource({ ...connectionTo(server, server.template), poolSize: 2 });
  await dataSource.initialize();
  try {
    await migrate(dataSource);
  } finally {
    await dataSource.destroy();
  }
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
