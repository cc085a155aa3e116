// The data folder: private, and never part of what a repository stages.
import { chmod, mkdir, mkdtemp, readdir, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openDataDir } from "../../src/compose/start/data-dir.js";
import { readConfig } from "../../src/config/config.js";
import { createGitRepository, type GitRepository } from "../support/git/git-repository.js";

let repository: GitRepository;
let home: string;

beforeEach(async () => {
  repository = await createGitRepository();
  home = await realpath(await mkdtemp(join(tmpdir(), "parley-home-")));
});
afterEach(async () => {
  await repository.remove();
  await rm(home, { recursive: true });
});

const configOf = (more: Record<string, string> = {}) =>
  readConfig({ HOME: home, XDG_STATE_HOME: join(home, "state"), ...more }, repository.folder);

/** What a cluster of PostgreSQL looks like from outside. */
async function makeCluster(mode: number): Promise<void> {
  const cluster = join(repository.folder, ".parley/postgres");
  for (const name of ["pg_twophase", "pg_tblspc", "pg_commit_ts"])
    await mkdir(join(cluster, name), { recursive: true });
  await writeFile(join(cluster, "PG_VERSION"), "15\n");
  await chmod(cluster, mode);
}

test("by default it is created in the user's state folder, for the user alone", async () => {
  const config = configOf();
  await openDataDir(config);
  expect((await stat(config.dataDir)).mode & 0o777).toBe(0o700);
  expect([config.dataDir.startsWith(home), await readdir(repository.folder)]).toEqual([
    true,
    expect.not.arrayContaining([".parley"]),
  ]);
});

test("an existing .parley is still used, and `git add -A` stages none of it", async () => {
  await makeCluster(0o700);
  const config = configOf();
  await openDataDir(config);
  await openDataDir(config);
  expect(config.dataDir).toBe(join(repository.folder, ".parley"));
  await repository.git("add", "-A");
  expect(await repository.git("status", "--porcelain")).toBe("");
});

test("a .parley from a checkout, or of instructions, is not taken for a data folder", async () => {
  await mkdir(join(repository.folder, ".parley"));
  expect(configOf().dataDir).toContain(home);
  await makeCluster(0o755);
  expect(configOf().dataDir).toContain(home);
  await chmod(join(repository.folder, ".parley/postgres"), 0o700);
  await writeFile(join(repository.folder, ".parley/postgres/pg_twophase/.keep"), "");
  expect(configOf().dataDir).toContain(home);
});

test("a chosen folder in the repository is ignored too, one with other content is left as it is", async () => {
  await openDataDir(configOf({ PARLEY_DATA_DIR: "var/parley" }));
  await openDataDir(configOf({ PARLEY_DATA_DIR: "src" }));
  await writeFile(join(repository.folder, "var/parley/secrets.key"), "key");
  await repository.git("add", "-A");
  expect(await repository.git("status", "--porcelain")).toBe("");
  expect(await readdir(join(repository.folder, "src"))).not.toContain(".gitignore");
});

test("a folder that cannot be created is explained, with its variable", async () => {
  const blocked = configOf({ PARLEY_DATA_DIR: "README.md/parley" });
  await expect(openDataDir(blocked)).rejects.toMatchObject({
    name: "ExplainedError",
    message: expect.stringMatching(/^PARLEY_DATA_DIR \(.*README\.md\/parley\) cannot be used: /),
  });
});
