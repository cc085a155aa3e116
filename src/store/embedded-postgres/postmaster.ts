// Starts PostgreSQL on a cluster, and finds out whether one already runs there.
// The database dies with us even by kill -9: a shell between us and it waits on a pipe that only we hold open.
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import pg from "pg";
import { startProgram, type ChildProcess } from "../../lib/child-process.js";
import { type Clock, sleep } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import { PROGRAM_ENVIRONMENT } from "./account.js";
import { type Cluster, DATABASE_USER } from "./cluster.js";

/** A PostgreSQL that we started. */
export type Postmaster = {
  /** Resolves with its last words when it is gone, for whatever reason. */
  ended: Promise<string>;
  /** Asks it to end (open transactions are rolled back) and waits until it has. */
  stop(): Promise<void>;
};

export type StartResult =
  { kind: "ready"; postmaster: Postmaster } | { kind: "taken" } | { kind: "failed"; complaint: string };

/** What a look at the cluster's running PostgreSQL can find. */
export type Sighting = { kind: "ready"; socketFolder: string } | { kind: "busy" } | { kind: "absent" };

/** No TCP port is opened; the number only names the socket file. */
export const SOCKET_PORT = 5432;

/** Enough to hold the reason of a failed start and its hint. */
const LAST_WORDS_LINES = 20;
/** A fast shutdown writes what is in memory to disk; on slow disks that takes seconds. */
const STOP_LIMIT_MS = 20_000;
/** After the fast shutdown's limit PostgreSQL is stopped at once (it recovers at the next start). */
const FORCED_STOP_LIMIT_MS = 5_000;
const CONNECT_LIMIT_MS = 5_000;

/**
 * `$0 $@` is PostgreSQL. It ends when standard input does, that is when we end; and the shell ends when it does.
 * Signals to the group are ignored here so that a Ctrl-C in a terminal lets the server finish its own closing.
 */
const GUARDIAN = `trap '' HUP INT QUIT TERM
exec 3<&0
"$0" "$@" 3<&- </dev/null & postgres=$!
(read -r _ <&3; kill -INT $postgres) 2>/dev/null & watcher=$!
wait $postgres; code=$?
kill -KILL $watcher 2>/dev/null
exit $code`;

/** Resolves when PostgreSQL accepts connections, another one holds the cluster, or it gave up. */
export async function startPostmaster(
  cluster: Cluster,
  options: { durable: boolean; limitMs: number; clock: Clock; log: Log },
): Promise<StartResult> {
  const settings = settingsOf(cluster.socketFolder, options.durable);
  const child = startProgram(
    "/bin/sh",
    ["-c", GUARDIAN, cluster.binaries.postgres, "-D", cluster.folder, ...settings],
    {
      ...cluster.account,
      cwd: "/",
      env: PROGRAM_ENVIRONMENT,
      detached: true,
      stdio: ["pipe", "ignore", "pipe"],
    },
  );
  const words = listen(child, options.log);
  const ended = new Promise<string>((resolve) => {
    child.once("error", (failure) => resolve(failure.message));
    child.once("close", () => resolve(words.last()));
  });
  const stop = () => stopChild(child, ended, options);
  const expired = new AbortController();
  const outcome = await Promise.race([
    words.ready.then(() => "ready" as const),
    ended.then(() => "ended" as const),
    sleep(options.clock, options.limitMs, expired.signal).then(() => "late" as const),
  ]);
  expired.abort();
  if (outcome === "ready") return { kind: "ready", postmaster: { ended, stop } };
  if (outcome === "late") await stop();
  const complaint = await ended;
  // The second complaint is of processes that outlive a killed PostgreSQL by a moment.
  if (/lock file ".*" (already exists|is empty)|shared memory block/.test(complaint))
    return { kind: "taken" };
  return {
    kind: "failed",
    complaint: outcome === "late" ? `not ready in ${options.limitMs} ms. ${complaint}` : complaint,
  };
}

function settingsOf(socketFolder: string, durable: boolean): string[] {
  const settings = [
    "listen_addresses=",
    `port=${SOCKET_PORT}`,
    // The setting is a list: quoted, so that a comma in a folder's name does not split it.
    `unix_socket_directories="${socketFolder.replaceAll('"', '""')}"`,
    "unix_socket_permissions=0700",
    "logging_collector=off",
    "log_destination=stderr",
    "timezone=UTC",
  ];
  if (!durable) settings.push("fsync=off", "synchronous_commit=off", "full_page_writes=off");
  return settings.flatMap((setting) => ["-c", setting]);
}

