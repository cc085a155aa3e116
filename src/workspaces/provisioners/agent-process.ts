/** One run of the agent as a child of this program: starts it, waits until it can be reached, ends it. */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { listeningLineSchema, type ListeningLine } from "../../agent/protocol/startup.js";
import type { Clock } from "../../lib/clock.js";

/** A cold start on a busy machine takes about two seconds. */
export const AGENT_START_TIMEOUT_MS = 10_000;
/** More than the 5 s that the agent gives its own commands to end, and what looking for the rest takes on a busy machine. */
export const AGENT_STOP_TIMEOUT_MS = 15_000;
/** Enough for the stack trace that tells why it died. */
const LAST_WORDS_CHARACTERS = 4_000;
const TOKEN_BYTES = 32;

export type AgentProcessOptions = {
  /** The program and its first arguments. */
  command: readonly string[];
  directory: string;
  /** What the agent, and with it every command, inherits. */
  environment: Readonly<Record<string, string | undefined>>;
  logLevel: string;
  clock: Clock;
};

/** How a run ended, in words. */
export type AgentEnd = { reason: string; lastWords: string };

export type AgentProcess = {
  /** Where it listens; rejects when it ends, or when the start takes too long. */
  listening: Promise<{ url: string; token: string; instanceId: string }>;
  /** Never rejects. */
  ended: Promise<AgentEnd>;
  /** Asks it to end, and forces it when it does not; resolves when it is gone. */
  stop(): Promise<void>;
};

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** The caller owns the process from here on, also when it never comes to listen. */
export function spawnAgent(options: AgentProcessOptions): AgentProcess {
  const token = randomBytes(TOKEN_BYTES).toString("hex");
  const [program = process.execPath, ...args] = options.command;
  const child = spawn(program, args, {
    cwd: options.directory,
    stdio: ["pipe", "pipe", "pipe"],
    // Its own group: Ctrl-C in a terminal ends the server, and the server then ends the agent, in that order.
    detached: true,
    env: {
      ...options.environment,
      PARLEY_AGENT_TOKEN: token,
      PARLEY_AGENT_DIRECTORY: options.directory,
      PARLEY_AGENT_EXIT_WITH_STDIN: "true",
      PARLEY_AGENT_LOG_LEVEL: options.logLevel,
    },
  });
  child.stdin.on("error", () => child.stdin.destroy());
  const ended = watchEnd(child);
  return {
    listening: waitForLine(child, ended, options.clock).then(({ url, instanceId }) => ({
      url,
      token,
      instanceId,
    })),
    ended,
    stop: () => stopChild(child, ended, options.clock),
  };
}

function watchEnd(child: Child): Promise<AgentEnd> {
  let lastWords = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    lastWords = (lastWords + text).slice(-LAST_WORDS_CHARACTERS);
    process.stderr.write(text);
  });
  return new Promise((resolve) => {
    const end = (reason: string) => resolve({ reason, lastWords: lastWords.trim() });
    child.on("error", (error) => {
      // Without a pid it never ran; later errors concern only signals that could not be sent.
      if (child.pid === undefined) end(error.message);
    });
    // Not `close`: a command that outlives a killed agent may hold its pipes.
    child.once("exit", (code, signal) => end(signal === null ? `exit code ${code}` : signal));
  });
}

function waitForLine(child: Child, ended: Promise<AgentEnd>, clock: Clock): Promise<ListeningLine> {
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
    void ended.then(({ reason, lastWords }) => {
      cancelTimeout();
      reject(new Error(`The workspace agent ended (${reason}) before it was ready. ${lastWords}`.trim()));
    });
  });
}

function listeningLineFrom(line: string): ListeningLine | undefined {
  try {
    return listeningLineSchema.safeParse(JSON.parse(line)).data;
  } catch {
    // Not JSON: something else that the program printed.
    return undefined;
  }
}

async function stopChild(child: Child, ended: Promise<AgentEnd>, clock: Clock): Promise<void> {
  child.stdin.end();
  child.kill("SIGTERM");
  const cancelForce = clock.after(AGENT_STOP_TIMEOUT_MS, () => child.kill("SIGKILL"));
  await ended;
  cancelForce();
  child.stdout.destroy();
  child.stderr.destroy();
}
