// Where a server's embedded database lives on disk, and its first creation.
// Normally `<dataDir>/postgres`. When root keeps its data below a folder that PostgreSQL's account cannot
// enter (its private home), the cluster lies in a system folder and `<dataDir>/postgres` is a link to it:
// delete the data folder and the next start begins afresh; move it and the data follow.
// Creation is race-free without a lock: made under another name, then renamed (or linked) in one step.
import { createHash, randomUUID } from "node:crypto";
import { chmod, lstat, mkdir, readdir, realpath, rename, rm, stat, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import type { Log } from "../../lib/log.js";
import { type Account, accountForNewCluster, canUse, complaintOf, giveTo, runAs } from "./account.js";
import { type Binaries, findBinaries } from "./binaries.js";

/** A PostgreSQL data folder that exists, and all that is needed to start it. */
export type Cluster = { folder: string; socketFolder: string; account: Account; binaries: Binaries };

export type ClusterRequest = {
  /** The server's data folder; created if missing. */
  dataDir: string;
  /** Where root's cluster goes when the account cannot enter dataDir. */
  systemDir: string;
  /** False: files are not flushed to disk. */
  durable: boolean;
  log: Log;
};

/** The superuser of the cluster; only the owner of its socket folder can connect. */
export const DATABASE_USER = "parley";

/** Finds the cluster of a data folder, creating it on first use. */
export async function openCluster(request: ClusterRequest): Promise<Cluster> {
  const path = join(resolve(request.dataDir), "postgres");
  await mkdir(dirname(path), { recursive: true });
  const existing = await findCluster(path);
  if (existing) {
    const account = await ownerOf(existing);
    const binaries = await findBinaries(account, dirname(existing), request.log);
    return { folder: existing, account, binaries, socketFolder: await socketFolderFor(existing, account) };
  }
  const account = await accountForNewCluster();
  const home = await homeFor(account, dirname(path), request.systemDir);
  const binaries = await findBinaries(account, home, request.log);
  const folder = await createCluster({ path, home, account, binaries, request });
  return { folder, account, binaries, socketFolder: await socketFolderFor(folder, account) };
}

async function findCluster(path: string): Promise<string | undefined> {
  if (!(await exists(path))) return undefined;
  let folder: string;
  try {
    folder = await realpath(path);
    await stat(join(folder, "PG_VERSION"));
    return folder;
  } catch (cause) {
    throw new Error(
      `${path} cannot be used as a database: ${complaintOf(cause)}. If another user made it, run Parley as that ` +
        "user; otherwise move it away, choose another PARLEY_DATA_DIR, or set DATABASE_URL.",
      { cause },
    );
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (failure) {
    if (failure instanceof Error && "code" in failure && failure.code === "ENOENT") return false;
    throw failure;
  }
}

/** An existing cluster is run by its owner, so that root can use what an ordinary user created. */
async function ownerOf(folder: string): Promise<Account> {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = await stat(folder);
  // A copy made by root belongs to root, as whom PostgreSQL refuses to run.
  const account = uid === 0 ? await accountForNewCluster() : { uid, gid };
  if (account && uid === 0) await runAs(undefined, "chown", ["-R", `${account.uid}:${account.gid}`, folder]);
  if (await canUse(account, folder)) return account;
  throw new Error(
    `The embedded database in ${folder} belongs to an account (user id ${uid}) that cannot enter that folder: move ` +
      "the data folder to where every user may pass, or set DATABASE_URL.",
  );
}

/** The folder to hold the new cluster: the data folder, or the system folder if the account cannot enter it. */
async function homeFor(account: Account, dataDir: string, systemDir: string): Promise<string> {
  if (!account || (await canEnter(account, dataDir))) return dataDir;
  await mkdir(systemDir, { recursive: true });
  // A private umask must not make it unreachable; 0711 lets the account pass but not look around.
  await chmod(systemDir, 0o711);
  if (await canEnter(account, systemDir)) return systemDir;
  throw new Error(
    `The embedded PostgreSQL cannot run as root, and the account it would use can enter neither ${dataDir} nor ` +
      `${systemDir}: choose a PARLEY_DATA_DIR open to every user, run Parley as an ordinary user, or set DATABASE_URL.`,
  );
}

/** Tried with a folder of the account's own, because that is what the cluster will be. */
async function canEnter(account: Account, home: string): Promise<boolean> {
  const trial = join(home, `.trial-${randomUUID()}`);
  await mkdir(trial, { mode: 0o700 });
  try {
    await giveTo(account, trial);
    return await canUse(account, trial);
  } finally {
    await rm(trial, { recursive: true, force: true });
  }
}

type Creation = {
  path: string;
  home: string;
  account: Account;
  binaries: Binaries;
  request: ClusterRequest;
};

async function createCluster({ path, home, account, binaries, request }: Creation): Promise<string> {
  const inside = home === dirname(path);
  const folder = join(
    home,
    `${inside ? UNFINISHED_PREFIX : "postgres-"}${process.pid}-${randomUUID().slice(0, 8)}`,
  );
  if (inside) await removeAbandoned(home, request.log);
  await mkdir(folder, { mode: 0o700 });
  try {
    await giveTo(account, folder);
    await runInitdb(account, binaries, folder, request.durable);
    if (inside) await rename(folder, path);
    else await symlink(folder, path);
  } catch (failure) {
    await rm(folder, { recursive: true, force: true });
    // Another server created it in the meantime: the first one counts.
    if (await exists(join(path, "PG_VERSION"))) return realpath(path);
    throw failure;
  }
  const created = await realpath(path);
  if (inside) request.log.info({ folder: created }, "created the embedded database");
  else {
    request.log.warn(
      { link: path, folder: created },
      "created the embedded database outside the data folder, because PostgreSQL does not run as root and its " +
        "account cannot enter the data folder; the data folder links to it",
    );
  }
  return created;
}

async function runInitdb(
  account: Account,
  binaries: Binaries,
  folder: string,
  durable: boolean,
): Promise<void> {
  const settings = ["--auth=trust", "--encoding=UTF8", "--no-locale", "--no-instructions"];
  if (!durable) settings.push("--no-sync");
  try {
    await runAs(account, binaries.initdb, ["-D", folder, `--username=${DATABASE_USER}`, ...settings]);
  } catch (cause) {
    throw new Error(
      `The embedded database could not be created in ${folder} (DATABASE_URL does without it): ${complaintOf(cause)}`,
      {
        cause,
      },
    );
  }
}

const UNFINISHED_PREFIX = "postgres.unfinished-";

/** Removes what first starts left behind that were killed; the name carries the maker's process id. */
async function removeAbandoned(home: string, log: Log): Promise<void> {
  for (const name of await readdir(home)) {
    if (!name.startsWith(UNFINISHED_PREFIX)) continue;
    const maker = Number.parseInt(name.slice(UNFINISHED_PREFIX.length), 10);
    // Our own number is that of another first start in this process, under way.
    if (maker === process.pid || isAlive(maker)) continue;
    await rm(join(home, name), { recursive: true, force: true }).catch((failure: unknown) => {
      // The killed server's initdb may still be writing there; the next first start finds it again.
      log.warn({ err: failure, name }, "could not remove an unfinished database");
    });
  }
}

function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (failure) {
    return failure instanceof Error && "code" in failure && failure.code === "EPERM";
  }
}

/** Socket addresses hold 108 bytes on Linux and 104 on macOS, both with a closing zero. */
const SOCKET_PATH_LIMIT_BYTES = 103;
const SOCKET_NAME = ".s.PGSQL.5432";

/** The cluster's own folder, or a short one of the account's own if that makes too long an address. */
async function socketFolderFor(cluster: string, account: Account): Promise<string> {
  if (fitsSocket(cluster)) return cluster;
  const name = `parley-${createHash("sha256").update(cluster).digest("hex").slice(0, 16)}`;
  const temporary = fitsSocket(join(tmpdir(), name)) ? tmpdir() : "/tmp";
  const folder = join(temporary, name);
  try {
    await mkdir(folder, { mode: 0o700 });
    await giveTo(account, folder);
  } catch (failure) {
    if (!(failure instanceof Error && "code" in failure && failure.code === "EEXIST")) throw failure;
  }
  let found = await lstat(folder);
  if (account && found.isDirectory() && found.uid === 0) {
    await giveTo(account, folder);
    found = await lstat(folder);
  }
  const owner = account?.uid ?? process.getuid?.();
  // Anybody may create names in a temporary folder: another account's folder must not be used.
  if (!found.isDirectory() || found.uid !== owner || (found.mode & 0o077) !== 0) {
    throw new Error(
      `${folder} should be a private folder for ${basename(cluster)}'s socket but is not; remove it.`,
    );
  }
  return folder;
}

function fitsSocket(folder: string): boolean {
  return Buffer.byteLength(join(folder, SOCKET_NAME)) <= SOCKET_PATH_LIMIT_BYTES;
}
