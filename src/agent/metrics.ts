/** What one agent has done and is doing, in numbers, for Prometheus. Each agent has its own registry. */
import type { FastifyInstance } from "fastify";
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import { AGENT_PATHS } from "./protocol/paths.js";
import type { StartedShell } from "./process/launch.js";
import type { ShellProcess } from "./process/shell-process.js";

/** From a file's few milliseconds to the longest wait for a command. */
const DURATION_BUCKETS_SECONDS = [0.005, 0.025, 0.1, 0.5, 2, 10, 60, 300];
/** Paths that do not exist are one, so that nobody can make names without end. */
const UNKNOWN_ROUTE = "none";

export type AgentMetrics = {
  registry: Registry;
  /** Counts the command's start, its output and its end. */
  watchProcess(shell: StartedShell, process: ShellProcess): void;
  /** Whether a server holds this agent's call; only agents that call servers say it. */
  setRegistered(isRegistered: boolean): void;
  countCall(outcome: "registered" | "failed"): void;
};

export function createAgentMetrics(): AgentMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const running = new Gauge({
    name: "parley_agent_processes_running",
    help: "Commands that run now.",
    registers,
  });
  const starts = new Counter({
    name: "parley_agent_process_starts_total",
    help: "Commands started.",
    registers,
  });
  const exits = new Counter({
    name: "parley_agent_process_exits_total",
    help: "Commands ended: success (exit code 0), failure (another) or signal.",
    labelNames: ["outcome"],
    registers,
  });
  const output = new Counter({
    name: "parley_agent_process_output_bytes_total",
    help: "Bytes that commands wrote, kept or not.",
    registers,
  });
  return {
    registry,
    ...callMetrics(registers),
    watchProcess(shell, process) {
      starts.inc();
      running.inc();
      shell.output.on("data", (chunk: Buffer) => output.inc(chunk.length));
      process.onExit(() => {
        running.dec();
        exits.inc({ outcome: outcomeOf(process) });
      });
    },
  };
}

function outcomeOf(process: ShellProcess): "success" | "failure" | "signal" {
  const { exitCode, signal } = process.read();
  if (signal !== undefined) return "signal";
  return exitCode === 0 ? "success" : "failure";
}

function callMetrics(registers: Registry[]): Pick<AgentMetrics, "setRegistered" | "countCall"> {
  const registered = new Gauge({
    name: "parley_agent_registered",
    help: "1 while a server holds the call of this agent; agents that listen have always 0.",
    registers,
  });
  const calls = new Counter({
    name: "parley_agent_calls_total",
    help: "Calls to servers: registered, or failed in whatever way.",
    labelNames: ["outcome"],
    registers,
  });
  return {
    setRegistered: (isRegistered) => registered.set(isRegistered ? 1 : 0),
    countCall: (outcome) => calls.inc({ outcome }),
  };
}

/** Counts every request, and answers `GET /metrics`. Call it before the routes are added. */
export function addMetrics(server: FastifyInstance, { registry }: AgentMetrics): void {
  const requests = new Counter({
    name: "parley_agent_requests_total",
    help: "Requests answered, refused ones included.",
    labelNames: ["method", "route", "status"],
    registers: [registry],
  });
  const durations = new Histogram({
    name: "parley_agent_request_duration_seconds",
    help: "From a request's headers to the end of its answer; waits for commands are part of it.",
    labelNames: ["route"],
    buckets: DURATION_BUCKETS_SECONDS,
    registers: [registry],
  });
  server.addHook("onResponse", (request, reply, done) => {
    const route = request.routeOptions.url ?? UNKNOWN_ROUTE;
    requests.inc({ method: request.method, route, status: reply.statusCode });
    durations.observe({ route }, reply.elapsedTime / 1_000);
    done();
  });
  server.get(AGENT_PATHS.metrics, async (_request, reply) =>
    reply.header("content-type", registry.contentType).send(await registry.metrics()),
  );
}
