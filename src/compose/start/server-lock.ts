/**
 * The file in the data folder that says which server runs on it, and where. A second start finds it and names that address.
 * A file that a killed server left behind is recognized: its process is gone, or another one has its number.
 */
import { randomUUID } from "node:crypto";
import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { processEnvironment } from "../../config/config.js";
import { allowedEnvironment } from "../../lib/allowed-environment.js";
import { runProgram } from "../../lib/child-process.js";
import { parseProcessStat } from "../../lib/process-stat.js";

const FILE = "server.json";
const OWNER_ONLY = 0o600;
/** Each is lost to another start that was faster. */
const MAX_ATTEMPTS = 5;

const contentSchema = z.object({
  pid: z.number().int().positive(),
  /** Of the process, in words of the system: a later process of the same number has another one. */
  startedAt: z.string().nullable(),
  /** Null until it listens. */
  url: z.string().nullable(),
});
type Content = z.infer<typeof contentSchema>;

export type RunningServer = Pick<Content, "pid" | "url">;

export type ServerLock = {
  kind: "locked";
  /** Publishes the address. */
  listens(url: string | null): Promise<void>;
  /** Removes the file if it is still this server's. */
  release(): Promise<void>;
};

/** When a process started, as a text to compare; null when there is no such process. */
type StartOf = (pid: number) => string | null | Promise<string | null>;

/** The data folder must exist. Rejects when it cannot be written. */
export async function lockServer(
  dataDir: string,
  startOf: StartOf = startOfProcess,
): Promise<ServerLock | ({ kind: "running" } & RunningServer)> {
  const file = join(dataDir, FILE);
  const own: Content = { pid: process.pid, startedAt: await startOf(process.pid), url: null };
  for (let attempt = 1; ; attempt += 1) {
    if (await create(file, own)) return lockOf(file, own);
    const text = await readText(file);
    const other = parse(text);
    const runs = other !== null && (await isRunning(other, startOf));
    if (runs || attempt === MAX_ATTEMPTS)
      return { kind: "running", pid: other?.pid ?? 0, url: other?.url ?? null };
    if (text !== null && (await replaceStale(file, { text, own, startOf }))) return lockOf(file, own);
  }
}

/** Whether it is the process that wrote the file, and not a later one with its number. */
async function isRunning({ pid, startedAt }: Content, startOf: StartOf): Promise<boolean> {
  const start = await startOf(pid);
  return start !== null && start === startedAt;
}

function lockOf(file: string, own: Content): ServerLock {
  return {
    kind: "locked",
    async listens(url) {
      const draft = draftOf(file);
      await writeFile(draft, JSON.stringify({ ...own, url }), { mode: OWNER_ONLY });
      await rename(draft, file);
    },
    async release() {
      const current = parse(await readText(file));
      if (current?.pid === own.pid && current.startedAt === own.startedAt) await rm(file, { force: true });
    },
  };
}

/** False when there is a file already. It appears complete. */
async function create(file: string, content: Content): Promise<boolean> {
  const draft = draftOf(file);
  await writeFile(draft, JSON.stringify(content), { mode: OWNER_ONLY });
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/**
 * Puts `own` in the place of the file that was read. False when another start does so, or was faster. Only the holder of
 * a second file may replace, so that the file of a start that has just won is never removed.
 */
async function replaceStale(file: string, { text, own, startOf }: StaleFile): Promise<boolean> {
  const mutex = `${file}.next`;
  if (!(await create(mutex, own))) {
    const holder = parse(await readText(mutex));
    if (holder === null || !(await isRunning(holder, startOf))) await rm(mutex, { force: true });
    return false;
  }
  try {
    if ((await readText(file)) !== text) return false;
    const draft = draftOf(file);
    await writeFile(draft, JSON.stringify(own), { mode: OWNER_ONLY });
    await rename(draft, file);
    return true;
  } finally {
    await rm(mutex, { force: true });
  }
}

type StaleFile = { text: string; own: Content; startOf: StartOf };

function draftOf(file: string): string {
  return `${file}.${randomUUID()}`;
}

async function readText(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    throw error;
  }
}

/** Null for anything but a whole file of ours. */
function parse(text: string | null): Content | null {
  try {
    return contentSchema.parse(JSON.parse(text ?? ""));
  } catch {
    return null;
  }
}

/** Killed, but not yet collected by their parents. */
const ENDED_STATES = ["Z", "X"];

async function startOfProcess(pid: number): Promise<string | null> {
  try {
    // The start is the twentieth field.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [state = "", ...others] = parseProcessStat(stat).fields;
    return ENDED_STATES.includes(state) ? null : (others[18] ?? null);
  } catch {
    return process.platform === "linux" ? null : await startFromPs(pid);
  }
}

async function startFromPs(pid: number): Promise<string | null> {
  try {
    const env = allowedEnvironment(processEnvironment(), []);
    const { stdout } = await runProgram("ps", ["-o", "lstart=", "-p", String(pid)], { env });
    return stdout.trim() === "" ? null : stdout.trim();
  } catch {
    return null; // `ps` fails for an unknown process.
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
