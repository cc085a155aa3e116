// Tells without polling when processes are there and when they are gone, by a pipe that they hold open.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { finished } from "node:stream/promises";

export type Fifo = {
  path: string;
  /** Resolves when the first process has opened it for writing. */
  opened: Promise<unknown>;
  /** Resolves when everyone who had it open for writing is gone. */
  closed: Promise<void>;
};

export function makeFifo(path: string): Fifo {
  execFileSync("mkfifo", [path]);
  const stream = createReadStream(path);
  return { path, opened: once(stream, "open"), closed: finished(stream.resume()) };
}
