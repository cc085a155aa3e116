// An agent that calls servers, as its own process: started where its code is, found again by what it says on stdout.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { agentCommand } from "../../agent/support.js";

export type CallingAgent = {
  child: ChildProcessByStdio<null, Readable, Readable>;
  /** Lines said on stdout, parsed. */
  lines: { event: string; server?: string; instanceId: string; url?: string }[];
  /** Log lines. */
  log: Record<string, unknown>[];
  /** Resolves when as many lines were said. */
  untilOutput(count: number): Promise<void>;
  untilLogged(isSo: (line: Record<string, unknown>) => boolean): Promise<void>;
  end(signal?: NodeJS.Signals): Promise<number | null>;
};

export type CallerOptions = {
  token: string;
  directory: string;
  /** WebSocket addresses; none: it listens. */
  servers?: string[];
  flags?: string[];
  environment?: Record<string, string>;
  /** Runs the agent inside of something, for example `ip netns exec NAME`. */
  within?: string[];
};

export function startCaller(options: CallerOptions): CallingAgent {
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
  const lines: CallingAgent["lines"] = [];
  const log: CallingAgent["log"] = [];
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

/** Parses each line into `into`; what is returned waits until something is so, and fails when the program has ended. */
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
