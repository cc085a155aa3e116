/** Routes of commands. */
import type { FastifyInstance } from "fastify";
import type { Agent } from "../agent.js";
import { AGENT_PATHS } from "../protocol/paths.js";
import {
  MAX_OUTPUT_WAIT_MS,
  processOutputQuerySchema,
  signalProcessRequestSchema,
  startProcessRequestSchema,
} from "../protocol/processes.js";
import { answer, disconnection, parse, scopeOf } from "./requests.js";

export function addProcessRoutes(server: FastifyInstance, agent: Agent): void {
  const { processes } = agent;
  server.post(AGENT_PATHS.processes, async (request, reply) =>
    answer(reply, await processes.start(parse(startProcessRequestSchema, request.body), scopeOf(request))),
  );
  server.get(AGENT_PATHS.processes, (request) => processes.list(scopeOf(request)));
  server.get<{ Params: { id: string } }>("/v1/processes/:id/output", async (request, reply) => {
    const { wait, timeoutMs } = parse(processOutputQuerySchema, request.query);
    const scope = scopeOf(request);
    if (wait !== "true") return answer(reply, processes.output(request.params.id, scope));
    const waiting = { timeoutMs: timeoutMs ?? MAX_OUTPUT_WAIT_MS, signal: disconnection(reply) };
    return answer(reply, await processes.outputAfterExit(request.params.id, scope, waiting));
  });
  server.post<{ Params: { id: string } }>("/v1/processes/:id/signal", (request, reply) => {
    const { signal } = parse(signalProcessRequestSchema, request.body);
    return answer(reply, processes.signal(request.params.id, scopeOf(request), signal));
  });
}