function listen(child: ChildProcess, log: Log): { ready: Promise<void>; last(): string } {
  const lines: string[] = [];
  const ready = new Promise<void>((resolve) => {
    if (!child.stderr) return;
    createInterface({ input: child.stderr }).on("line", (line) => {
      lines.push(line);
      if (lines.length > LAST_WORDS_LINES) lines.shift();
      log.debug({ line }, "postgres");
      if (line.includes("database system is ready to accept connections")) resolve();
    });
  });
  // A guardian that is already gone makes the pipe fail; its end is reported by "close".
  child.stdin?.on("error", (failure) => log.debug({ err: failure }, "the database's pipe closed"));
  return { ready, last: () => lines.join("\n") };
}

async function stopChild(
  child: ChildProcess,
  ended: Promise<string>,
  { clock, log }: { clock: Clock; log: Log },
): Promise<void> {
  child.stdin?.end();
  if (await endsWithin(clock, STOP_LIMIT_MS, ended)) return;
  log.warn({ limitMs: STOP_LIMIT_MS }, "the embedded database does not end; ending it at once");
  signalGroup(child, "SIGQUIT", log);
  if (await endsWithin(clock, FORCED_STOP_LIMIT_MS, ended)) return;
  signalGroup(child, "SIGKILL", log);
  await ended;
}

async function endsWithin(clock: Clock, limitMs: number, ended: Promise<string>): Promise<boolean> {
  const enough = new AbortController();
  const inTime = await Promise.race([
    ended.then(() => true),
    sleep(clock, limitMs, enough.signal).then(() => false),
  ]);
  enough.abort();
  return inTime;
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals, log: Log): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, signal);
  } catch (failure) {
    log.debug({ err: failure, signal }, "the embedded database was already gone");
  }
}

/** Finds a running PostgreSQL on the cluster, whichever process started it. */
export async function findRunning(cluster: Cluster): Promise<Sighting> {
  const written = await readPidFile(cluster.folder);
  if (!written) return { kind: "absent" };
  const client = connectTo(written.socketFolder, "postgres");
  try {
    await client.connect();
    return { kind: "ready", socketFolder: written.socketFolder };
  } catch (failure) {
    const code = failure instanceof Error && "code" in failure ? failure.code : undefined;
    // No socket, or none that accepts: dead, or still starting; a start attempt shows which.
    return code === "ENOENT" || code === "ECONNREFUSED" ? { kind: "absent" } : { kind: "busy" };
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** A client on the cluster's socket; no environment variable (PGPORT, PGSSLMODE…) may lead it elsewhere. */
export function connectTo(socketFolder: string, database: string): pg.Client {
  const client = new pg.Client({
    host: socketFolder,
    port: SOCKET_PORT,
    user: DATABASE_USER,
    database,
    ssl: false,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
  });
  // A lost connection rejects the call that is under way as well; without a listener it would end the process.
  client.on("error", () => undefined);
  return client;
}

/**
 * Removes the process-id file of a dead PostgreSQL whose number now belongs to an unrelated program, as happens
 * when a container is killed and started again. PostgreSQL itself removes the file in every other case.
 */
export async function removeForeignPidFile(cluster: Cluster, log: Log): Promise<void> {
  const written = await readPidFile(cluster.folder);
  if (!written || (await isPostgres(written.processId))) return;
  const again = await readPidFile(cluster.folder);
  if (again?.text !== written.text) return;
  log.warn(
    { processId: written.processId },
    "removing the process-id file of a database that ended without warning",
  );
  await rm(join(cluster.folder, PID_FILE), { force: true });
}

const PID_FILE = "postmaster.pid";

/** Lines of the file: process id, folder, start time, port, socket folder, … (PostgreSQL's pidfile.h). */
async function readPidFile(
  folder: string,
): Promise<{ text: string; processId: number; socketFolder: string } | undefined> {
  let text: string;
  try {
    text = await readFile(join(folder, PID_FILE), "utf8");
  } catch {
    return undefined;
  }
  const lines = text.split("\n");
  return { text, processId: Number.parseInt(lines[0] ?? "", 10), socketFolder: lines[4] ?? "" };
}

/** Unknown counts as yes: a lock is only broken on proof. */
async function isPostgres(processId: number): Promise<boolean> {
  if (!(processId > 0)) return true;
  try {
    const command = await readFile(`/proc/${processId}/comm`, "utf8");
    return command.trim() === "postgres";
  } catch {
    return true;
  }
}
