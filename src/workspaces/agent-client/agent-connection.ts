/** Typed client of the workspace agent's protocol, scoped to one chat. */
import type { z } from "zod";
import {
  readSkillAnswerSchema,
  readSkillFileAnswerSchema,
  workspaceContextSchema,
  type ReadSkillAnswer,
  type ReadSkillFileAnswer,
  type ReadSkillFileRequest,
  type WorkspaceContext,
} from "../../agent/protocol/context.js";
import {
  editFilesAnswerSchema,
  listDirectoryAnswerSchema,
  readLinesAnswerSchema,
  resolvePathAnswerSchema,
  writeFileAnswerSchema,
  type EditFilesAnswer,
  type EditFilesRequest,
  type ListDirectoryAnswer,
  type ListDirectoryRequest,
  type ReadLinesAnswer,
  type ReadLinesRequest,
  type ResolvePathAnswer,
  type WriteFileAnswer,
  type WriteFileRequest,
} from "../../agent/protocol/files.js";
import { healthSchema, type AgentHealth } from "../../agent/protocol/health.js";
import {
  MAX_MCP_CALL_MS,
  MAX_MCP_LIST_WAIT_MS,
  mcpCallAnswerSchema,
  mcpToolsAnswerSchema,
  type McpCallAnswer,
  type McpCallRequest,
  type McpToolsAnswer,
} from "../../agent/protocol/mcp.js";
import { AGENT_PATHS } from "../../agent/protocol/paths.js";
import {
  processListSchema,
  processOutputSchema,
  signalProcessAnswerSchema,
  startProcessAnswerSchema,
  type ProcessList,
  type ProcessOutput,
  type SignalProcessRequest,
  type StartProcessAnswer,
  type StartProcessRequest,
} from "../../agent/protocol/processes.js";
import {
  findFilesAnswerSchema,
  searchFilesAnswerSchema,
  type FindFilesAnswer,
  type FindFilesRequest,
  type SearchFilesAnswer,
  type SearchFilesRequest,
} from "../../agent/protocol/search.js";
import type { McpPermissions } from "../../domain/mcp/workspace-entry.js";
import { systemClock, type Clock } from "../../lib/clock.js";
import { watchGit, type AgentGitWatch, type GitWatchListener } from "./agent-git.js";
import { followOutput, type FollowEnd, type FollowRequest } from "./agent-output.js";
import { openControlChannel, type ControlChannel, type ControlChannelListener } from "../control-channel.js";
import { readAgentBytes, type BytesRead, type ReadBytesRequest } from "./agent-bytes.js";
import { AGENT_REQUEST_TIMEOUT_MS, askAgent, type AgentAddress, type Ask } from "./agent-request.js";

export {
  AGENT_REQUEST_TIMEOUT_MS,
  AgentError,
  AgentUnreachable,
  type AgentAddress,
} from "./agent-request.js";

export type { AgentGitWatch, GitWatchListener } from "./agent-git.js";
export { DEFAULT_LISTED_ENTRIES } from "../../agent/protocol/files.js";
export {
  DEFAULT_FOUND_FILES,
  DEFAULT_FOUND_LINES,
  MAX_FOUND_FILES,
  MAX_FOUND_LINES,
} from "../../agent/protocol/search.js";
export type { WorkspaceContext } from "../../agent/protocol/context.js";
export type { EditFilesRequest, ListDirectoryAnswer, ReadLinesAnswer } from "../../agent/protocol/files.js";
export type { GitWatchMessage } from "../../agent/protocol/git.js";
export type {
  McpCallAnswer,
  McpCallRequest,
  McpPart,
  McpRequest,
  McpTool,
  McpToolsAnswer,
} from "../../agent/protocol/mcp.js";
export type { ProcessList, ProcessOutput } from "../../agent/protocol/processes.js";
export type { FindFilesAnswer, SearchFilesAnswer } from "../../agent/protocol/search.js";
export type { GitCredentials, GitCredentialsRequest } from "../../agent/protocol/control-channel.js";

/** The longest that a turn waits for the workspace's context. */
export const CONTEXT_TIMEOUT_MS = 5_000;
/** Lets the agent's own timeout of a call come first; together they stay below 5 minutes. */
const CALL_MARGIN_MS = 10_000;
/** Longest single wait: Node's HTTP client gives up on a response whose headers take 5 minutes. */
const MAX_WAIT_PER_REQUEST_MS = 240_000;

