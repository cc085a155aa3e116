/** PostgreSQL for a command: the configured one, or the embedded one in the data folder. */
import type { Config } from "../config.js";
import { NO_METERS, type StatementMeter } from "../domain/meters.js";
import { doingForNobody } from "../lib/doing.js";
import type { Log } from "../lib/log.js";
import { createDataSource, migrate, type ConnectionOptions } from "../store/data-source.js";
import { Database } from "../store/database.js";
import { openEmbeddedPostgres } from "../store/embedded-postgres.js";

export type OpenedDatabase = {
  database: Database;
  /** Names of the migrations that ran now. */
  migrated: string[];
  close(): Promise<void>;
};

/** Connects and migrates; statements are told to the meter. Rejects with the cause when the database cannot be reached; then nothing is left open. */
export async function openDatabase(
  config: Config,
  log: Log,
  meter: StatementMeter = NO_METERS,
): Promise<OpenedDatabase> {
  const embedded = config.databaseUrl ? null : await openEmbeddedPostgres({ dataDir: config.dataDir, log });
  const options: ConnectionOptions = embedded
    ? { host: embedded.host, port: embedded.port, user: embedded.user, database: embedded.database }
    : { url: config.databaseUrl };
  const database = new Database(createDataSource(options), meter);
  const close = async () => {
    await database.close();
    await embedded?.close();
  };
  try {
    await database.dataSource.initialize();
    // A connection that breaks while idle is replaced by the pool; without a listener it would end the process.
    // Whoever happened to need it first has nothing to do with that.
    database.pool.on("error", (error) =>
      doingForNobody(() => log.warn({ cause: error.message }, "An idle database connection was lost")),
    );
    return { database, migrated: await migrate(database.dataSource), close };
  } catch (error) {
    await close();
    throw error;
  }
}
