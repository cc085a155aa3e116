/**
 * Pool of FIFOs for the output of commands. Node's own pipes for its children are sockets, which cannot be opened by
 * name: `tee /dev/stderr` or `> /dev/stdout` would fail. One pipe for both streams also preserves their order.
 */
import { closeSync, constants, openSync, rmdirSync, rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProgram } from "../../lib/child-process.js";
import type { Log } from "../../lib/log.js";
import type { Environment } from "./environment.js";

/** Made by one run of `mkfifo`, so that only every eighth command waits for it; two open files each. */
const BATCH_SIZE = 8;
/** For eight directory entries; on a machine too busy for that, commands run without such a pipe. */
const MAKE_TIMEOUT_MS = 5_000;

/** Both ends, open in this process. The taker of a pipe must close both. */
export type OutputPipe = { readFd: number; writeFd: number };

export class OutputPipes {
  #ready: OutputPipe[] = [];
  #making: Promise<boolean> | undefined;
  #hasWarned = false;
  #isClosed = false;

  constructor(private readonly options: { environment: Environment; log: Log }) {}

  /** Undefined where no pipe can be made: the command then gets Node's own. Never rejects. */
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

  /** The names are removed once the pipes are open, so nothing is left in the file system. */
  async #make(): Promise<boolean> {
    try {
      const directory = await mkdtemp(join(tmpdir(), "parley-pipes-"));
      const paths = Array.from({ length: BATCH_SIZE }, (_, index) => join(directory, String(index)));
      try {
        const env = this.options.environment;
        await runProgram("mkfifo", ["-m", "600", ...paths], { env, timeout: MAKE_TIMEOUT_MS });
        for (const path of paths) this.#ready.push(openPipe(path));
      } finally {
        // By name: listing a directory needs a file descriptor, and there may be none left.
        for (const path of paths) rmSync(path, { force: true });
        rmdirSync(directory);
      }
    } catch (error) {
      // Short of file descriptors: all pipes but the first are closed, so that its command can start.
      for (const pipe of this.#ready.splice(1)) closePipe(pipe);
      if (!this.#hasWarned)
        this.options.log.warn({ err: error }, "cannot make pipes; commands cannot open /dev/stdout");
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

/** Opens the reading end first, non-blocking: opening the writing end waits for a reader. */
function openPipe(path: string): OutputPipe {
  const readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return { readFd, writeFd: openSync(path, constants.O_WRONLY) };
  } catch (error) {
    closeSync(readFd);
    throw error;
  }
}
