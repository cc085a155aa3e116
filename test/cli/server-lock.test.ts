// Which server runs on a data folder: one at a time, and killed ones are recognized.
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { lockServer } from "../../src/compose/start/server-lock.js";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "parley-lock-"));
});
afterEach(() => rm(folder, { recursive: true }));

const file = () => join(folder, "server.json");

async function hold() {
  const lock = await lockServer(folder);
  if (lock.kind !== "locked") throw new Error("The folder is locked.");
  return lock;
}

test("a second server learns the process and the address of the first, until that ends", async () => {
  const lock = await hold();
  expect(await lockServer(folder)).toEqual({ kind: "running", pid: process.pid, url: null });
  await lock.listens("http://127.0.0.1:4000");
  const url = "http://127.0.0.1:4000";
  expect(await lockServer(folder)).toEqual({ kind: "running", pid: process.pid, url });
  await lock.release();
  await (await hold()).release();
  expect(await readdir(folder)).toEqual([]);
});

test.each([
  ["of a process that is gone", JSON.stringify({ pid: 2 ** 22 + 1, startedAt: "1", url: null })],
  [
    "of an earlier process with a number in use",
    JSON.stringify({ pid: process.pid, startedAt: "1", url: null }),
  ],
  ["cut short by a full disk", '{"pid": 1'],
  ["that is empty", ""],
])("a file %s is replaced", async (_what, text) => {
  await writeFile(file(), text);
  await hold();
  expect(JSON.parse(await readFile(file(), "utf8"))).toMatchObject({ pid: process.pid });
  expect(await readdir(folder)).toEqual(["server.json"]);
});

test("of many servers that start at once over a stale file one gets the folder", async () => {
  await writeFile(file(), JSON.stringify({ pid: process.pid, startedAt: "1", url: null }));
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => lockServer(folder)));
  expect(outcomes.filter(({ kind }) => kind === "locked")).toHaveLength(1);
});

test("a released lock leaves the file of another server alone", async () => {
  const lock = await hold();
  await writeFile(file(), JSON.stringify({ pid: 1, startedAt: "1", url: null }));
  await lock.release();
  expect(await readdir(folder)).toEqual(["server.json"]);
});
