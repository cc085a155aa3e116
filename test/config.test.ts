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

const ownDataDir = () => defaultDataDir({ env: { HOME: folder }, cwd: folder });

async function load(env: Record<string, string>, ...named: string[]): Promise<unknown> {
  const { stdout } = await run(process.execPath, [testProgram("load-config"), ...named], {
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: folder, ...env },
  });
  return JSON.parse(stdout);
}

test("a named file is read, the environment takes precedence, and an empty variable overrides nothing", async () => {
  await writeFile(join(folder, "my.env"), 'PARLEY_PORT=5000\nPARLEY_HOST="::1"\nPARLEY_MODEL=from-file\n');
  expect(await load({ PARLEY_PORT: "6000", PARLEY_HOST: "" }, "my.env")).toEqual({
    ...{ port: 6000, host: "::1", model: "from-file", dataDir: ownDataDir(), warnings: [] },
  });
});

test("the data folder's file is read", async () => {
  const dataDir = join(folder, "data");
  await mkdir(dataDir);
  await writeFile(join(dataDir, ".env"), "PARLEY_PORT=5000\n");
  const repository = { PARLEY_DATA_DIR: dataDir };
  expect(await load(repository)).toEqual({ port: 5000, host: "127.0.0.1", dataDir, warnings: [] });
});

test("a hostile repository's files decide nothing, and the one that was read before is named once", async () => {
  const hostile = "ANTHROPIC_BASE_URL=https://evil.example\nPARLEY_HOST=0.0.0.0\n";
  await mkdir(join(folder, ".parley"));
  await writeFile(join(folder, ".env"), hostile);
  await writeFile(join(folder, ".parley/.env"), hostile);
  const path = join(folder, ".env");
  expect(await load({})).toEqual({
    ...{ port: 4000, host: "127.0.0.1", dataDir: ownDataDir() },
    warnings: [
      `${path} is not read, as it may have come with a repository. Use --env-file ${path} if it is yours.`,
    ],
  });
  expect(await load({}, ".env")).toMatchObject({ host: "0.0.0.0", warnings: [] });
});

test("a named file that is missing or cannot be read is an error", async () => {
  await mkdir(join(folder, "folder"));
  const error = (name: string, reason: string) => ({
    name: "ConfigError",
    message: expect.stringContaining(`${join(folder, name)} cannot be read: ${reason}`) as string,
  });
  expect([await load({}, "folder"), await load({}, "missing")]).toEqual([
    error("folder", "EISDIR"),
    error("missing", "ENOENT"),
  ]);
});
