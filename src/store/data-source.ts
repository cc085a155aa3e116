/** The entities and migrations of the database, its connection settings, and running migrations. */
import "reflect-metadata";
import pg from "pg";
import type { DataSource, QueryRunner } from "typeorm";
import { Foundation1763700000001 } from "../../migrations/0001-foundation.js";
import { Engine1763700000002 } from "../../migrations/0002-engine.js";
import { Unread1763700000003 } from "../../migrations/0003-unread.js";
import { GitConnections1763700000004 } from "../../migrations/0004-git-connections.js";
import { ExternalAgents1763700000005 } from "../../migrations/0005-external-agents.js";
import { McpServers1763700000006 } from "../../migrations/0006-mcp-servers.js";
import { Costs1763700000008 } from "../../migrations/0008-costs.js";
import { People1763700000009 } from "../../migrations/0009-people.js";
import { FileSlices1763700000010 } from "../../migrations/0010-file-slices.js";
import { UsageLimits1763700000011 } from "../../migrations/0011-usage-limits.js";
import { ModelAdministration1763700000012 } from "../../migrations/0012-model-administration.js";
import { ModelCallRecords1763700000013 } from "../../migrations/0013-model-call-records.js";
import { Deployment1763700000014 } from "../../migrations/0014-deployment.js";
import { Push1763700000015 } from "../../migrations/0015-push.js";
import { Files1763700000016 } from "../../migrations/0016-files.js";
import { DiffStatus1763700000017 } from "../../migrations/0017-diff-status.js";
import { Subagents1763700000018 } from "../../migrations/0018-subagents.js";
import { WorkspaceTemplates1763700000019 } from "../../migrations/0019-workspace-templates.js";
import { OutputLimits1763700000020 } from "../../migrations/0020-output-limits.js";
import { FinishReasons1763700000021 } from "../../migrations/0021-finish-reasons.js";
import { ClientToolDeadlines1763700000022 } from "../../migrations/0022-client-tool-deadlines.js";
import { Contract1763700000023 } from "../../migrations/0023-contract.js";
import { QueuePreviews1763700000024 } from "../../migrations/0024-queue-previews.js";
import { Storage1763700000026 } from "../../migrations/0026-storage.js";
import { ModelCalls1763700000027 } from "../../migrations/0027-model-calls.js";
import { WorkspaceMcpEntries1763700000028 } from "../../migrations/0028-workspace-mcp-entries.js";
import { entities } from "./entities.js";
import { PooledDataSource } from "./pooled-data-source.js";

/** Oldest first; append-only. */
export const migrations = [
  Foundation1763700000001,
  Engine1763700000002,
  Unread1763700000003,
  GitConnections1763700000004,
  ExternalAgents1763700000005,
  McpServers1763700000006,
  Costs1763700000008,
  People1763700000009,
  FileSlices1763700000010,
  UsageLimits1763700000011,
  ModelAdministration1763700000012,
  ModelCallRecords1763700000013,
  Deployment1763700000014,
  Push1763700000015,
  Files1763700000016,
  DiffStatus1763700000017,
  Subagents1763700000018,
  WorkspaceTemplates1763700000019,
  OutputLimits1763700000020,
  FinishReasons1763700000021,
  ClientToolDeadlines1763700000022,
  Contract1763700000023,
  QueuePreviews1763700000024,
  Storage1763700000026,
  ModelCalls1763700000027,
  WorkspaceMcpEntries1763700000028,
];

const MIGRATIONS_TABLE = "migrations";

/** Connections per replica. Transitions are short, so a few serve hundreds of chats. */
const DEFAULT_POOL_SIZE = 10;

export type ConnectionOptions = {
  /** `postgres://…`; else `host` (a socket directory or a name), `user`, `database`. */
  url?: string;
  host?: string;
  port?: number;
  user?: string;
  database?: string;
  poolSize?: number;
};

/** Longest wait for a connection, being opened or in use by others; then an outage. Node's default is no limit. */
const CONNECTION_WAIT_MS = 10_000;
/** A connection that was idle for so long is probed by the system: a lost host closes nothing. */
const KEEP_ALIVE_AFTER_MS = 10_000;

/**
 * A connection that breaks between statements (a restart, pg_terminate_backend, a timeout within a transaction) emits an
 * `error` event, which would end the process if nothing listened; the pool listens only while the connection is idle. The
 * next statement gets the error.
 */
class Client extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    this.on("error", () => undefined);
  }
}

/** Connects with the first statement or with `initialize`. */
export function createDataSource({ url, poolSize, ...address }: ConnectionOptions): PooledDataSource {
  const pool = new pg.Pool({
    ...address,
    ...(url ? { connectionString: url } : {}),
    max: poolSize ?? DEFAULT_POOL_SIZE,
    application_name: "parley",
    // The hand-written statements are prepared and have one good plan each; planning them again costs more
    // than running them.
    options: "-c plan_cache_mode=force_generic_plan",
    Client,
    connectionTimeoutMillis: CONNECTION_WAIT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
  });
  return new PooledDataSource(pool, {
    installExtensions: false,
    // The caller that opens the database logs these.
    poolErrorHandler: () => undefined,
    entities,
    migrations,
    migrationsTableName: MIGRATIONS_TABLE,
    migrationsTransactionMode: "each",
  });
}

/** Serialises the migrations of replicas that start together; any fixed number does. */
const MIGRATION_LOCK = 7_276_001;

/** The database has been migrated by a newer version, whose schema this one does not know. */
export class SchemaTooNew extends Error {
  override readonly name = "SchemaTooNew";

  /** `newest`: the newest migration that this version knows; `unknown`: those of the database that it does not. */
  constructor(
    readonly newest: string,
    readonly unknown: readonly string[],
  ) {
    super(`The schema is at ${unknown.at(-1) ?? ""}, but this version knows it up to ${newest}.`);
  }
}

/**
 * Runs what is missing and returns the names of the migrations that ran. Safe to call from many replicas. Rejects with
 * `SchemaTooNew`, and changes nothing, when there are migrations that this version does not know.
 */
export async function migrate(dataSource: DataSource): Promise<string[]> {
  const lock = dataSource.createQueryRunner();
  try {
    await lock.query("SELECT pg_advisory_lock($1)", [MIGRATION_LOCK]);
    await refuseNewer(lock);
    const ran = await dataSource.runMigrations();
    await lock.query("SELECT pg_advisory_unlock($1)", [MIGRATION_LOCK]);
    return ran.map((migration) => migration.name);
  } catch (error) {
    // On a broken connection it is gone already, and that must not hide why.
    await lock.query("SELECT pg_advisory_unlock($1)", [MIGRATION_LOCK]).catch(() => undefined);
    throw error;
  } finally {
    await lock.release();
  }
}

async function refuseNewer(connection: QueryRunner): Promise<void> {
  if (!(await connection.hasTable(MIGRATIONS_TABLE))) return;
  const known = new Set(migrations.map(({ name }) => name));
  const rows: unknown = await connection.query(
    `SELECT name FROM ${MIGRATIONS_TABLE} ORDER BY "timestamp", id`,
  );
  const unknown = (rows as { name: string }[]).map(({ name }) => name).filter((name) => !known.has(name));
  if (unknown.length > 0) throw new SchemaTooNew(migrations.at(-1)?.name ?? "", unknown);
}
