// The embedded database with real PostgreSQL processes: first start, restart, sharing, and every kind of sudden end.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmod,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createLog } from "../../src/lib/log.js";
import {
  type EmbeddedPostgres,
  openEmbeddedPostgres,
} from "../../src/store/embedded-postgres/embedded-postgres.js";
import { testProgram } from "../support/build.js";

const log = createLog("silent");
const isRoot = process.getuid?.() === 0;

/** A data folder with an empty database that is not running. */
let madeBefore: string;
let folder: string;
let dataDir: string;
let systemDir: string;
let opened: EmbeddedPostgres[];
let children: ChildProcess[];

beforeAll(async () => {
  madeBefore = await mkdtemp(join(tmpdir(), "parley-embedded-"));
  await chmod(madeBefore, 0o755);
  const options = { dataDir: madeBefore, systemDir: join(madeBefore, "system"), log, durable: false };
  await (await openEmbeddedPostgres(options)).close();
});
afterAll(() => rm(madeBefore, { recursive: true, force: true }));

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "parley-embedded-"));
  await chmod(folder, 0o755);
  dataDir = join(folder, "data");
  systemDir = join(folder, "system");
  opened = [];
  children = [];
});

afterEach(async () => {
  for (const child of children) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
  }
  await Promise.all(opened.map((database) => database.close()));
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

async function open(directory = dataDir): Promise<EmbeddedPostgres> {
  const database = await openEmbeddedPostgres({ dataDir: directory, systemDir, log, durable: false });
  opened.push(database);
  return database;
}

/** For tests that are not about the first start, which takes a second of CPU time. */
async function createdBefore(): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  await promisify(execFile)("cp", ["-a", join(madeBefore, "postgres"), dataDir]);
}

