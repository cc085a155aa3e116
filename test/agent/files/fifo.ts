// Tells without polling when processes are there and when they are gone, by a pipe that they hold open.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";

export type Fifo = {
  path: string;
  /** Resolves when the first process has opened it for writing. */
  opened: Promise<unknown>;
  /** Resolves when everyone who had it open for writing is gone. */
  closed: Promise<unknown>;
};

/**
 * A process of its own reads: opening and reading a FIFO block, and Node has four threads for that in all, which
 * everything else in the process needs too.
 */
export function makeFifo(path: string): Fifo {
  execFileSync("mkfifo", [path]);
  const reader = spawn("sh", ["-c", 'exec <"$0"; echo opened; exec cat >/dev/null', path], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  // What nobody ever opens must not keep the tests from ending.
  reader.unref();
  (reader.stdout as Socket).unref();
  const end = () => reader.kill();
  process.once("exit", end);
  reader.once("exit", () => process.off("exit", end));
  return { path, opened: once(reader.stdout, "data"), closed: once(reader, "exit") };
}
