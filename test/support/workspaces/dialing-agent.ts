// Workspace agent that dials out to servers, as its own process; tests follow its stdout and its log.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { agentCommand } from "../../agent/support.js";

export type DialingAgent = {
  child: ChildProcessByStdio<null, Readable, Readable>;
  /** Lines of stdout, parsed. */
  lines: { event: string; server?: string; instanceId: string; url?: string }[];
  /** Log lines. */
  log: Record<string, unknown>[];
  /** Resolves when stdout has that many lines. */
  untilOutput(count: number): Promise<void>;
  untilLogged(isSo: (line: Record<string, unknown>) => boolean): Promise<void>;
  end(signal?: NodeJS.Signals): Promise<number | null>;
};

export type DialingAgentOptions = {
  token: string;
  directory: string;
  /** WebSocket addresses; without them the agent listens. */
  servers?: string[];
  flags?: string[];
  environment?: Record<string, string>;
  /** Runs the agent inside of something, for example `ip netns exec NAME`. */
  within?: string[];
};

export function startDialingAgent(options: DialingAgentOptions): DialingAgent {
  const { token, directory, servers = [], flags = [], environment = {}, within = [] } = options;
  const call = servers.length > 0 ? ["--server", servers.join(",")] : [];
  const [program = "", ...args] = [...within, ...agentCommand, ...call, ...flags];
  const child = spawn(program, args, {
    cwd: directory,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...{ PATH: process.env["PATH"], HOME: directory, PARLEY_AGENT_LOG_LEVEL: "debug" },
      ...(token === "" ? {} : { PARLEY_AGENT_TOKEN: token }),
      ...environment,
    },
  });
  const lines: DialingAgent["lines"] = [];
  const log: DialingAgent["log"] = [];
  const gone = once(child, "exit");
  const changed = watchLines(child.stdout, lines);
  const logged = watchLines(child.stderr, log);
  return {
    child,
    lines,
    log,
    untilOutput: (count) => changed(() => lines.length >= count),
    untilLogged: (isSo) => logged(() => log.some(isSo)),
    async end(signal = "SIGTERM") {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      await gone;
      return child.exitCode;
    },
  };
}

/** Parses each line into `into`. The returned function waits for a condition; rejects when the program ends first. */
function watchLines(stream: Readable, into: object[]): (isSo: () => boolean) => Promise<void> {
  const waiters = new Set<() => void>();
  let hasEnded = false;
  const wake = () => {
    for (const waiter of [...waiters]) waiter();
  };
  const reader = createInterface({ input: stream });
  reader.on("line", (line) => {
    into.push(line.startsWith("{") ? (JSON.parse(line) as object) : { msg: line });
    wake();
  });
  reader.once("close", () => {
    hasEnded = true;
    wake();
  });
  return (isSo) =>
    new Promise((resolve, reject) => {
      const check = () => {
        if (!isSo() && !hasEnded) return;
        waiters.delete(check);
        if (isSo()) resolve();
        else reject(new Error(`The agent ended: ${JSON.stringify(into).slice(-2_000)}`));
      };
      waiters.add(check);
      check();
    });
}