async function query(at: { host: string }, text: string): Promise<unknown[]> {
  const client = new pg.Client({ host: at.host, port: 5432, user: "parley", database: "parley" });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** Another server process that opens the same data folder. */
async function openElsewhere(): Promise<{ host: string; child: ChildProcess }> {
  const child = spawn(process.execPath, [testProgram("open-database"), dataDir, systemDir], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  children.push(child);
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return { child, ...(JSON.parse(String(line)) as { host: string }) };
}

/** Resolves when the process that serves this connection is gone. */
async function connectionLoss(at: { host: string }): Promise<{ lost: Promise<unknown>; postmaster: number }> {
  const client = new pg.Client({ host: at.host, port: 5432, user: "parley", database: "parley" });
  client.on("error", () => undefined);
  await client.connect();
  const postmaster = Number.parseInt(await readFile(join(at.host, "postmaster.pid"), "utf8"), 10);
  return { lost: new Promise((resolve) => client.once("end", resolve)), postmaster };
}

describe("the embedded database", () => {
  test("is created on first use as UTF-8 with one empty database and no port", async () => {
    const database = await open();
    const rows = await query(
      database,
      "SELECT current_database() AS name, current_user AS user, current_setting('listen_addresses') AS addresses, " +
        "current_setting('server_encoding') AS encoding, current_setting('TimeZone') AS zone",
    );
    expect({ ...database, close: undefined, rows }).toEqual({
      host: join(dataDir, "postgres"),
      port: 5432,
      user: "parley",
      database: "parley",
      close: undefined,
      rows: [{ name: "parley", user: "parley", addresses: "", encoding: "UTF8", zone: "UTC" }],
    });
  });

  test("grants only its own account access to its folder", async () => {
    const database = await open();
    expect((await stat(database.host)).mode & 0o777).toBe(0o700);
  });

  test("keeps its rows over a restart", async () => {
    await createdBefore();
    const first = await open();
    await query(first, "CREATE TABLE kept AS SELECT 1 AS one");
    await first.close();
    expect(await query(await open(), "SELECT * FROM kept")).toEqual([{ one: 1 }]);
  });

  test("is gone after close, and closing twice is harmless", async () => {
    await createdBefore();
    const database = await open();
    await Promise.all([database.close(), database.close()]);
    expect((await readdir(database.host)).filter((name) => name.includes("postmaster.pid"))).toEqual([]);
  });

  test("is one database when two servers start at the same moment", async () => {
    const [one, two] = await Promise.all([open(), open()]);
    await query(one, "CREATE TABLE shared AS SELECT 1 AS one");
    expect([await query(two, "SELECT * FROM shared"), await readdir(dataDir)]).toEqual([
      [{ one: 1 }],
      ["postgres"],
    ]);
  });

  test("is one database when two processes start at the same moment", async () => {
    const [one, two] = await Promise.all([openElsewhere(), openElsewhere()]);
    await query(one, "CREATE TABLE shared AS SELECT 1 AS one");
    expect([await query(two, "SELECT * FROM shared"), await readdir(dataDir)]).toEqual([
      [{ one: 1 }],
      ["postgres"],
    ]);
  });

  test("is joined by a second server, which leaves it running when it stops", async () => {
    await createdBefore();
    const owner = await open();
    const guest = await open();
    await query(guest, "CREATE TABLE shared AS SELECT 1 AS one");
    await guest.close();
    expect(await query(owner, "SELECT * FROM shared")).toEqual([{ one: 1 }]);
  });

  test("is restarted by the second server when its owner closes", async () => {
    await createdBefore();
    const owner = await openElsewhere();
    const guest = await open();
    const before = await connectionLoss(guest);
    owner.child.stdin?.end();
    await before.lost;
    // A third server's start ends when the database runs again, whichever server started it.
    await open();
    expect(await query(guest, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  test("ends when its server is killed", async () => {
    await createdBefore();
    const owner = await openElsewhere();
    const { lost, postmaster } = await connectionLoss(owner);
    owner.child.kill("SIGKILL");
    await lost;
    const next = await open();
    const now = Number.parseInt(await readFile(join(next.host, "postmaster.pid"), "utf8"), 10);
    expect({ another: now !== postmaster, rows: await query(next, "SELECT 1 AS one") }).toEqual({
      another: true,
      rows: [{ one: 1 }],
    });
  });

  test("is started again when it is killed itself", async () => {
    await createdBefore();
    const owner = await openElsewhere();
    await query(owner, "CREATE TABLE kept AS SELECT 1 AS one");
    const { lost, postmaster } = await connectionLoss(owner);
    process.kill(postmaster, "SIGKILL");
    await lost;
    expect(await query(await open(), "SELECT * FROM kept")).toEqual([{ one: 1 }]);
  });

  test("survives a process-id file left by a dead process", async () => {
    await createdBefore();
    const first = await open();
    const pidFile = join(first.host, "postmaster.pid");
    const text = await readFile(pidFile, "utf8");
    await first.close();
    const dead = spawn("true");
    await once(dead, "exit");
    await writeFile(pidFile, text.replace(/^\d+/, String(dead.pid)));
    expect(await query(await open(), "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  test("survives a process-id file whose number belongs to another program now", async () => {
    await createdBefore();
    const first = await open();
    const pidFile = join(first.host, "postmaster.pid");
    const text = await readFile(pidFile, "utf8");
    const { uid, gid } = await stat(first.host);
    await first.close();
    const stranger = spawn("sleep", ["600"], isRoot ? { uid, gid, cwd: "/" } : {});
    children.push(stranger);
    await writeFile(pidFile, text.replace(/^\d+/, String(stranger.pid)));
    expect(await query(await open(), "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  test("removes what a killed first start left", async () => {
    const dead = spawn("true");
    await once(dead, "exit");
    await mkdir(join(dataDir, `postgres.unfinished-${dead.pid}-abc`), { recursive: true });
    await open();
    expect(await readdir(dataDir)).toEqual(["postgres"]);
  });

  test("works in a folder whose path is too long for a socket and has odd characters", async () => {
    const odd = join(folder, `o'd,d "na\\me" é `.padEnd(90, "x"), "d".repeat(90));
    const database = await open(odd);
    expect({
      long: database.host.length < 60,
      rows: await query(database, "SELECT current_setting('data_directory') AS folder"),
    }).toEqual({ long: true, rows: [{ folder: join(odd, "postgres") }] });
    await rm(database.host, { recursive: true, force: true });
  });

  test("works in a short folder with odd characters", async () => {
    const database = await open(join(folder, `a,b "c" d`));
    expect(await query(database, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  test("refuses a folder that is something else, with advice", async () => {
    await mkdir(join(dataDir, "postgres"), { recursive: true });
    await writeFile(join(dataDir, "postgres", "diary.txt"), "dear diary");
    await expect(open()).rejects.toThrow(/cannot be used as a database.*DATABASE_URL/s);
  });

  test("says why it does not start", async () => {
    await createdBefore();
    const first = await open();
    await first.close();
    await writeFile(join(first.host, "postgresql.conf"), "nonsense = 1\n");
    await expect(open()).rejects.toThrow(/did not start.*unrecognized configuration parameter "nonsense"/s);
  });
});

describe.runIf(isRoot)("the embedded database of root", () => {
  test("belongs to an account without rights", async () => {
    const database = await open();
    expect((await stat(database.host)).uid).not.toBe(0);
  });

  test("lies in a system folder when the data folder is private, and a link leads there", async () => {
    await mkdir(dataDir, { mode: 0o700 });
    const first = await open();
    await query(first, "CREATE TABLE kept AS SELECT 1 AS one");
    await first.close();
    const again = await open();
    expect({
      inSystem: again.host.startsWith(systemDir),
      link: await readlink(join(dataDir, "postgres")),
      rows: await query(again, "SELECT * FROM kept"),
    }).toEqual({ inSystem: true, link: first.host, rows: [{ one: 1 }] });
  });

  test("is created once when two servers with a private data folder start at the same moment", async () => {
    await mkdir(dataDir, { mode: 0o700 });
    const [one, two] = await Promise.all([open(), open()]);
    expect([one.host === two.host, await readdir(systemDir)]).toEqual([
      true,
      [one.host.slice(systemDir.length + 1)],
    ]);
  });

  test("accepts a copy of its data made by root", async () => {
    await createdBefore();
    const first = await open();
    await first.close();
    await cp(first.host, join(folder, "copy", "postgres"), { recursive: true });
    const copy = await open(join(folder, "copy"));
    expect({ uid: (await lstat(copy.host)).uid === 0, rows: await query(copy, "SELECT 1 AS one") }).toEqual({
      uid: false,
      rows: [{ one: 1 }],
    });
  });
});
