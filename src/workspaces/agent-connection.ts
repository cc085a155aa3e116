/** The server's hand in a workspace: a typed client of the agent's protocol, scoped to one chat. */
import { z } from "zod";
import {
  AGENT_PATHS,
  agentErrorSchema,
  ANCESTOR_CHAT_IDS_HEADER,
  CHAT_ID_HEADER,
  editFilesAnswerSchema,
  healthSchema,
  processListSchema,
  processOutputSchema,
  readLinesAnswerSchema,
  readSkillAnswerSchema,
  readSkillFileAnswerSchema,
  signalProcessAnswerSchema,
  startProcessAnswerSchema,
  workspaceContextSchema,
  writeFileAnswerSchema,
  type AgentHealth,
  type EditFilesAnswer,
  type EditFilesRequest,
  type ProcessList,
  type ProcessOutput,
  type ReadLinesAnswer,
  type ReadLinesRequest,
  type ReadSkillAnswer,
  type ReadSkillFileAnswer,
  type ReadSkillFileRequest,
  type SignalProcessRequest,
  type StartProcessAnswer,
  type StartProcessRequest,
  type WorkspaceContext,
  type WriteFileAnswer,
  type WriteFileRequest,
} from "../agent/protocol.js";
import { systemClock, type Clock } from "../lib/clock.js";

export type {
  EditFilesRequest,
  ProcessList,
  ProcessOutput,
  ReadLinesAnswer,
  WorkspaceContext,
} from "../agent/protocol.js";

/** Any request that does not wait for a process is answered within this, or the agent counts as unreachable. */
export const AGENT_REQUEST_TIMEOUT_MS = 30_000;
/** A turn waits for the workspace's context no longer than this. */
export const CONTEXT_TIMEOUT_MS = 5_000;
/** Longest single wait: the client of Node gives up on an answer whose headers take 5 minutes. */
const MAX_WAIT_PER_REQUEST_MS = 240_000;

/** The agent answered with a refusal. `message` and `field` are made for the caller, also when it is a model. */
export class AgentError extends Error {
  override readonly name = "AgentError";

  constructor(
    readonly status: number,
    message: string,
    readonly facts: { field?: string; detail?: string } = {},
  ) {
    super(message);
  }
}

/** The agent did not answer, or not in its protocol: whether it did what was asked is unknown. */
export class AgentUnreachable extends Error {
  override readonly name = "AgentUnreachable";
}

type CallOptions = { signal?: AbortSignal };

export type OutputRequest = CallOptions & {
  id: string;
  /** Wait for the end; without it the answer is a snapshot. */
  wait?: boolean;
  /** How long to wait at most, any length; absent: until the end. */
  timeoutMs?: number;
};

/** Every method rejects with `AgentError` or `AgentUnreachable`, or with the reason of an aborted `signal`. */
export interface AgentConnection {
  /** Names the agent's process: whoever knows something of another one knows nothing of this. */
  readonly instance: string;
  health(options?: CallOptions): Promise<AgentHealth>;
  startProcess(request: StartProcessRequest, options?: CallOptions): Promise<StartProcessAnswer>;
  /** A wait that ends early resolves to a snapshot; look at `running`. */
  processOutput(request: OutputRequest): Promise<ProcessOutput>;
  listProcesses(options?: CallOptions): Promise<ProcessList>;
  signalProcess(id: string, signal: SignalProcessRequest["signal"], options?: CallOptions): Promise<string>;
  readLines(request: ReadLinesRequest, options?: CallOptions): Promise<ReadLinesAnswer>;
  writeFile(request: WriteFileRequest, options?: CallOptions): Promise<WriteFileAnswer>;
  editFiles(request: EditFilesRequest, options?: CallOptions): Promise<EditFilesAnswer>;
  /** Within `CONTEXT_TIMEOUT_MS`. */
  workspaceContext(options?: CallOptions): Promise<WorkspaceContext>;
  readSkill(name: string, options?: CallOptions): Promise<ReadSkillAnswer>;
  readSkillFile(request: ReadSkillFileRequest, options?: CallOptions): Promise<ReadSkillFileAnswer>;
  /** The same agent on behalf of a chat, which then sees only its own processes. Nearest ancestor first. */
  forChat(chatId: string, ancestorChatIds?: readonly string[]): AgentConnection;
}

export type AgentAddress = {
  /** Origin only, without a path. */
  url: string;
  token: string;
  /** The `instanceId` that it told when it came to listen; absent: nobody asked, and the address has to do. */
  instanceId?: string;
  chatId?: string;
  ancestorChatIds?: readonly string[];
  clock?: Clock;
};

type Exchange<Schema> = {
  method: "GET" | "POST";
  path: string;
  answer: Schema;
  body?: unknown;
  signal?: AbortSignal;
  timeoutMs?: number;
};
type Ask = <Schema extends z.ZodType>(exchange: Exchange<Schema>) => Promise<z.infer<Schema>>;

