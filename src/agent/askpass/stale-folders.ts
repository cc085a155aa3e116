/** Removal of askpass folders that killed agents left behind: their sockets have no listener. */
import { lstat, readdir, rm } from "node:fs/promises";
import { createConnection } from "node:net";
import { join } from "node:path";
import { errorCode } from "../outcome.js";

/** Younger ones may belong to an agent that is about to listen. */
const MIN_AGE_MS = 60_000;

/**
 * Removes those in `parent` whose names begin with `prefix`; other users' folders and those in use stay. Never
 * rejects.
 */
export async function removeStaleFolders(
  parent: string,
  prefix: string,
  socketName: string,
  nowMs: number,
): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  for (const name of names) {
    if (!name.startsWith(prefix)) continue;
    const folder = join(parent, name);
    if (await isStale(join(folder, socketName), folder, nowMs)) {
      // Another agent may be doing the same.
      await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    }
  }
}

async function isStale(socketPath: string, folder: string, nowMs: number): Promise<boolean> {
  try {
    const { mtimeMs, uid } = await lstat(folder);
    if (uid !== process.getuid?.() || nowMs - mtimeMs < MIN_AGE_MS) return false;
  } catch {
    return false;
  }
  return new Promise((resolve) => {
    const socket = createConnection(socketPath);
    socket.once("connect", () => (socket.destroy(), resolve(false)));
    // ECONNREFUSED: no listener. Any other failure is inconclusive.
    socket.once("error", (error) => resolve(errorCode(error) === "ECONNREFUSED"));
  });
}
