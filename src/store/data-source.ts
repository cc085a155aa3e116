/** TypeORM's data source: which entities and migrations there are, and how to reach PostgreSQL. */
import "reflect-metadata";
import { DataSource } from "typeorm";
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
import { FinishReasons1763700000021 } from "../../migrations/0021-finish-reasons.js";
import { entities } from "./entities/entities.js";

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
  FinishReasons1763700000021,
];

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

export function createDataSource(options: ConnectionOptions): DataSource {
  return new DataSource({
    type: "postgres",
    ...(options.url ? { url: options.url } : {}),
    ...(options.host ? { host: options.host } : {}),
    ...(options.port ? { port: options.port } : {}),
    ...(options.user ? { username: options.user } : {}),
    ...(options.database ? { database: options.database } : {}),
    poolSize: options.poolSize ?? DEFAULT_POOL_SIZE,
    installExtensions: false,
    applicationName: "parley",
    // The hand-written statements are prepared and have one good plan each; planning them anew costs more than
    // running them.
    extra: { options: "-c plan_cache_mode=force_generic_plan" },
    entities,
    migrations,
    migrationsTableName: "migrations",
    migrationsTransactionMode: "each",
  });
}

/** Serialises the migrations of replicas that start together; any fixed number does. */
const MIGRATION_LOCK = 7_276_001;

/** Runs what is missing and returns the names of the migrations that ran. Safe to call from many replicas. */
export async function migrate(dataSource: DataSource): Promise<string[]> {
  const lock = dataSource.createQueryRunner();
  try {
    await lock.query("SELECT pg_advisory_lock($1)", [MIGRATION_LOCK]);
    const ran = await dataSource.runMigrations();
    return ran.map((migration) => migration.name);
  } finally {
    await lock.query("SELECT pg_advisory_unlock($1)", [MIGRATION_LOCK]);
    await lock.release();
  }
}
