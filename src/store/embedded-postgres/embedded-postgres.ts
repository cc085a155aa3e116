// The embedded database of a server without DATABASE_URL: a real PostgreSQL from npm, with its data in the server's data
// folder. It opens no port. The first server on a folder owns the process; others on the same folder join it, and when the
// owner stops one of them starts it again. It never outlives the servers.
import type { Client } from "pg";
import { type Clock, sleep, systemClock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import { type Cluster, DATABASE_USER, openCluster } from "./cluster.js";
import { connectTo, findRunning, removeForeignPidFile, SOCKET_PORT, startPostmaster } from "./postmaster.js";

export type EmbeddedPostgresOptions = {
  /** The server's data folder (PARLEY_DATA_DIR); the database takes `postgres` in it. */
  dataDir: string;
  log: Log;
  /** False for tests only: three times faster, but a power cut loses the data. */
  durable?: boolean;
  clock?: Clock;
  /** Where a server run by root puts what PostgreSQL's account cannot reach in dataDir. */
  systemDir?: string;
};

export type EmbeddedPostgres = {
  /** Folder of the Unix socket; `pg` and TypeORM take it as host. */
  host: string;
  port: number;
  user: string;
  database: string;
  /** Stops the database if this server owns it (open transactions are rolled back), else only disconnects. */
  close(): Promise<void>;
};

const DATABASE_NAME = "parley";
const SYSTEM_DIR = "/var/lib/parley";
/** Between the first call and accepted connections; a normal start takes 0.1 s, recovery after a crash some seconds. */
const START_LIMIT_MS = 30_000;
/** Interval for checking another server's start or end. */
const RETRY_INTERVAL_MS = 100;
/** A database that ends by itself is started again, but not more often than this. */
const RESTART_PAUSE_MS = 1_000;

/** One server's use of the running database, as its owner or joined. */
type Session = {
  socketFolder: string;
  /** Resolves with the reason when the database, or our connection to its owner's, is gone. */
  ended: Promise<string>;
  release(): Promise<void>;
};

type Opening = { cluster: Cluster; durable: boolean; clock: Clock; log: Log };

/**
 * Opens the embedded database of a data folder, creating it on first use. Rejects with advice when PostgreSQL is
 * not installed, cannot run here, or is not ready within 30 s.
 */
export async function openEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  if (process.platform === "win32") {
    throw new Error(
      "There is no embedded PostgreSQL on Windows: set DATABASE_URL, or run Parley in WSL or Docker.",
    );
  }
  const { log, durable = true, clock = systemClock, systemDir = SYSTEM_DIR } = options;
  const cluster = await openCluster({ dataDir: options.dataDir, systemDir, durable, log });
  const opening: Opening = { cluster, durable, clock, log };
  const first = await startOrJoin(opening);
  const closing = new AbortController();
  const supervised = keepRunning(opening, first, closing.signal);
  return {
    host: first.socketFolder,
    port: SOCKET_PORT,
    user: DATABASE_USER,
    database: DATABASE_NAME,
    close() {
      closing.abort();
      return supervised;
    },
  };
}

async function startOrJoin(opening: Opening): Promise<Session> {
  const { cluster, clock, log } = opening;
  const deadline = clock.now() + START_LIMIT_MS;
  let obstacle: unknown;
  for (let remainingMs = START_LIMIT_MS; remainingMs > 0; remainingMs = deadline - clock.now()) {
    const running = await findRunning(cluster);
    if (running.kind === "absent") {
      const started = await start(opening, remainingMs);
      if (started) return started;
    }
    if (running.kind === "ready") {
      try {
        return await join(running.socketFolder, log);
      } catch (failure) {
        // Its owner may be closing it at this moment; then it is ours to start next.
        obstacle = failure;
      }
    }
    await sleep(clock, RETRY_INTERVAL_MS);
  }
  throw new Error(
    `The embedded database in ${cluster.folder} is in use by another PostgreSQL that could not be used ` +
      `within ${START_LIMIT_MS} ms: end that program, choose another PARLEY_DATA_DIR, or set DATABASE_URL.`,
    { cause: obstacle },
  );
}

/** Undefined when another process uses the cluster. Rejects when PostgreSQL does not start. */
async function start(
  { cluster, durable, clock, log }: Opening,
  limitMs: number,
): Promise<Session | undefined> {
  const result = await startPostmaster(cluster, { durable, limitMs, clock, log });
  if (result.kind === "failed") {
    throw new Error(`The embedded database in ${cluster.folder} did not start: ${result.complaint}`);
  }
  if (result.kind === "taken") {
    await removeForeignPidFile(cluster, log);
    return undefined;
  }
  const { postmaster } = result;
  const first = connectTo(cluster.socketFolder, "postgres");
  try {
    await first.connect();
    await createDatabase(first);
  } catch (failure) {
    await postmaster.stop();
    throw failure;
  } finally {
    await first.end();
  }
  return { socketFolder: cluster.socketFolder, ended: postmaster.ended, release: () => postmaster.stop() };
}

/** Joins with one idle connection, which shows when the owner's database ends. Rejects when it has ended meanwhile. */
async function join(socketFolder: string, log: Log): Promise<Session> {
  const watch = connectTo(socketFolder, "postgres");
  let lastWords = "the connection closed";
  // The error that comes with a lost connection says why; "end" follows it.
  watch.on("error", (failure) => (lastWords = failure.message));
  const ended = new Promise<string>((resolve) => watch.once("end", () => resolve(lastWords)));
  try {
    await watch.connect();
    await createDatabase(watch);
  } catch (failure) {
    await watch.end();
    throw failure;
  }
  log.info({ socketFolder }, "joined the embedded database of another server on this data folder");
  return { socketFolder, ended, release: () => watch.end() };
}

/** Uses the database until closing, and starts or joins it again whenever it ends by itself. Never rejects. */
async function keepRunning(opening: Opening, first: Session, closing: AbortSignal): Promise<void> {
  const { clock, log } = opening;
  const closed = new Promise<"closed">((resolve) => {
    closing.addEventListener("abort", () => resolve("closed"), { once: true });
  });
  let session: Session | undefined = first;
  while (!closing.aborted) {
    if (session) {
      const reason = await Promise.race([closed, session.ended.then((lastWords) => ({ lastWords }))]);
      if (reason === "closed") break;
      log.error(reason, "embedded database ended; open transactions are lost, restarting");
    }
    session = await startOrJoin(opening).catch((failure: unknown) => {
      log.error({ err: failure }, "embedded database could not be restarted; retrying");
      return undefined;
    });
    if (session && session.socketFolder !== first.socketFolder) {
      log.error(
        { was: first.socketFolder, is: session.socketFolder },
        "embedded database has moved; restart this server",
      );
    }
    await sleep(clock, RESTART_PAUSE_MS, closing);
  }
  await session
    ?.release()
    .catch((failure: unknown) => log.warn({ err: failure }, "embedded database was not released"));
}

async function createDatabase(client: Client): Promise<void> {
  try {
    const found = await client.query("SELECT 1 FROM pg_database WHERE datname = $1", [DATABASE_NAME]);
    if (found.rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE_NAME}`);
  } catch (failure) {
    const code = failure instanceof Error && "code" in failure ? failure.code : undefined;
    // Two servers' first starts at once: duplicate_database, or its unique index one moment earlier.
    if (code !== "42P04" && code !== "23505") throw failure;
  }
}
