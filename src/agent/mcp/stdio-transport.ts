/**
 * The stdio transport of a tool server: its process, and JSON lines over its pipes. Unlike the library's own it gives
 * the process a group, so that what a server starts (`npx` starts `node`) ends with it.
 * States: new → running → closed. The process's end or `close` moves it; it never moves back.
 */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { ReadBuffer, serializeMessage } from "@modelcontextprotocol/sdk/shared/stdio.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { sleep, type Clock } from "../../lib/clock.js";
import { MAX_MESSAGE_BYTES } from "../../mcp/bounded-fetch.js";
import { isGroupAlive, signalGroup } from "../process/process-group.js";
import type { Environment } from "../process/environment.js";

/** A server is asked to end by the end of its input, then by SIGTERM, then it is killed: each after this. */
const END_GRACE_MS = 1_000;
/** The system does not tell when a group becomes empty. */
const GROUP_CHECK_MS = 25;
/** What a dead server wrote last may still be in its pipe. */
const DRAIN_MS = 1_000;

export type StdioOptions = {
  command: string;
  args: readonly string[];
  /** All that the process sees. */
  environment: Environment;
  directory: string;
  clock: Clock;
  onStderr(chunk: Buffer): void;
};

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #options: StdioOptions;
  readonly #buffer = new ReadBuffer({ maxBufferSize: MAX_MESSAGE_BYTES });
  #child: Child | undefined;
  #ending: Promise<void> | undefined;

  constructor(options: StdioOptions) {
    this.#options = options;
  }

  /** Rejects when the program cannot be started. */
  async start(): Promise<void> {
    const { command, args, environment, directory } = this.#options;
    const child = spawn(command, args, {
      cwd: directory,
      env: environment,
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
    });
    await once(child, "spawn");
    this.#child = child;
    const report = (error: Error) => this.onerror?.(error);
    child.on("error", report);
    child.stdin.on("error", report);
    child.stdout.on("error", report).on("data", (chunk: Buffer) => this.#take(chunk));
    child.stderr.on("error", report).on("data", (chunk: Buffer) => this.#options.onStderr(chunk));
    child.once("exit", () => void this.close());
  }

  /** Resolves when the pipe has taken it. */
  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (stdin === undefined || this.#ending !== undefined || !stdin.writable) {
      throw new Error("The tool server has ended.");
    }
    await new Promise<void>((resolve, reject) => {
      stdin.write(serializeMessage(message), (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Ends the server and everything that it started; resolves when they are gone. Never rejects. */
  close(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#ending === undefined;
  }

  /** How the process ended, in words; undefined while it runs. */
  get end(): string | undefined {
    const { exitCode, signalCode } = this.#child ?? {};
    if (typeof signalCode === "string") return signalCode;
    return typeof exitCode === "number" ? `exit code ${exitCode}` : undefined;
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (child?.pid !== undefined) {
      const { clock } = this.#options;
      const isDrained = happened(child, "close");
      if (this.end === undefined) {
        const isOver = happened(child, "exit");
        child.stdin.end();
        await within(clock, END_GRACE_MS, isOver);
      }
      await this.#endGroup(child.pid);
      if (!child.stdout.closed || !child.stderr.closed) await within(clock, DRAIN_MS, isDrained);
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    }
    this.#buffer.clear();
    this.onclose?.();
  }

  /** Whatever is left of the group, with or without its leader. */
  async #endGroup(groupId: number): Promise<void> {
    const { clock } = this.#options;
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      try {
        if (!signalGroup(groupId, signal)) return;
      } catch (error) {
        this.onerror?.(new Error("A process of a tool server cannot be ended.", { cause: error }));
        return;
      }
      const deadlineMs = clock.now() + END_GRACE_MS;
      while (isGroupAlive(groupId) && clock.now() < deadlineMs) await sleep(clock, GROUP_CHECK_MS);
    }
  }

  #take(chunk: Buffer): void {
    try {
      this.#buffer.append(chunk);
    } catch (error) {
      // A message without end: the next bytes would be its middle.
      this.onerror?.(new Error("A message of the tool server is too long.", { cause: error }));
      void this.close();
      return;
    }
    for (;;) {
      try {
        const message = this.#buffer.readMessage();
        if (message === null) return;
        this.onmessage?.(message);
      } catch (error) {
        // A line that is no message: many servers print a greeting first.
        this.onerror?.(new Error("A line of the tool server is no message.", { cause: error }));
      }
    }
  }
}

function happened(child: Child, event: "exit" | "close"): Promise<void> {
  return new Promise((resolve) => child.once(event, () => resolve()));
}

/** Waits for `work`, but not longer. */
async function within(clock: Clock, ms: number, work: Promise<void>): Promise<void> {
  const isDone = new AbortController();
  await Promise.race([work, sleep(clock, ms, isDone.signal)]);
  isDone.abort();
}
