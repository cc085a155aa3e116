/** The server's hand in a workspace: a typed client of the agent's protocol, scoped to one chat. */
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
import { systemClock, type Clock } from "../../lib/clock.js";
import { watchGit, type AgentGitWatch, type GitWatchListener } from "./agent-git.js";
import { followOutput, type FollowEnd, type FollowRequest } from "./agent-output.js";
import { openServerLine, type OpenServerLine, type ServerLineListener } from "../control-channel.js";
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
  McpTool,
  McpToolsAnswer,
} from "../../agent/protocol/mcp.js";
export type { ProcessList, ProcessOutput } from "../../agent/protocol/processes.js";
export type { FindFilesAnswer, SearchFilesAnswer } from "../../agent/protocol/search.js";
export type { GitCredentials, GitCredentialsRequest } from "../../agent/protocol/server-line.js";

/** A turn waits for the workspace's context no longer than this. */
export const CONTEXT_TIMEOUT_MS = 5_000;
/** So that the agent's own word of a call that takes too long comes first; together they stay below 5 minutes. */
const CALL_MARGIN_MS = 10_000;
/** Longest single wait: the client of Node gives up on an answer whose headers take 5 minutes. */
const MAX_WAIT_PER_REQUEST_MS = 240_000;

/** How long the agent waits for tool servers that are starting, so that its answer still comes within that time. */
const TOOL_SERVERS_WAIT_MS = 4_000;

type CallOptions = { signal?: AbortSignal };
type ToolListOptions = CallOptions & { refresh?: boolean };

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
  /** What a process says while it runs, by one stream, which may break. Never rejects. */
  followOutput(request: FollowRequest): Promise<FollowEnd>;
  /** Watches the repositories in which the chat works; for a connection of a chat. Rejects with `AgentUnreachable`. */
  watchGit(listener: GitWatchListener): Promise<AgentGitWatch>;
  /** A line on which the agent asks. Rejects with `AgentUnreachable`. */
  openServerLine(listener: ServerLineListener): Promise<OpenServerLine>;
  listProcesses(options?: CallOptions): Promise<ProcessList>;
  signalProcess(id: string, signal: SignalProcessRequest["signal"], options?: CallOptions): Promise<string>;
  readLines(request: ReadLinesRequest, options?: CallOptions): Promise<ReadLinesAnswer>;
  /** At most `MAX_BYTES_PER_READ` bytes; ask again for the rest. */
  readBytes(request: ReadBytesRequest): Promise<BytesRead>;
  listDirectory(request: ListDirectoryRequest, options?: CallOptions): Promise<ListDirectoryAnswer>;
  /** Where a path leads, all links followed; needs not exist. */
  resolvePath(path: string, options?: CallOptions): Promise<ResolvePathAnswer>;
  /** Aborting the signal ends the search at the agent. */
  findFiles(request: FindFilesRequest, options?: CallOptions): Promise<FindFilesAnswer>;
  /** Aborting the signal ends the search at the agent. */
  searchFiles(request: SearchFilesRequest, options?: CallOptions): Promise<SearchFilesAnswer>;
  writeFile(request: WriteFileRequest, options?: CallOptions): Promise<WriteFileAnswer>;
  editFiles(request: EditFilesRequest, options?: CallOptions): Promise<EditFilesAnswer>;
  /** Within `CONTEXT_TIMEOUT_MS`. */
  workspaceContext(options?: CallOptions): Promise<WorkspaceContext>;
  readSkill(name: string, options?: CallOptions): Promise<ReadSkillAnswer>;
  readSkillFile(request: ReadSkillFileRequest, options?: CallOptions): Promise<ReadSkillFileAnswer>;
  /**
   * The workspace's own tools, within `CONTEXT_TIMEOUT_MS`; servers that need longer count as starting. A refresh asks
   * all servers anew, and waits for them as long as the agent does.
   */
  mcpTools(options?: ToolListOptions): Promise<McpToolsAnswer>;
  /** Within `MAX_MCP_CALL_MS`. Aborting the signal also cancels the call at the tool server. */
  callMcpTool(request: McpCallRequest, options?: CallOptions): Promise<McpCallAnswer>;
  /**
   * The same agent on behalf of a chat, which then sees only its own processes. Nearest ancestor first; `userId` is the
   * chat's owner, whose chats share a limit of processes.
   */
  forChat(chatId: string, ancestorChatIds?: readonly string[], userId?: string): AgentConnection;
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
    followOutput: (request) => followOutput(address, request),
    watchGit: (listener) => watchGit(address, listener),
    openServerLine: (listener) => openServerLine(address, listener),
    listProcesses: (options) =>
      ask({ method: "GET", path: AGENT_PATHS.processes, answer: processListSchema, ...options }),
    signalProcess: async (id, signal, options) =>
      (await post(AGENT_PATHS.processSignal(id), signalProcessAnswerSchema, { signal }, options)).message,
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
    mcpTools: ({ refresh = false, signal } = {}) => {
      const waitMs = refresh ? MAX_MCP_LIST_WAIT_MS : TOOL_SERVERS_WAIT_MS;
      return ask({
        method: "GET",
        path: `${AGENT_PATHS.mcpTools}?refresh=${refresh}&waitMs=${waitMs}`,
        answer: mcpToolsAnswerSchema,
        timeoutMs: waitMs + CONTEXT_TIMEOUT_MS - TOOL_SERVERS_WAIT_MS,
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
    forChat: (chatId, ancestorChatIds = [], userId) =>
      connectAgent({ ...address, chatId, ancestorChatIds, ...(userId !== undefined && { userId }) }),
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
