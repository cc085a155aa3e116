/** An agent as a child process: starts it, waits until it listens, stops it. */
import { randomBytes } from "node:crypto";
import { Socket } from "node:net";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { listeningLineSchema, type ListeningLine } from "../../agent/protocol/startup.js";
import { startProgram, type ChildProcessByStdio } from "../../lib/child-process.js";
import type { Clock } from "../../lib/clock.js";

/** A cold start on a busy machine takes about two seconds. */
export const AGENT_START_TIMEOUT_MS = 10_000;
/** More than the 5 s that the agent gives its own commands to end, and the search for leftover processes on a busy machine. */
const AGENT_STOP_TIMEOUT_MS = 15_000;
/** Enough for the stack trace of why it exited. */
const LAST_OUTPUT_CHARACTERS = 4_000;
const TOKEN_BYTES = 32;
/** The first one after standard error. */
const TOKEN_DESCRIPTOR = 3;

export type AgentProcessOptions = {
  /** The program and its first arguments. */
  command: readonly string[];
  directory: string;
  /** The agent's whole environment, besides its own settings. */
  environment: Readonly<Record<string, string | undefined>>;
  logLevel: string;
  clock: Clock;
};

/** `reason`: the exit code or signal; `lastOutput`: the end of its standard error. */
export type AgentExit = { reason: string; lastOutput: string };

export type AgentProcess = {
  /** Rejects when the process exits first, or does not listen within `AGENT_START_TIMEOUT_MS`. */
  listening: Promise<{ url: string; token: string; instanceId: string }>;
  /** Resolves when the process has exited. Never rejects. */
  ended: Promise<AgentExit>;
  /** SIGTERM, then SIGKILL after `AGENT_STOP_TIMEOUT_MS`; resolves when the process is gone. */
  stop(): Promise<void>;
};

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** The caller owns the process and must stop it, also when it never listens. */
export function spawnAgent(options: AgentProcessOptions): AgentProcess {
  const token = randomBytes(TOKEN_BYTES).toString("hex");
  const [program = process.execPath, ...args] = options.command;
  const child = startProgram(program, args, {
    cwd: options.directory,
    stdio: ["pipe", "pipe", "pipe", "pipe"],
    // Its own process group: Ctrl-C in a terminal reaches only the server, which then stops the agent.
    detached: true,
    env: {
      ...options.environment,
      PARLEY_AGENT_TOKEN_FD: String(TOKEN_DESCRIPTOR),
      PARLEY_AGENT_DIRECTORY: options.directory,
      PARLEY_AGENT_EXIT_WITH_STDIN: "true",
      PARLEY_AGENT_LOG_LEVEL: options.logLevel,
    },
  });
  child.stdin.on("error", () => child.stdin.destroy());
  giveToken(child, token);
  const ended = untilExit(child);
  return {
    listening: untilListening(child, ended, options.clock).then(({ url, instanceId }) => ({
      url,
      token,
      instanceId,
    })),
    ended,
    stop: () => stopChild(child, ended, options.clock),
  };
}

/** By a pipe: what a process was started with, its arguments and variables, other processes can read. */
function giveToken(child: Child, token: string): void {
  const pipe = child.stdio[TOKEN_DESCRIPTOR];
  if (!(pipe instanceof Socket)) throw new Error("The agent has no pipe for its token.");
  // An agent that has already exited says why on its standard error.
  pipe.on("error", () => pipe.destroy());
  pipe.end(token);
}

function untilExit(child: Child): Promise<AgentExit> {
  let lastOutput = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    lastOutput = (lastOutput + text).slice(-LAST_OUTPUT_CHARACTERS);
    process.stderr.write(text);
  });
  return new Promise((resolve) => {
    const end = (reason: string) => resolve({ reason, lastOutput: lastOutput.trim() });
    child.on("error", (error) => {
      // Without a pid it was never started; later errors are only about signals that could not be sent.
      if (child.pid === undefined) end(error.message);
    });
    // Not `close`: a command that outlives a killed agent may keep its pipes open.
    child.once("exit", (code, signal) => end(signal === null ? `exit code ${code}` : signal));
  });
}

function untilListening(child: Child, ended: Promise<AgentExit>, clock: Clock): Promise<ListeningLine> {
  const lines = createInterface({ input: child.stdout });
  return new Promise<ListeningLine>((resolve, reject) => {
    const cancelTimeout = clock.after(AGENT_START_TIMEOUT_MS, () =>
      reject(new Error(`The workspace agent was not ready within ${AGENT_START_TIMEOUT_MS} ms.`)),
    );
    lines.on("line", (line) => {
      const listening = listeningLineFrom(line);
      if (listening === undefined) return;
      cancelTimeout();
      resolve(listening);
    });
    void ended.then(({ reason, lastOutput }) => {
      cancelTimeout();
      reject(new Error(`The workspace agent exited (${reason}) before it was ready. ${lastOutput}`.trim()));
    });
  });
}

function listeningLineFrom(line: string): ListeningLine | undefined {
  try {
    return listeningLineSchema.safeParse(JSON.parse(line)).data;
  } catch {
    // Not JSON: other output of the program.
    return undefined;
  }
}

async function stopChild(child: Child, ended: Promise<AgentExit>, clock: Clock): Promise<void> {
  child.stdin.end();
  child.kill("SIGTERM");
  const cancelForce = clock.after(AGENT_STOP_TIMEOUT_MS, () => child.kill("SIGKILL"));
  await ended;
  cancelForce();
  child.stdout.destroy();
  child.stderr.destroy();
}
