/** Prometheus metrics of one agent. Each agent has its own registry. */
import type { FastifyInstance } from "fastify";
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import { AGENT_PATHS } from "./protocol/paths.js";
import type { StartedShell } from "./process/launch.js";
import type { ShellProcess } from "./process/shell-process.js";

/** From a file's few milliseconds to the longest wait for a command. */
const DURATION_BUCKETS_SECONDS = [0.005, 0.025, 0.1, 0.5, 2, 10, 60, 300];
/** One label value for all unknown paths: clients must not create unbounded label values. */
const UNKNOWN_ROUTE = "none";

export type AgentMetrics = {
  registry: Registry;
  /** Counts the command's start, its output and its end. */
  watchProcess(shell: StartedShell, process: ShellProcess): void;
  /** Whether a server has registered this agent; only for agents that dial out. */
  setRegistered(isRegistered: boolean): void;
  countCall(outcome: "registered" | "failed"): void;
};

export function createAgentMetrics(): AgentMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const running = new Gauge({
    name: "parley_agent_processes_running",
    help: "Running commands.",
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
    help: "Bytes of output that commands wrote, retained or not.",
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
    help: "1 while a server has registered this agent; always 0 for agents that listen.",
    registers,
  });
  const calls = new Counter({
    name: "parley_agent_calls_total",
    help: "Outgoing connections to servers: registered or failed.",
    labelNames: ["outcome"],
    registers,
  });
  return {
    setRegistered: (isRegistered) => registered.set(isRegistered ? 1 : 0),
    countCall: (outcome) => calls.inc({ outcome }),
  };
}

/** Counts every request, and adds `GET /metrics`. Call it before the routes are added. */
export function addMetrics(server: FastifyInstance, { registry }: AgentMetrics): void {
  const requests = new Counter({
    name: "parley_agent_requests_total",
    help: "Completed requests, including refused ones.",
    labelNames: ["method", "route", "status"],
    registers: [registry],
  });
  const durations = new Histogram({
    name: "parley_agent_request_duration_seconds",
    help: "From a request's headers to the end of its response, including waits for commands.",
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
