/**
 * PostgreSQL for a command: the configured one, or the embedded one in the data folder. One that is still starting is
 * waited for; what cannot be used is told in words that name the variable to look at.
 */
import type { Config } from "../config/config.js";
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

/** A database that is starting is tried again after this many milliseconds. */
const TRY_AGAIN_MS = 500;

export type OpenedDatabase = {
  database: Database;
  /** It is the one in the data folder, to which only servers on this machine are connected. */
  isEmbedded: boolean;
  /** Names of the migrations that ran now. */
  migrated: string[];
  close(): Promise<void>;
};

export type OpeningOptions = {
  /** Is told of statements. */
  meter?: StatementMeter;
  clock?: Clock;
};

/**
 * Connects and migrates; a database that is away or starting is waited for as long as PARLEY_DATABASE_WAIT_MS says, which
 * is said once. Rejects with an `ExplainedError` when it cannot be used, or when its schema is newer than this version
 * knows; then nothing is left open.
 */
export async function openDatabase(
  config: Config,
  log: Log,
  { meter = NO_METERS, clock = systemClock }: OpeningOptions = {},
): Promise<OpenedDatabase> {
  const place = placeOf(config);
  const embedded = config.databaseUrl ? null : await openEmbedded(config, log, place);
  const options: ConnectionOptions = embedded
    ? { host: embedded.host, port: embedded.port, user: embedded.user, database: embedded.database }
    : { url: config.databaseUrl };
  const deadline = clock.now() + config.databaseWaitMs;
  for (let hasSaid = false; ;) {
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
        throw explain(error, place, config.databaseWaitMs);
      }
      if (!hasSaid)
        log.warn({ limitMs: config.databaseWaitMs, cause: wordsOf(error) }, `Waiting for ${place} to serve`);
      hasSaid = true;
      await sleep(clock, TRY_AGAIN_MS);
    }
  }
}

async function connect(options: ConnectionOptions, log: Log, meter: StatementMeter) {
  const database = new Database(createDataSource(options), meter);
  try {
    await database.dataSource.initialize();
    // A connection that breaks while idle is replaced by the pool; without a listener it would end the process.
    // Whoever happened to need it first has nothing to do with that.
    database.pool.on("error", (error) =>
      runDetached(() => log.warn({ cause: error.message }, "An idle database connection was lost")),
    );
    return { database, migrated: await migrate(database.dataSource) };
  } catch (error) {
    await database
      .close()
      .catch((cause: unknown) => log.debug({ err: cause }, "A broken pool did not close"));
    throw error;
  }
}

async function openEmbedded({ dataDir }: Config, log: Log, place: string): Promise<EmbeddedPostgres> {
  try {
    return await openEmbeddedPostgres({ dataDir, log });
  } catch (error) {
    throw new ExplainedError(`There is no ${place}: ${wordsOf(error)}`, { cause: error });
  }
}

/** Where the database is and which variable says so; never with a password. */
function placeOf({ databaseUrl, dataDir }: Config): string {
  if (databaseUrl === undefined) return `embedded database in PARLEY_DATA_DIR (${dataDir})`;
  const url = new URL(databaseUrl);
  const host = url.host || url.searchParams.get("host") || "localhost";
  return `database of DATABASE_URL (${host}${url.pathname})`;
}

function explain(error: unknown, place: string, waitMs: number): ExplainedError {
  const options = { cause: error };
  if (error instanceof SchemaTooNew) {
    const text = `The ${place} belongs to a newer version of Parley: its schema is at ${error.unknown.at(-1) ?? ""}, and this version, ${VERSION}, knows it up to ${error.newest}. Start the newer version, or restore a backup of before it.`;
    return new ExplainedError(text, options);
  }
  if (!isOutage(error)) return new ExplainedError(`The ${place} cannot be used: ${wordsOf(error)}`, options);
  const text = `The ${place} cannot be reached: ${wordsOf(error)}. It was waited for ${waitMs} ms (PARLEY_DATABASE_WAIT_MS).`;
  return new ExplainedError(text, options);
}

/** What was tried on several addresses has no words of its own. */
function wordsOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(wordsOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}
