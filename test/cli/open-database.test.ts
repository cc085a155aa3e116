// Opening a command's database: waits for one that is still starting, and explains every other failure.
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDatabase } from "../../src/compose/open-database.js";
import { readConfig } from "../../src/config/config.js";
import { createLog } from "../../src/lib/log.js";
import { SERVER_PROGRAM } from "../support/build.js";
import { createTestDatabase, type TestDatabase } from "../support/database/database.js";
import { eventually } from "../support/eventually.js";
import { freePort } from "../support/network/free-port.js";
import { databaseUrl } from "../support/parley.js";
import { SECRETS_KEYS } from "../support/users/secrets-keys.js";

const KEYS = { PARLEY_SECRETS_KEYS: SECRETS_KEYS };
let base: TestDatabase;
let folder: string;
beforeAll(async () => {
  base = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), "parley-opening-"));
});
afterAll(async () => {
  await base.drop();
  await rm(folder, { recursive: true });
});

const configOf = (environment: Record<string, string>) =>
  readConfig({ ...KEYS, ...environment }, folder, () => true);

function listening(): { log: ReturnType<typeof createLog>; lines: string[] } {
  const lines: string[] = [];
  const into = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(...chunk.toString().trim().split("\n"));
      done();
    },
  });
  return { log: createLog("info", "test", into), lines };
}

/** Address of the tests' PostgreSQL. */
function target(): { path: string } | { host: string; port: number } {
  const { url, host = "localhost", port = 5432 } = base.options;
  if (url !== undefined) return { host: new URL(url).hostname, port: Number(new URL(url).port || 5432) };
  return host.startsWith("/") ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
}

test("a database that is still starting is waited for, and that is logged once", async () => {
  const port = await freePort();
  const url = new URL(databaseUrl(base.options));
  const through = `postgres://${url.username}@127.0.0.1:${port}${url.pathname}`;
  const { log, lines } = listening();
  const opening = openDatabase(configOf({ DATABASE_URL: through }), log);
  const isLogged = () => expect(lines.filter((line) => line.includes("waiting for"))).toHaveLength(1);
  await eventually(isLogged);
  const proxy = createServer((client) => {
    const upstream = connect(target());
    client.on("error", () => upstream.destroy());
    upstream.on("error", () => client.destroy());
    client.pipe(upstream).pipe(client);
  });
  proxy.listen(port, "127.0.0.1");
  await once(proxy, "listening");
  expect((proxy.address() as AddressInfo).port).toBe(port);
  const opened = await opening;
  isLogged();
  expect(lines.join()).toContain(`DATABASE_URL (127.0.0.1:${port}`);
  expect(await opened.database.query({ name: "test-one", text: "SELECT 1 AS one" }, [])).toEqual([
    { one: 1 },
  ]);
  await opened.close();
  proxy.close();
});

test("errors name the variable to check, and never a password", async () => {
  const file = join(folder, "a-file");
  await writeFile(file, "");
  const nowhere = `postgres://me:secret@127.0.0.1:${await freePort()}/nowhere`;
  const missing = new URL(databaseUrl(base.options));
  missing.pathname = "/parley_test_no_such_database";
  const cases: [Record<string, string>, RegExp][] = [
    [
      { DATABASE_URL: nowhere, PARLEY_DATABASE_WAIT_MS: "0" },
      /^The database of DATABASE_URL \(127\.0\.0\.1:\d+\/nowhere\) cannot be reached: .*ECONNREFUSED.*PARLEY_DATABASE_WAIT_MS/,
    ],
    [{ DATABASE_URL: missing.href }, /^The database of DATABASE_URL \(.*\) cannot be used: .*does not exist/],
    [{ PARLEY_DATA_DIR: file }, /embedded database in PARLEY_DATA_DIR \(.*a-file\): .*E(NOTDIR|EXIST)/],
  ];
  for (const [environment, message] of cases) {
    const failed = openDatabase(configOf(environment), createLog("silent"));
    await expect(failed).rejects.toMatchObject({
      name: "ExplainedError",
      message: expect.stringMatching(message),
    });
    await expect(failed).rejects.not.toMatchObject({ message: expect.stringContaining("secret") });
  }
});

test("a schema newer than the program is refused by every command, with both versions, and left unchanged", async () => {
  const run = promisify(execFile);
  await base.dataSource.query(
    `INSERT INTO migrations ("timestamp", name) VALUES (9999999999999, 'Tomorrow9999999999999')`,
  );
  const env = { PATH: process.env["PATH"], HOME: folder, DATABASE_URL: databaseUrl(base.options), ...KEYS };
  for (const command of ["migrate", "serve"]) {
    const failed = run(process.execPath, [SERVER_PROGRAM, command], { cwd: folder, env }).catch(
      (error: unknown) => error,
    );
    const { code, stderr } = (await failed) as { code: number; stderr: string };
    expect([command, code, stderr]).toEqual([
      command,
      1,
      expect.stringMatching(
        /newer version of Parley: its schema is at Tomorrow9999999999999, .* knows it up to \w+\d{13}/,
      ),
    ]);
    expect(stderr).not.toContain("    at ");
  }
  const [row] = await base.dataSource.query(
    "SELECT count(*)::int AS count FROM migrations WHERE name LIKE 'Tomorrow%'",
  );
  expect(row).toEqual({ count: 1 });
});