/** Makes no request yet. */
export function connectAgent(address: AgentAddress): AgentConnection {
  const ask: Ask = (exchange) => askAgent(address, exchange);
  const post = <Schema extends z.ZodType>(
    path: string,
    answer: Schema,
    body: unknown,
    options?: CallOptions,
  ) => ask({ method: "POST", path, answer, body, signal: options?.signal });
  return {
    instance: address.instanceId ?? address.url,
    health: (options) => ask({ method: "GET", path: AGENT_PATHS.health, answer: healthSchema, ...options }),
    startProcess: (request, options) =>
      post(AGENT_PATHS.processes, startProcessAnswerSchema, request, options),
    processOutput: (request) => readOutput(ask, address.clock ?? systemClock, request),
    listProcesses: (options) =>
      ask({ method: "GET", path: AGENT_PATHS.processes, answer: processListSchema, ...options }),
    signalProcess: async (id, signal, options) =>
      (await post(AGENT_PATHS.processSignal(id), signalProcessAnswerSchema, { signal }, options)).message,
    readLines: (request, options) => post(AGENT_PATHS.readLines, readLinesAnswerSchema, request, options),
    writeFile: (request, options) => post(AGENT_PATHS.writeFile, writeFileAnswerSchema, request, options),
    editFiles: (request, options) => post(AGENT_PATHS.editFiles, editFilesAnswerSchema, request, options),
    workspaceContext: (options) =>
      ask({
        method: "GET",
        path: AGENT_PATHS.context,
        answer: workspaceContextSchema,
        timeoutMs: CONTEXT_TIMEOUT_MS,
        ...options,
      }),
    readSkill: (name, options) => post(AGENT_PATHS.readSkill, readSkillAnswerSchema, { name }, options),
    readSkillFile: (request, options) =>
      post(AGENT_PATHS.readSkillFile, readSkillFileAnswerSchema, request, options),
    forChat: (chatId, ancestorChatIds = []) => connectAgent({ ...address, chatId, ancestorChatIds }),
  };
}

async function readOutput(ask: Ask, clock: Clock, request: OutputRequest): Promise<ProcessOutput> {
  const { id, signal } = request;
  const exchange = { method: "GET" as const, answer: processOutputSchema, signal };
  if (!request.wait) return ask({ ...exchange, path: AGENT_PATHS.processOutput(id) });
  const deadlineMs = request.timeoutMs === undefined ? Infinity : clock.now() + request.timeoutMs;
  for (;;) {
    const waitMs = Math.round(Math.min(Math.max(0, deadlineMs - clock.now()), MAX_WAIT_PER_REQUEST_MS));
    const path = `${AGENT_PATHS.processOutput(id)}?wait=true&timeoutMs=${waitMs}`;
    const output = await ask({ ...exchange, path, timeoutMs: waitMs + AGENT_REQUEST_TIMEOUT_MS });
    if (!output.running || clock.now() >= deadlineMs) return output;
  }
}

async function askAgent<Schema extends z.ZodType>(
  address: AgentAddress,
  exchange: Exchange<Schema>,
): Promise<z.infer<Schema>> {
  const { method, path, signal } = exchange;
  signal?.throwIfAborted();
  const timeout = AbortSignal.timeout(exchange.timeoutMs ?? AGENT_REQUEST_TIMEOUT_MS);
  const hasBody = exchange.body !== undefined;
  let status: number;
  let text: string;
  try {
    const response = await fetch(new URL(path, address.url), {
      method,
      headers: headersOf(address, hasBody),
      body: hasBody ? JSON.stringify(exchange.body) : undefined,
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    status = response.status;
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    throw unreachable(timeout.aborted ? "it did not answer in time" : describeTransport(error), error);
  }
  return parseAnswer(exchange.answer, status, text);
}

function headersOf(
  { token, chatId, ancestorChatIds }: AgentAddress,
  hasBody: boolean,
): Record<string, string> {
  return {
    authorization: `Bearer ${token}`,
    ...(hasBody && { "content-type": "application/json" }),
    ...(chatId !== undefined && { [CHAT_ID_HEADER]: chatId }),
    ...(ancestorChatIds?.length && { [ANCESTOR_CHAT_IDS_HEADER]: JSON.stringify(ancestorChatIds) }),
  };
}

function parseAnswer<Schema extends z.ZodType>(
  schema: Schema,
  status: number,
  text: string,
): z.infer<Schema> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw unreachable(`it answered ${status} without JSON`, error);
  }
  if (status >= 400) {
    const refusal = agentErrorSchema.safeParse(value);
    if (!refusal.success) throw unreachable(`it answered ${status} without an error body`, refusal.error);
    const { message, field, detail } = refusal.data;
    throw new AgentError(status, message, { field, detail });
  }
  const answer = schema.safeParse(value);
  if (!answer.success) throw unreachable("its answer is not in the protocol", answer.error);
  return answer.data;
}

function unreachable(reason: string, cause: unknown): AgentUnreachable {
  return new AgentUnreachable(`The workspace agent cannot be reached: ${reason}.`, { cause });
}

/** `fetch` says only "fetch failed"; its cause knows why. */
function describeTransport(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message !== "" ? error.cause.message : error.message;
}
