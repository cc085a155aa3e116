// Starting the real program where something listens already.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { SERVER_PROGRAM } from "../support/build.js";
import { createTestDatabase, type TestDatabase } from "../support/database/database.js";
import { databaseUrl } from "../support/parley.js";
import { SECRETS_KEYS } from "../support/users/secrets-keys.js";

let database: TestDatabase;
let folder: string;
const servers: Server[] = [];
const children: ChildProcess[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), "parley-ports-"));
  // Run by root, the embedded PostgreSQL is another account that must be able to pass.
  await chmod(folder, 0o755);
  await mkdir(join(folder, "work"));
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill("SIGTERM");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  }
  for (const server of servers.splice(0)) server.close();
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

async function occupy(port: number): Promise<number> {
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  servers.push(server);
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Resolves when the program has ended, or has printed `until`. */
async function serve(settings: Record<string, string>, until?: RegExp) {
  const child = spawn(process.execPath, [SERVER_PROGRAM, "serve"], {
    cwd: join(folder, "work"),
    env: { PATH: process.env["PATH"], HOME: folder, PARLEY_LOG_LEVEL: "silent", ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  let output = "";
  const printed = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        if (until?.test(output)) resolve();
      });
    }
  });
  const closed = once(child, "close");
  await Promise.race([printed, closed]);
  return { child, output, exitCode: child.exitCode };
}

const shared = () => ({ DATABASE_URL: databaseUrl(database.options), PARLEY_SECRETS_KEYS: SECRETS_KEYS });

test("a taken port is named with its variable, and the first admin's token is not lost", async () => {
  const port = await occupy(0);
  const failed = await serve({ ...shared(), PARLEY_PORT: String(port) });
  expect([failed.exitCode, failed.output]).toEqual([
    1,
    expect.stringMatching(`^Parley could not start: PARLEY_PORT is ${port}, but another program listens on`),
  ]);
  expect(failed.output).not.toContain("\n    at ");
  expect(await database.dataSource.query("SELECT count(*)::int AS n FROM users")).toEqual([{ n: 0 }]);
  const second = await serve({ ...shared(), PARLEY_PORT: "0" }, /PARLEY_TOKEN=ply_/);
  expect(second.output).toContain("PARLEY_TOKEN=ply_");
});

test("without PARLEY_PORT the next free port is taken, and that is said", async () => {
  // In use by this test or by anything else on the machine.
  await occupy(4000).catch(() => {});
  const { output } = await serve(shared(), /Parley listens on http:\/\/127\.0\.0\.1:\d+[^]*PARLEY_PORT/);
  expect(output).toMatch(/Parley listens on http:\/\/127\.0\.0\.1:40(0[1-9]|1\d|20)\//);
  expect(output).toContain("Port 4000 is taken");
});

test("a second start on the same data says where the first one runs", async () => {
  const settings = { PARLEY_DATA_DIR: join(folder, "data"), PARLEY_PORT: "0" };
  const first = await serve(settings, /Parley listens on \S+/);
  const url = /Parley listens on (\S+)\//.exec(first.output)?.[1] ?? "";
  const second = await serve({ PARLEY_DATA_DIR: settings.PARLEY_DATA_DIR });
  expect([second.exitCode, second.output]).toEqual([
    1,
    expect.stringMatching(
      `^Parley runs already, as process ${first.child.pid}, .*\n\n  Open ${url}/graphql\n`,
    ),
  ]);
  first.child.kill("SIGKILL");
  await once(first.child, "exit");
  const third = await serve(settings, /Parley listens on \S+/);
  expect(third.output).toContain("Parley listens on");
});
