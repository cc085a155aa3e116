// The command line as users have it: help, hints, completion, the sources of settings.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { VERSION } from "../../src/lib/version.js";
import { SERVER_PROGRAM } from "../support/build.js";

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "parley-program-")));
});
afterEach(() => rm(folder, { recursive: true }));

async function run(words: string, env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [SERVER_PROGRAM, ...words.split(" ").filter((word) => word !== "")], {
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: folder, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  const [exitCode] = (await once(child, "close")) as [number | null];
  return { exitCode, ...output };
}

test("--version prints the version", async () => {
  expect(await run("--version")).toEqual({ exitCode: 0, stdout: `${VERSION}\n`, stderr: "" });
});

test.each([
  ["--help", /Usage: parley \[options\] \[command\]/],
  ["serve --help", /Usage: parley serve \[options\][^]*--port[^]*--open/],
  ["serve --port 1 --help", /Usage: parley serve/],
  ["agent -h", /Usage: parley agent/],
  ["demo-model --help", /Usage: parley demo-model/],
  ["workspace add --help", /Usage: parley workspace add/],
  ["secrets rotate --help", /Usage: parley secrets rotate/],
  ["help", /Usage: parley \[options\]/],
  ["help token", /Usage: parley token/],
  ["help agent", /Usage: parley agent/],
  ["help settings", /PARLEY_PORT[^]*PARLEY_METRICS_ADDRESS/],
  ["help settings git", /PARLEY_GIT_HOSTS_PRIVATE_NETWORK/],
])("`parley %s` explains, and does nothing", async (words, text) => {
  expect(await run(words)).toEqual({ exitCode: 0, stdout: expect.stringMatching(text), stderr: "" });
  expect(await readdir(folder)).toEqual([]);
});

test.each([
  ["", /Usage: parley/],
  ["serv", /unknown command 'serv'\n\(Did you mean serve\?\)/],
  ["serve --prot 4001", /unknown option '--prot'\n\(Did you mean --port\?\)/],
  ["serve --port many", /whole number from 0 to 65535/],
  ["serve now", /too many arguments/],
  ["agent --directry /", /Did you mean --directory\?/],
  ["workspace ad --name x", /Did you mean add\?/],
  ["workspace add", /--name/],
  ["token --scope read", /Did you mean --scopes\?/],
  ["secrets", /Usage: parley secrets/],
  ["help settings gti", /no topic gti. Did you mean git\?/],
  ["help serv", /Did you mean serve\?/],
])("`parley %s` is refused with a hint and without a stack", async (words, text) => {
  const { exitCode, stdout, stderr } = await run(words);
  expect({ exitCode, stdout, stderr }).toEqual({
    exitCode: 2,
    stdout: "",
    stderr: expect.stringMatching(text),
  });
  expect(stderr).not.toContain("\n    at ");
});

test.each(["bash", "zsh", "fish"])(
  "`parley completion %s` prints a script that asks parley",
  async (shell) => {
    const { exitCode, stdout } = await run(`completion ${shell}`);
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining("parley complete --")]);
  },
);

test("completion knows commands and options", async () => {
  expect((await run("complete -- se")).stdout).toMatch(/^serve\t.*\nsecrets\t/);
  expect((await run("complete -- serve --po")).stdout).toMatch(/^--port\t/);
});

test("settings come from the command line, the environment, files, in that order", async () => {
  const dataDir = join(folder, "data");
  await mkdir(dataDir);
  const config = join(dataDir, "parley.config.yaml");
  await writeFile(config, "PARLEY_PORT: one\n");
  const env = { PARLEY_DATA_DIR: dataDir };
  const complaint = async (words: string, more: Record<string, string> = {}) =>
    (await run(words, { ...env, ...more })).stderr;
  expect(await complaint("serve")).toContain('but is "one"');
  await writeFile(join(folder, "my.env"), "PARLEY_PORT=two\n");
  expect(await complaint("serve --env-file my.env")).toContain('but is "two"');
  expect(await complaint("serve --env-file my.env", { PARLEY_PORT: "three" })).toContain('but is "three"');
  await writeFile(join(folder, "other.yaml"), "PARLEY_HOTS: ::1\n");
  for (const named of [
    complaint("migrate --config other.yaml"),
    complaint("migrate", { PARLEY_CONFIG: "other.yaml" }),
  ])
    expect(await named).toMatch(/PARLEY_HOTS in .*other\.yaml is not a setting. Did you mean PARLEY_HOST\?/);
  expect(await complaint("serve --config none.yaml")).toMatch(/none\.yaml cannot be read: ENOENT/);
  // Node 20 reads the option itself, wherever it stands, and complains first.
  expect(await complaint("serve --env-file none.env")).toMatch(
    /none\.env(: not found| cannot be read: ENOENT)/,
  );
});

test("a configuration file in a .parley of the working directory is not read", async () => {
  await mkdir(join(folder, ".parley/postgres"), { recursive: true, mode: 0o700 });
  for (const name of ["pg_twophase", "pg_tblspc", "pg_commit_ts"])
    await mkdir(join(folder, ".parley/postgres", name));
  await writeFile(join(folder, ".parley/parley.config.yaml"), "PARLEY_PORT: one\n");
  const { stderr } = await run("serve", { PARLEY_ROLE: "none" });
  expect(stderr).toContain("PARLEY_ROLE");
  expect(stderr).not.toContain("PARLEY_PORT");
});