/** How long the agent waits for MCP servers that are starting, so that it still answers within `CONTEXT_TIMEOUT_MS`. */
const MCP_SERVERS_WAIT_MS = 4_000;

type CallOptions = { signal?: AbortSignal };
type ToolListOptions = CallOptions & { refresh?: boolean; permissions?: McpPermissions; isWaiting?: boolean };

export type OutputRequest = CallOptions & {
  id: string;
  /** Wait for the process to end; without it the result is a snapshot. */
  wait?: boolean;
  /** The longest wait, of any length; absent: until the end. */
  timeoutMs?: number;
};

/** Every method rejects with `AgentError` or `AgentUnreachable`, or with the reason of an aborted `signal`. */
export interface AgentConnection {
  /** Identifies the agent's process: process ids and cached facts of another instance are not valid for this one. */
  readonly instance: string;
  health(options?: CallOptions): Promise<AgentHealth>;
  startProcess(request: StartProcessRequest, options?: CallOptions): Promise<StartProcessAnswer>;
  /** A wait that times out resolves to a snapshot with `running` true. */
  processOutput(request: OutputRequest): Promise<ProcessOutput>;
  /** Streams a process's output while it runs; the stream may break. Never rejects. */
  followOutput(request: FollowRequest): Promise<FollowEnd>;
  /** Watches the chat's repositories; only for a connection that is scoped to a chat. Rejects with `AgentUnreachable`. */
  watchGit(listener: GitWatchListener): Promise<AgentGitWatch>;
  /** Opens a channel on which the agent sends requests. Rejects with `AgentUnreachable`. */
  openControlChannel(listener: ControlChannelListener): Promise<ControlChannel>;
  listProcesses(options?: CallOptions): Promise<ProcessList>;
  signalProcess(id: string, signal: SignalProcessRequest["signal"], options?: CallOptions): Promise<string>;
  readLines(request: ReadLinesRequest, options?: CallOptions): Promise<ReadLinesAnswer>;
  /** At most `MAX_BYTES_PER_READ` bytes; call again for the rest. */
  readBytes(request: ReadBytesRequest): Promise<BytesRead>;
  listDirectory(request: ListDirectoryRequest, options?: CallOptions): Promise<ListDirectoryAnswer>;
  /** The path with all symbolic links resolved; it need not exist. */
  resolvePath(path: string, options?: CallOptions): Promise<ResolvePathAnswer>;
  /** Aborting the signal stops the search at the agent. */
  findFiles(request: FindFilesRequest, options?: CallOptions): Promise<FindFilesAnswer>;
  /** Aborting the signal stops the search at the agent. */
  searchFiles(request: SearchFilesRequest, options?: CallOptions): Promise<SearchFilesAnswer>;
  writeFile(request: WriteFileRequest, options?: CallOptions): Promise<WriteFileAnswer>;
  editFiles(request: EditFilesRequest, options?: CallOptions): Promise<EditFilesAnswer>;
  /** Within `CONTEXT_TIMEOUT_MS`. */
  workspaceContext(options?: CallOptions): Promise<WorkspaceContext>;
  readSkill(name: string, options?: CallOptions): Promise<ReadSkillAnswer>;
  readSkillFile(request: ReadSkillFileRequest, options?: CallOptions): Promise<ReadSkillFileAnswer>;
  /**
   * The tools of the workspace's MCP servers. `permissions` say what may run from now on; absent, those that the agent has
   * stay, and at first it has none. Answers within `CONTEXT_TIMEOUT_MS`; servers that need longer count as starting.
   * Without `isWaiting` no server that is starting is waited for. `refresh` lists the tools of all servers again, and waits for them as long as the agent does.
   */
  mcpTools(options?: ToolListOptions): Promise<McpToolsAnswer>;
  /** Within `MAX_MCP_CALL_MS`. Aborting the signal also cancels the call at the MCP server. */
  callMcpTool(request: McpCallRequest, options?: CallOptions): Promise<McpCallAnswer>;
  /**
   * The same agent scoped to a chat, which sees only its own processes. Ancestors are nearest first; `userId` is the
   * chat's owner, whose chats share a limit of processes.
   */
  forChat(chatId: string, ancestorChatIds?: readonly string[], userId?: string): AgentConnection;
}

