// A migrated, empty database of one's own for a test file (or a test): cloned from the template in about 50 ms.
import { randomUUID } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";
import { type ConnectionOptions, createDataSource } from "../../../src/store/data-source.js";
import type { PooledDataSource } from "../../../src/store/pooled-data-source.js";
import { noteOpen } from "../leaks/open-things.js";
import { connectionTo } from "../test-server.js";

export type TestDatabase = {
  /** For further data sources on the same database, as a second replica has. */
  options: ConnectionOptions;
  /** Already initialised. */
  dataSource: PooledDataSource;
  /** Closes the data source and drops the database, even when others are still connected. */
  drop(): Promise<void>;
};

export async function createTestDatabase(): Promise<TestDatabase> {
  const server = inject("testServer");
  const name = `${server.prefix}_${randomUUID().slice(0, 8)}`;
  await asAdmin(`CREATE DATABASE ${name} TEMPLATE ${server.template} STRATEGY WAL_LOG`);
  const noteClosed = noteOpen(`the database ${name}`);
  const options = connectionTo(server, name);
  const dataSource = createDataSource(options);
  await dataSource.initialize();
  return {
    options,
    dataSource,
    async drop() {
      if (dataSource.isInitialized) await dataSource.destroy();
      await asAdmin(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      noteClosed();
    },
  };
}

async function asAdmin(text: string): Promise<void> {
  const { url, ...address } = connectionTo(inject("testServer"));
  const admin = new pg.Client(url ? { connectionString: url } : address);
  await admin.connect();
  try {
    await admin.query(text);
  } finally {
    await admin.end();
  }
}
