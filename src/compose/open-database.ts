/**
 * Opens PostgreSQL for a command: the configured one, or the embedded one in the data folder. Waits for a database that
 * is still starting; errors name the variable to check.
 */
import type { Config } from "../config/config.js";
import { openDataDir } from "./start/data-dir.js";
import { NO_METERS, type StatementMeter } from "../domain/common/meters.js";
import { type Clock, sleep, systemClock } from "../lib/clock.js";
import { runDetached } from "../lib/run-context.js";
import { ExplainedError } from "../lib/text/explained-error.js";
import type { Log } from "../lib/log.js";
import { VERSION } from "../lib/version.js";
import { createDataSource, migrate, SchemaTooNew, type ConnectionOptions } from "../store/data-source.js";
import { Database } from "../store/common/database.js";
import { type EmbeddedPostgres, openEmbeddedPostgres } from "../store/embedded-postgres/embedded-postgres.js";
import { isOutage } from "../store/common/outages.js";

/** Delay between attempts to connect. */
const RETRY_DELAY_MS = 500;

export type OpenedDatabase = {
  database: Database;
  /** Whether it is the embedded one, to which only servers on this machine connect. */
  isEmbedded: boolean;
  /** Names of the migrations that were applied. */
  migrated: string[];
  close(): Promise<void>;
};

export type OpeningOptions = {
  meter?: StatementMeter;
  clock?: Clock;
};

/**
 * Connects and migrates; waits up to PARLEY_DATABASE_WAIT_MS for an unavailable database, and logs that once. Rejects
 * with an `ExplainedError` when it cannot be used, or when its schema is newer than this version; then nothing is left
 * open.
 */
export async function openDatabase(
  config: Config,
  log: Log,
  { meter = NO_METERS, clock = systemClock }: OpeningOptions = {},
): Promise<OpenedDatabase> {
  const name = nameOf(config);
  const embedded = config.databaseUrl ? null : await openEmbedded(config, log, name);
  const options: ConnectionOptions = embedded
    ? { host: embedded.host, port: embedded.port, user: embedded.user, database: embedded.database }
    : { url: config.databaseUrl };
  const deadline = clock.now() + config.databaseWaitMs;
  for (let hasLogged = false; ;) {
    try {
      const { database, migrated } = await connect(options, log, meter);
      const close = async () => {
        await database.close();
        await embedded?.close();
      };
      return { database, isEmbedded: embedded !== null, migrated, close };
    } catch (error) {
      if (!isOutage(error) || clock.now() >= deadline) {
        await embedded?.close();
        throw explain(error, name, config.databaseWaitMs);
      }
      if (!hasLogged)
        log.warn({ limitMs: config.databaseWaitMs, cause: messageOf(error) }, `waiting for the ${name}`);
      hasLogged = true;
      await sleep(clock, RETRY_DELAY_MS);
    }
  }
}

async function connect(options: ConnectionOptions, log: Log, meter: StatementMeter) {
  const database = new Database(createDataSource(options), meter);
  try {
    await database.dataSource.initialize();
    // The pool replaces connections that break while idle; without a listener the error would end the process. Logged
    // without the context of the request that opened the pool's connection.
    database.pool.on("error", (error) =>
      runDetached(() => log.warn({ cause: error.message }, "idle database connection lost")),
    );
    return { database, migrated: await migrate(database.dataSource) };
  } catch (error) {
    await database
      .close()
      .catch((cause: unknown) => log.debug({ err: cause }, "closing a broken pool failed"));
    throw error;
  }
}

async function openEmbedded(config: Config, log: Log, name: string): Promise<EmbeddedPostgres> {
  const { dataDir } = config;
  try {
    await openDataDir(config);
    return await openEmbeddedPostgres({ dataDir, log });
  } catch (error) {
    throw new ExplainedError(`There is no ${name}: ${messageOf(error)}`, { cause: error });
  }
}

/** The database's name for messages, with its variable and without a password. */
function nameOf({ databaseUrl, dataDir }: Config): string {
  if (databaseUrl === undefined) return `embedded database in PARLEY_DATA_DIR (${dataDir})`;
  const url = new URL(databaseUrl);
  const host = url.host || url.searchParams.get("host") || "localhost";
  return `database of DATABASE_URL (${host}${url.pathname})`;
}

function explain(error: unknown, name: string, waitMs: number): ExplainedError {
  const options = { cause: error };
  if (error instanceof SchemaTooNew) {
    const text = `The ${name} belongs to a newer version of Parley: its schema is at ${error.unknown.at(-1) ?? ""}, and this version, ${VERSION}, knows it up to ${error.newest}. Start the newer version, or restore a backup from before the upgrade.`;
    return new ExplainedError(text, options);
  }
  if (!isOutage(error)) return new ExplainedError(`The ${name} cannot be used: ${messageOf(error)}`, options);
  const text = `The ${name} cannot be reached: ${messageOf(error)}. Gave up after ${waitMs} ms (PARLEY_DATABASE_WAIT_MS).`;
  return new ExplainedError(text, options);
}

/** The message of the error; an error for several addresses has none of its own. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(messageOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}