/** Sends no request by itself. */
export function connectAgent(address: AgentAddress): AgentConnection {
  const ask: Ask = (exchange) => askAgent(address, exchange);
  const post: Post = (path, answer, body, options) =>
    ask({ method: "POST", path, answer, body, signal: options?.signal });
  return {
    instance: address.instanceId ?? address.url,
    health: (options) => ask({ method: "GET", path: AGENT_PATHS.health, answer: healthSchema, ...options }),
    watchGit: (listener) => watchGit(address, listener),
    openControlChannel: (listener) => openControlChannel(address, listener),
    ...processRequests(address, ask, post),
    ...fileRequests(address, post),
    ...contextRequests(ask, post),
    ...mcpRequests(ask),
    forChat: (chatId, ancestorChatIds = [], userId) =>
      connectAgent({ ...address, chatId, ancestorChatIds, ...(userId !== undefined && { userId }) }),
  };
}

type Post = <Schema extends z.ZodType>(
  path: string,
  answer: Schema,
  body: unknown,
  options?: CallOptions,
) => Promise<z.infer<Schema>>;

type ProcessRequests = Pick<
  AgentConnection,
  "startProcess" | "processOutput" | "followOutput" | "listProcesses" | "signalProcess"
>;

function processRequests(address: AgentAddress, ask: Ask, post: Post): ProcessRequests {
  return {
    startProcess: (request, options) =>
      post(AGENT_PATHS.processes, startProcessAnswerSchema, request, options),
    processOutput: (request) => readOutput(ask, address.clock ?? systemClock, request),
    followOutput: (request) => followOutput(address, request),
    listProcesses: (options) =>
      ask({ method: "GET", path: AGENT_PATHS.processes, answer: processListSchema, ...options }),
    signalProcess: async (id, signal, options) =>
      (await post(AGENT_PATHS.processSignal(id), signalProcessAnswerSchema, { signal }, options)).message,
  };
}

type FileRequests = Pick<
  AgentConnection,
  | "readLines"
  | "readBytes"
  | "listDirectory"
  | "resolvePath"
  | "findFiles"
  | "searchFiles"
  | "writeFile"
  | "editFiles"
>;

function fileRequests(address: AgentAddress, post: Post): FileRequests {
  return {
    readLines: (request, options) => post(AGENT_PATHS.readLines, readLinesAnswerSchema, request, options),
    readBytes: (request) => readAgentBytes(address, request),
    listDirectory: (request, options) =>
      post(AGENT_PATHS.listDirectory, listDirectoryAnswerSchema, request, options),
    resolvePath: (path, options) => post(AGENT_PATHS.resolvePath, resolvePathAnswerSchema, { path }, options),
    findFiles: (request, options) => post(AGENT_PATHS.findFiles, findFilesAnswerSchema, request, options),
    searchFiles: (request, options) =>
      post(AGENT_PATHS.searchFiles, searchFilesAnswerSchema, request, options),
    writeFile: (request, options) => post(AGENT_PATHS.writeFile, writeFileAnswerSchema, request, options),
    editFiles: (request, options) => post(AGENT_PATHS.editFiles, editFilesAnswerSchema, request, options),
  };
}

type ContextRequests = Pick<AgentConnection, "workspaceContext" | "readSkill" | "readSkillFile">;

function contextRequests(ask: Ask, post: Post): ContextRequests {
  return {
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
  };
}

function mcpRequests(ask: Ask): Pick<AgentConnection, "mcpTools" | "callMcpTool"> {
  return {
    mcpTools: ({ refresh = false, permissions, isWaiting = true, signal } = {}) => {
      const waitMs = !isWaiting ? 0 : refresh ? MAX_MCP_LIST_WAIT_MS : MCP_SERVERS_WAIT_MS;
      return ask({
        method: "POST",
        path: AGENT_PATHS.mcpTools,
        body: { permissions, refresh, waitMs },
        answer: mcpToolsAnswerSchema,
        timeoutMs: isWaiting ? waitMs + CONTEXT_TIMEOUT_MS - MCP_SERVERS_WAIT_MS : CONTEXT_TIMEOUT_MS,
        signal,
      });
    },
    callMcpTool: (request, options) =>
      ask({
        method: "POST",
        path: AGENT_PATHS.mcpCall,
        answer: mcpCallAnswerSchema,
        body: request,
        timeoutMs: MAX_MCP_CALL_MS + CALL_MARGIN_MS,
        ...options,
      }),
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
