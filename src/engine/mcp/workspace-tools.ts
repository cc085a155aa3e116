/**
 * Tools of a workspace's own MCP servers. Listed from the agent once per turn, and at most once in two seconds; an
 * unchanged list yields the same objects, so that their schemas are compiled once.
 */
import { LRUCache } from "lru-cache";
import type { JsonObject } from "../../domain/common/json.js";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import type {
  AgentConnection,
  McpTool,
  McpToolsAnswer,
} from "../../workspaces/agent-client/agent-connection.js";
import { ToolError, type Tool, type ToolContext } from "../tools/tool.js";
import { askWorkspace } from "../tools/workspace-call.js";
import { SingleFlightRequests } from "../../services/workspaces/single-flight-requests.js";
import { MAX_EXTERNAL_TOOLS } from "./external-tools.js";
import { sanitizedDescription, sanitizedInputSchema } from "./sanitized-tool.js";
import { outcomeOf } from "./call-outcome.js";
import { sanitizedNames } from "./tool-names.js";

const MAX_KNOWN = 200;

/** Less than a user needs to change a file and send a message; busy workspaces are not asked for each turn. */
const FRESH_MS = 2_000;

type Known = { revision: string; tools: readonly Tool[]; instance: string; freshUntilMs: number };

export type WorkspaceToolsDependencies = {
  /** The agent's servers and tools, of those that may run. */
  listServers(workspaceId: string, agent: AgentConnection): Promise<McpToolsAnswer>;
  clock: Clock;
  log: Log;
};

export class WorkspaceTools {
  readonly #known = new LRUCache<string, Known>({ max: MAX_KNOWN });
  readonly #requests: SingleFlightRequests<readonly Tool[]>;

  constructor(private readonly dependencies: WorkspaceToolsDependencies) {
    this.#requests = new SingleFlightRequests(dependencies.clock);
  }

  /**
   * Sorted by name, with unique names that are valid for every vendor. Never rejects and takes at most five seconds: when
   * the agent does not answer, the last known tools are returned, or none. `connect` may reject.
   */
  async list(workspaceId: string, connect: () => Promise<AgentConnection>): Promise<readonly Tool[]> {
    const result = await this.#requests.once(workspaceId, () => this.#list(workspaceId, connect));
    if (result.kind === "answered") return result.value;
    this.dependencies.log.warn({ err: result.error, workspaceId }, "workspace tools cannot be listed");
    return this.#known.get(workspaceId)?.tools ?? [];
  }

  /** Resolves when no request is under way. Close the agents first, or it waits for their answers. */
  close(): Promise<void> {
    return this.#requests.close();
  }

  async #list(workspaceId: string, connect: () => Promise<AgentConnection>): Promise<readonly Tool[]> {
    const agent = await connect();
    const { instance } = agent;
    const { clock } = this.dependencies;
    const known = this.#known.get(workspaceId);
    if (known?.instance === instance && clock.now() < known.freshUntilMs) return known.tools;
    const answer = await this.dependencies.listServers(workspaceId, agent);
    const { revision } = answer;
    const isNew = known?.revision !== revision;
    if (isNew) this.#logProblems(workspaceId, answer);
    const tools = isNew ? await toolsOf(answer.tools.slice(0, MAX_EXTERNAL_TOOLS)) : known.tools;
    // A server that is starting may be ready a moment later.
    const isWhole = answer.servers.every(({ status }) => status !== "starting");
    const freshUntilMs = isWhole ? clock.now() + FRESH_MS : -Infinity;
    this.#known.set(workspaceId, { revision, tools, instance, freshUntilMs });
    return tools;
  }

  #logProblems(workspaceId: string, { servers, tools, fileProblems }: McpToolsAnswer): void {
    const { log } = this.dependencies;
    for (const { name: server, status, error } of servers) {
      if (error !== undefined)
        log.warn({ workspaceId, server, status, error }, "workspace MCP server has a problem");
    }
    for (const problem of fileProblems)
      log.warn({ workspaceId, ...problem }, "workspace MCP configuration is invalid");
    const omitted = tools.slice(MAX_EXTERNAL_TOOLS).map(({ name }) => name);
    if (omitted.length > 0)
      log.warn(
        { workspaceId, omitted, limit: MAX_EXTERNAL_TOOLS },
        "workspace has more tools than are offered",
      );
  }
}

async function toolsOf(listed: readonly McpTool[]): Promise<readonly Tool[]> {
  const names = sanitizedNames(listed.map(({ name }) => name));
  const tools = await Promise.all(listed.map((tool) => toolOf(tool, names.get(tool.name) ?? tool.name)));
  return tools.sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function toolOf(
  { name, serverName, description, inputSchema }: McpTool,
  sanitizedName: string,
): Promise<Tool> {
  return {
    name: sanitizedName,
    description: sanitizedDescription(description, `A tool of the workspace's server ${serverName}.`),
    inputSchema: await sanitizedInputSchema(inputSchema),
    checksArguments: true,
    run: (args, context) => callTool(name, args, context),
  };
}

async function callTool(name: string, args: JsonObject, context: ToolContext) {
  try {
    const call = { name, arguments: args };
    const answer = await askWorkspace(context, (agent) =>
      agent.callMcpTool(call, { signal: context.signal }),
    );
    return outcomeOf(answer);
  } catch (error) {
    if (error instanceof ToolError) return { result: { error: error.message }, isError: true };
    throw error;
  }
}
