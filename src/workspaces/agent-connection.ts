/** The server's hand in a workspace: a typed client of the agent's protocol, scoped to one chat. */
import type { z } from "zod";
import {
  AGENT_PATHS,
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
import { AGENT_REQUEST_TIMEOUT_MS, askAgent, type AgentAddress, type Ask } from "./agent-request.js";

export {
  AGENT_REQUEST_TIMEOUT_MS,
  AgentError,
  AgentUnreachable,
  type AgentAddress,
} from "./agent-request.js";

export type {
  EditFilesRequest,
  ProcessList,
  ProcessOutput,
  ReadLinesAnswer,
  WorkspaceContext,
} from "../agent/protocol.js";

/** A turn waits for the workspace's context no longer than this. */
export const CONTEXT_TIMEOUT_MS = 5_000;
/** Longest single wait: the client of Node gives up on an answer whose headers take 5 minutes. */
const MAX_WAIT_PER_REQUEST_MS = 240_000;

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
