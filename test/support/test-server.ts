// Address of the run's PostgreSQL server, as the global set-up provides it to the test files, and the names of test
// databases: `parley_test_<start in base 36>_<process id>_<what>`.
import type { ConnectionOptions } from "../../src/store/data-source.js";

export type TestServer = {
  /** The address of a given server; otherwise host, port, user and database of the embedded one. */
  url?: string;
  host?: string;
  port?: number;
  user?: string;
  database?: string;
  /** Begins the name of every database of this run. */
  prefix: string;
  /** The migrated, empty database to clone. */
  template: string;
};

/** How to reach one database of the server; without a name, the one for creating and dropping others. */
export function connectionTo(server: TestServer, database?: string): ConnectionOptions {
  if (server.url === undefined) {
    return { host: server.host, port: server.port, user: server.user, database: database ?? server.database };
  }
  if (database === undefined) return { url: server.url };
  const url = new URL(server.url);
  url.pathname = `/${database}`;
  return { url: url.href };
}

const PREFIX = "parley_test_";

export function nameFor(startedAt: number, processId: number): string {
  return `${PREFIX}${startedAt.toString(36)}_${processId}`;
}

/** When the run began that a database belongs to, in milliseconds since the epoch; undefined for other databases. */
export function startedAtOf(database: string): number | undefined {
  const match = /^parley_test_([0-9a-z]+)_\d+(_[0-9a-z_]+)?$/.exec(database);
  return match?.[1] === undefined ? undefined : Number.parseInt(match[1], 36);
}
