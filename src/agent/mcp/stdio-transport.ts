/**
 * Stdio transport of an MCP server: its process, and JSON lines over its pipes. Unlike the library's transport it
 * starts the process in a group of its own, so that its children (`npx` starts `node`) end with it.
 * States: new → running → closed, by the process's exit or `close`.
 */
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { ReadBuffer, serializeMessage } from "@modelcontextprotocol/sdk/shared/stdio.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { startProgram, type ChildProcessByStdio } from "../../lib/child-process.js";
import { sleep, type Clock } from "../../lib/clock.js";
import { MAX_MESSAGE_BYTES } from "../../mcp/bounded-fetch.js";
import { isGroupAlive, signalGroup } from "../process/process-group.js";
import type { Environment } from "../process/environment.js";

/** Grace period after the end of stdin, and after SIGTERM, before the next step; the last one is SIGKILL. */
const END_GRACE_MS = 1_000;
/** Poll interval: the system does not notify when a process group becomes empty. */
const GROUP_CHECK_MS = 25;
/** For the last output of an exited server, which may still be in its pipe. */
const DRAIN_MS = 1_000;

export type StdioOptions = {
  command: string;
  args: readonly string[];
  /** The whole environment of the process. */
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
    const child = startProgram(command, args, {
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

  /** Resolves when the message was written to the pipe. */
  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (stdin === undefined || this.#ending !== undefined || !stdin.writable) {
      throw new Error("The MCP server has ended.");
    }
    await new Promise<void>((resolve, reject) => {
      stdin.write(serializeMessage(message), (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Ends the server and its process group; resolves when they are gone. Never rejects. */
  close(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#ending === undefined;
  }

  /** Exit code or signal of the process, for messages; undefined while it runs. */
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

  /** Ends what is left of the group, with or without its leader. */
  async #endGroup(groupId: number): Promise<void> {
    const { clock } = this.#options;
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      try {
        if (!signalGroup(groupId, signal)) return;
      } catch (error) {
        this.onerror?.(new Error("A process of an MCP server cannot be ended.", { cause: error }));
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
      // The rest of the message cannot be skipped, so the connection is closed.
      this.onerror?.(new Error("A message of the MCP server is too long.", { cause: error }));
      void this.close();
      return;
    }
    for (;;) {
      try {
        const message = this.#buffer.readMessage();
        if (message === null) return;
        this.onmessage?.(message);
      } catch (error) {
        // Ignored: many servers print a banner first.
        this.onerror?.(new Error("A line of the MCP server is no message.", { cause: error }));
      }
    }
  }
}

function happened(child: Child, event: "exit" | "close"): Promise<void> {
  return new Promise((resolve) => child.once(event, () => resolve()));
}

/** Waits for `work`, at most `ms`. */
async function within(clock: Clock, ms: number, work: Promise<void>): Promise<void> {
  const isDone = new AbortController();
  await Promise.race([work, sleep(clock, ms, isDone.signal)]);
  isDone.abort();
}
