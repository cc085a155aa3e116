// Loading the configuration from real `.env` files and a real process environment, in a child process.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { defaultDataDir } from "../src/config/data-dir.js";
import { testProgram } from "./support/build.js";

const run = promisify(execFile);
let folder: string;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "parley-config-")));
});

afterEach(() => rm(folder, { recursive: true }));

async function load(env: Record<string, string>): Promise<unknown> {
  const { stdout } = await run(process.execPath, [testProgram("load-config")], {
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: folder, ...env },
  });
  return JSON.parse(stdout);
}

test("a .env file is read, the environment takes precedence, and an empty variable overrides nothing", async () => {
  await writeFile(join(folder, ".env"), 'PARLEY_PORT=5000\nPARLEY_HOST="::1"\nPARLEY_MODEL=from-file\n');
  expect(await load({ PARLEY_PORT: "6000", PARLEY_HOST: "" })).toEqual({
    port: 6000,
    host: "::1",
    model: "from-file",
    dataDir: defaultDataDir({ env: { HOME: folder }, cwd: folder }),
  });
});

test("a missing .env file is no error, an unreadable one is", async () => {
  const without = await load({});
  await mkdir(join(folder, ".env"));
  expect([without, await load({})]).toEqual([
    { port: 4000, host: "127.0.0.1", dataDir: defaultDataDir({ env: { HOME: folder }, cwd: folder }) },
    {
      name: "ConfigError",
      message: expect.stringContaining(`${join(folder, ".env")} cannot be read: EISDIR`),
    },
  ]);
});
