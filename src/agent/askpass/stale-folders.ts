/** Agents that were killed leave their folder behind, with a socket on which nobody listens. */
import { lstat, readdir, rm } from "node:fs/promises";
import { createConnection } from "node:net";
import { join } from "node:path";
import { errorCode } from "../outcome.js";

/** Younger ones may belong to an agent that is just about to listen. */
const MIN_AGE_MS = 60_000;

/** Removes those in `parent` whose names begin with `prefix`; what is not ours, or in use, stays. Never rejects. */
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
    if (await isLeft(join(folder, socketName), folder, nowMs)) {
      // Another agent may be doing the same.
      await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    }
  }
}

async function isLeft(socketPath: string, folder: string, nowMs: number): Promise<boolean> {
  try {
    const { mtimeMs, uid } = await lstat(folder);
    if (uid !== process.getuid?.() || nowMs - mtimeMs < MIN_AGE_MS) return false;
  } catch {
    return false;
  }
  return new Promise((resolve) => {
    const socket = createConnection(socketPath);
    socket.once("connect", () => (socket.destroy(), resolve(false)));
    // Nothing listens; any other failure says nothing about that.
    socket.once("error", (error) => resolve(errorCode(error) === "ECONNREFUSED"));
  });
}
