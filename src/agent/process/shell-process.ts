/**
 * One command: `sh -c`, its output so far and its exit.
 * States: running → exited, by the operating system alone.
 */
import type { Clock } from "../../lib/clock.js";
import type { ProcessOutput, ProcessSummary } from "../protocol/processes.js";
import { HeadTailBuffer } from "./head-tail-buffer.js";
import type { StartedShell } from "./launch.js";
import { OutputFeed } from "./output-feed.js";

/**
 * A grandchild may keep the output pipe open for ever after the shell has exited. Its output counts for this long;
 * later output is discarded, but the pipe stays open, as closing it would end the grandchild.
 */
export const OUTPUT_DRAIN_MS = 5_000;
/** Exit code of a process that was ended by a signal. */
const SIGNALLED_EXIT_CODE = -1;

export type ProcessFacts = {
  id: string;
  /** Perhaps truncated. */
  command: string;
  workdir: string;
  background: boolean;
  chatId: string | undefined;
  /** The chat's owner. */
  userId: string | undefined;
  /** Nearest first. */
  ancestorChatIds: readonly string[];
  /** Identifies the start for requests that repeat it. */
  startKey: string | undefined;
  /** Also the id of the process group. */
  groupId: number;
};

type Exit = { code: number; signal?: string; atMs: number };

export class ShellProcess {
  readonly startedAtMs: number;
  /** Its newest output, for live followers. */
  readonly feed = new OutputFeed();
  readonly #output = new HeadTailBuffer();
  readonly #exitListeners = new Set<() => void>();
  #exit: Exit | undefined;

  constructor(
    shell: StartedShell,
    readonly facts: ProcessFacts,
    private readonly clock: Clock,
  ) {
    this.startedAtMs = clock.now();
    shell.output.on("data", (chunk: Buffer) => {
      if (!this.isRunning) return;
      this.#output.write(chunk);
      this.feed.write(chunk);
    });
    // A broken pipe ends like a closed one: `close` follows.
    shell.output.on("error", () => shell.output.destroy());
    this.#watchEnd(shell);
  }

  get isRunning(): boolean {
    return this.#exit === undefined;
  }

  /** Milliseconds since the epoch; undefined while it runs. */
  get exitedAtMs(): number | undefined {
    return this.#exit?.atMs;
  }

  /** Once `running` is false, the output is complete. */
  read(): ProcessOutput {
    return { ...this.#output.read(), running: this.isRunning, ...this.#exitFacts() };
  }

  summary(): ProcessSummary {
    const { id, command, workdir, background } = this.facts;
    const startedAt = new Date(this.startedAtMs).toISOString();
    const exited = this.#exit && { exitedAt: new Date(this.#exit.atMs).toISOString() };
    return {
      id,
      command,
      workdir,
      background,
      running: this.isRunning,
      startedAt,
      ...this.#exitFacts(),
      ...exited,
    };
  }

  /**
   * Resolves when it has exited, after `timeoutMs`, or when `signal` is aborted, whichever comes first. Never rejects.
   */
  waitForExit(timeoutMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (!this.isRunning || signal?.aborted) return resolve();
      const wake = () => {
        cancelTimer();
        this.#exitListeners.delete(wake);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const cancelTimer = this.clock.after(timeoutMs, wake);
      this.#exitListeners.add(wake);
      signal?.addEventListener("abort", wake, { once: true });
    });
  }

  /** Calls `listener` once, when it has exited; immediately when it already has. */
  onExit(listener: () => void): void {
    if (this.isRunning) this.#exitListeners.add(listener);
    else listener();
  }

  #exitFacts(): { exitCode?: number; signal?: string } {
    if (this.#exit === undefined) return {};
    const { code, signal } = this.#exit;
    return signal === undefined ? { exitCode: code } : { exitCode: code, signal };
  }

  #watchEnd({ child, output }: StartedShell): void {
    child.once("exit", (code, signal) => {
      const finish = () => {
        cancelDrain();
        this.#finish(code, signal);
      };
      const cancelDrain = this.clock.after(OUTPUT_DRAIN_MS, finish);
      if (output.closed) finish();
      else output.once("close", finish);
    });
  }

  #finish(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#exit !== undefined) return;
    const atMs = this.clock.now();
    this.#exit =
      code === null ? { code: SIGNALLED_EXIT_CODE, signal: signal ?? undefined, atMs } : { code, atMs };
    this.feed.end();
    for (const listener of [...this.#exitListeners]) listener();
    this.#exitListeners.clear();
  }
}
