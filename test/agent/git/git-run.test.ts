// Limits of single git runs: a git that hangs or prints endlessly, and the result of the scan.
import { chmod, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { scanRepository } from "../../../src/agent/git/scan-repository.js";
import { isRepositoryThere } from "../../../src/agent/git/find-roots.js";
import { createRunGit, GIT_TIMEOUT_MS, type RunGit } from "../../../src/agent/git/run-git.js";
import { makeRepository, write } from "./git-support.js";
import { ManualClock } from "../manual-clock.js";
import { makeFolder } from "../support.js";

let folder: string;
const clock = new ManualClock();
const never = new AbortController().signal;
const MARK = `PARLEY_TEST_RUN_${process.pid}`;
beforeAll(async () => {
  folder = await makeFolder();
});
afterAll(() => rm(folder, { recursive: true }));

/** A program named git that runs this script and, unless the script exits, the real git. */
async function gitThat(name: string, script: string): Promise<RunGit> {
  const binFolder = join(folder, name);
  await mkdir(binFolder);
  const path = process.env["PATH"] ?? "";
  await writeFile(join(binFolder, "git"), `#!/bin/sh\nPATH='${path}'\n${script}\nexec git "$@"\n`);
  await chmod(join(binFolder, "git"), 0o755);
  return createRunGit({ environment: { PATH: `${binFolder}:${path}`, MARK }, clock });
}

async function running(): Promise<number> {
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const all = await Promise.all(ids.map((id) => readFile(`/proc/${id}/environ`, "latin1").catch(() => "")));
  return all.filter((environment) => environment.includes(MARK)).length;
}

async function untilRunning(count: number): Promise<void> {
  while ((await running()) !== count) await new Promise((resolve) => setImmediate(resolve));
}

test("[G20] a git that hangs is killed after 30 seconds, with all that it started", async () => {
  const runGit = await gitThat("hangs", "sleep 1000 & sleep 1000");
  const outcome = runGit({ directory: folder, arguments: ["status"], maxBytes: 1_000 }, never);
  await untilRunning(3);
  clock.advance(GIT_TIMEOUT_MS);
  expect(await outcome).toEqual({ kind: "timed-out" });
  await untilRunning(0);
});

test("[G13] a git with too much output is killed, and only the beginning is retained", async () => {
  const runGit = await gitThat("talks", "yes");
  const outcome = await runGit({ directory: folder, arguments: ["diff"], maxBytes: 5 }, never);
  expect(outcome).toEqual({ kind: "too-long", output: Buffer.from("y\ny\ny") });
  await untilRunning(0);
});

test("[G20] an aborted run kills git", async () => {
  const runGit = await gitThat("waits", "sleep 1000");
  const stop = new AbortController();
  const outcome = runGit({ directory: folder, arguments: ["status"], maxBytes: 1_000 }, stop.signal);
  outcome.catch(() => undefined);
  await untilRunning(2);
  stop.abort(new Error("no interest"));
  await expect(outcome).rejects.toThrow("no interest");
  await untilRunning(0);
});

test("[G13] a diff that takes too long is a line that says so", async () => {
  const root = await makeRepository(join(folder, "slow-repository"));
  await write(root, { "a.txt": "two\n" });
  const runGit = await gitThat("thinks", 'case " $* " in *" diff "*) sleep 1000;; esac');
  const dependencies = { runGit, temporaryDirectory: () => Promise.resolve(folder) };
  const scan = scanRepository(root, undefined, dependencies, never);
  await untilRunning(2);
  clock.advance(GIT_TIMEOUT_MS);
  expect(await scan).toEqual({
    kind: "scanned",
    fingerprint: expect.any(String) as string,
    state: {
      ...{ branch: "main", remoteOrigin: null, isTruncated: true },
      unifiedDiff: "The diff takes too long to compute; only the branch and the origin are shown.\n",
    },
  });
});

test("[G15] git's error message is the reason of a failed scan", async () => {
  const root = await makeRepository(join(folder, "failing-repository"));
  const runGit = await gitThat("fails", 'case " $* " in *" status "*) echo "fatal: no" >&2; exit 128;; esac');
  const dependencies = { runGit, temporaryDirectory: () => Promise.resolve(folder) };
  expect(await scanRepository(root, undefined, dependencies, never)).toEqual({
    kind: "failed",
    reason: "git status ended with 128: fatal: no",
  });
});

test("[G14] a link in place of `.git` that leads nowhere is no repository any more", async () => {
  const root = await makeRepository(join(folder, "linked-repository"));
  const before = await isRepositoryThere(root);
  await rename(join(root, ".git"), join(folder, "elsewhere"));
  await symlink(join(folder, "elsewhere"), join(root, ".git"));
  const during = await isRepositoryThere(root);
  await rm(join(folder, "elsewhere"), { recursive: true });
  expect([before, during, await isRepositoryThere(root)]).toEqual([true, true, false]);
});
