/**
 * Real pipes for what commands say. Those that Node makes for its children are sockets, and a socket cannot be opened
 * by name: `tee /dev/stderr` or `> /dev/stdout` would fail. One pipe for both streams also keeps them in order.
 */
import { execFile } from "node:child_process";
import { closeSync, constants, openSync, rmdirSync, rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Log } from "../../lib/log.js";

const run = promisify(execFile);

/** Made by one program run, so that only every eighth command waits for it; two open files each. */
const BATCH_SIZE = 8;
/** It makes eight directory entries; on a machine so busy that this takes longer, commands do without. */
const MAKE_TIMEOUT_MS = 5_000;

/** Both ends, open in this process. Whoever takes a pipe closes both. */
export type OutputPipe = { readFd: number; writeFd: number };

export class OutputPipes {
  #ready: OutputPipe[] = [];
  #making: Promise<boolean> | undefined;
  #hasWarned = false;
  #isClosed = false;

  constructor(private readonly log: Log) {}

  /** Undefined where no pipe can be made: then a command gets what Node has. Never rejects. */
  async take(): Promise<OutputPipe | undefined> {
    for (;;) {
      const pipe = this.#ready.pop();
      if (pipe !== undefined || this.#isClosed) return pipe;
      this.#making ??= this.#make().finally(() => {
        this.#making = undefined;
      });
      if (!(await this.#making)) return undefined;
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const pipe of this.#ready.splice(0)) closePipe(pipe);
  }

  /** Named only until they are open, so nothing is left in the file system, however the agent ends. */
  async #make(): Promise<boolean> {
    try {
      const directory = await mkdtemp(join(tmpdir(), "parley-pipes-"));
      const paths = Array.from({ length: BATCH_SIZE }, (_, index) => join(directory, String(index)));
      try {
        await run("mkfifo", ["-m", "600", ...paths], { timeout: MAKE_TIMEOUT_MS });
        for (const path of paths) this.#ready.push(openPipe(path));
      } finally {
        // By name, because to list a directory takes an open file, and there may be none left.
        for (const path of paths) rmSync(path, { force: true });
        rmdirSync(directory);
      }
    } catch (error) {
      // Short of files: those that were opened beyond the first are needed to start its command.
      for (const pipe of this.#ready.splice(1)) closePipe(pipe);
      if (!this.#hasWarned) this.log.warn({ err: error }, "Commands run without a pipe that can be opened");
      this.#hasWarned = true;
    }
    const hasSome = this.#ready.length > 0;
    if (this.#isClosed) this.close();
    return hasSome;
  }
}

export function closePipe({ readFd, writeFd }: OutputPipe): void {
  closeSync(readFd);
  closeSync(writeFd);
}

/** The reading end first and without waiting: a writer would wait for a reader. */
function openPipe(path: string): OutputPipe {
  const readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return { readFd, writeFd: openSync(path, constants.O_WRONLY) };
  } catch (error) {
    closeSync(readFd);
    throw error;
  }
}
