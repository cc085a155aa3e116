/** The agent's HTTP door: checks the token, parses requests, turns refusals into statuses. */
import { createHash, timingSafeEqual } from "node:crypto";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { z } from "zod";
import type { Log } from "../lib/log.js";
import type { Agent } from "./agent.js";
import { errorText, refused, type Outcome, type Refusal } from "./outcome.js";
import type { ChatScope } from "./process/process-registry.js";
import {
  AGENT_PATHS,
  ANCESTOR_CHAT_IDS_HEADER,
  ancestorChatIdsSchema,
  CHAT_ID_HEADER,
  chatIdSchema,
  editFilesRequestSchema,
  MAX_BODY_BYTES,
  MAX_FILE_BODY_BYTES,
  MAX_OUTPUT_WAIT_MS,
  processOutputQuerySchema,
  readLinesRequestSchema,
  readSkillFileRequestSchema,
  readSkillRequestSchema,
  signalProcessRequestSchema,
  startProcessRequestSchema,
  writeFileRequestSchema,
  type AgentErrorBody,
} from "./protocol.js";

/** Time to send a whole request; answers may take as long as they need, waits have their own limit. */
const REQUEST_TIMEOUT_MS = 60_000;

/** A request that cannot be answered as it is; the error handler turns it into its refusal. */
class RefusedRequest extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.message);
  }
}

/** An HTTP server for `agent` that is not listening yet. Closing it does not close the agent. */
export function createAgentServer(options: { agent: Agent; token: string; log: Log }): FastifyInstance {
  const { agent, token, log } = options;
  const server = Fastify({
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    forceCloseConnections: true,
  });
  // JSON is all that is spoken here; without it anything else gets a 415.
  server.removeContentTypeParser("text/plain");
  const isToken = tokenCheck(token);
  server.addHook("onRequest", async (request, reply) => {
    if (isToken(request.headers.authorization)) return undefined;
    return refuse(reply, refused(401, "A valid bearer token is required."));
  });
  server.setNotFoundHandler((request, reply) =>
    refuse(reply, refused(404, `There is nothing at ${request.method} ${request.url}.`)),
  );
  server.setErrorHandler((error, request, reply) => refuse(reply, refusalOf(error, request, log)));
  addProcessRoutes(server, agent);
  addFileRoutes(server, agent);
  addContextRoutes(server, agent);
  server.get(AGENT_PATHS.health, () => agent.health());
  return server;
}

function addProcessRoutes(server: FastifyInstance, agent: Agent): void {
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

function addFileRoutes(server: FastifyInstance, agent: Agent): void {
  server.post(AGENT_PATHS.readLines, (request) =>
    agent.readLines(parse(readLinesRequestSchema, request.body)),
  );
  server.post(AGENT_PATHS.writeFile, { bodyLimit: MAX_FILE_BODY_BYTES }, async (request, reply) =>
    answer(reply, await agent.writeFile(parse(writeFileRequestSchema, request.body))),
  );
  server.post(AGENT_PATHS.editFiles, { bodyLimit: MAX_FILE_BODY_BYTES }, async (request, reply) =>
    answer(reply, await agent.editFiles(parse(editFilesRequestSchema, request.body))),
  );
}

function addContextRoutes(server: FastifyInstance, { context }: Agent): void {
  server.get(AGENT_PATHS.context, () => context.read());
  server.post(AGENT_PATHS.readSkill, async (request, reply) =>
    answer(reply, await context.readSkill(parse(readSkillRequestSchema, request.body))),
  );
  server.post(AGENT_PATHS.readSkillFile, async (request, reply) =>
    answer(reply, await context.readSkillFile(parse(readSkillFileRequestSchema, request.body))),
  );
}

/** Compares digests, which are equally long, so that the time taken tells nothing about the token. */
function tokenCheck(token: string): (authorization: string | undefined) => boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  const expected = digest(`Bearer ${token}`);
  return (authorization) => timingSafeEqual(digest(authorization ?? ""), expected);
}

function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const field = issue === undefined || issue.path.length === 0 ? undefined : issue.path.join(".");
  const reason = issue?.message ?? "it has an unknown shape";
  throw new RefusedRequest(
    refused(400, `The request is not valid: ${field === undefined ? "" : `${field}: `}${reason}`, {
      field,
      detail: z.prettifyError(parsed.error),
    }),
  );
}

/** A malformed chat id is refused: taking it for "no chat" would show the caller every chat's processes. */
function scopeOf(request: FastifyRequest): ChatScope {
  const chatId = request.headers[CHAT_ID_HEADER];
  const ancestors = request.headers[ANCESTOR_CHAT_IDS_HEADER];
  return {
    chatId: chatId === undefined ? undefined : parseHeader(CHAT_ID_HEADER, chatIdSchema, chatId),
    ancestorChatIds:
      ancestors === undefined
        ? []
        : parseHeader(ANCESTOR_CHAT_IDS_HEADER, ancestorChatIdsSchema, fromJson(ancestors)),
  };
}

function parseHeader<Schema extends z.ZodType>(
  name: string,
  schema: Schema,
  value: unknown,
): z.infer<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new RefusedRequest(refused(400, `The header ${name} is not valid.`, { field: name }));
}

/** Undefined for anything that is not JSON, which no schema here accepts. */
function fromJson(text: string | string[]): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}

/** Aborted when the caller goes away before it has its answer. */
function disconnection(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once("close", () => controller.abort());
  return controller.signal;
}

function answer<Value>(reply: FastifyReply, outcome: Outcome<Value>): FastifyReply {
  return outcome.kind === "done" ? reply.send(outcome.value) : refuse(reply, outcome);
}

function refuse(reply: FastifyReply, { status, message, detail, field }: Refusal): FastifyReply {
  const body: AgentErrorBody = { message, detail, field };
  return reply.code(status).send(body);
}

function refusalOf(error: unknown, request: FastifyRequest, log: Log): Refusal {
  if (error instanceof RefusedRequest) return error.refusal;
  const status = error instanceof Error && "statusCode" in error ? Number(error.statusCode) : 500;
  if (status >= 400 && status < 500) return refused(status, errorText(error));
  log.error({ err: error, method: request.method, url: request.url }, "A request failed");
  return refused(500, "The workspace agent failed.", { detail: errorText(error) });
}
