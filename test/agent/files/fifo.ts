// Detects without polling when processes start and end, by a FIFO that they have open.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";

export type Fifo = {
  path: string;
  /** Resolves when the first process has opened it for writing. */
  opened: Promise<unknown>;
  /** Resolves when no process has it open for writing any more. */
  closed: Promise<unknown>;
};

/**
 * Read by a separate process: opening and reading a FIFO would block one of Node's four file system threads, which the
 * rest of the process needs too.
 */
export function makeFifo(path: string): Fifo {
  execFileSync("mkfifo", [path]);
  const reader = spawn("sh", ["-c", 'exec <"$0"; echo opened; exec cat >/dev/null', path], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  // A FIFO that is never opened must not keep the tests from ending.
  reader.unref();
  (reader.stdout as Socket).unref();
  const end = () => reader.kill();
  process.once("exit", end);
  reader.once("exit", () => process.off("exit", end));
  return { path, opened: once(reader.stdout, "data"), closed: once(reader, "exit") };
}
