/**
 * The tools of a workspace's own tool servers, as tools of a turn. Asked of the agent once in a turn, and at most once
 * in two seconds; what has not changed since then is the same objects again.
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
import { WorkspaceLooks } from "../../services/workspaces/single-flight-requests.js";
import { MAX_EXTERNAL_TOOLS } from "./external-tools.js";
import { sanitizedDescription, sanitizedInputSchema } from "./sanitized-tool.js";
import { outcomeOf } from "./call-outcome.js";
import { sanitizedNames } from "./tool-names.js";

const MAX_KNOWN = 200;

/** Less than a person needs to change a file and then say something; busy workspaces are not asked for each turn. */
const FRESH_MS = 2_000;

type Known = { revision: string; tools: readonly Tool[]; instance: string; freshUntilMs: number };

export class WorkspaceTools {
  readonly #known = new LRUCache<string, Known>({ max: MAX_KNOWN });
  readonly #looks: WorkspaceLooks<readonly Tool[]>;

  constructor(private readonly parts: { clock: Clock; log: Log }) {
    this.#looks = new WorkspaceLooks(parts.clock);
  }

  /**
   * Sorted by name, each name once and fit for every vendor. Never rejects and takes five seconds at most: when the
   * workspace cannot be asked the answer is what it told before, or none. `connect` may reject.
   */
  async list(workspaceId: string, connect: () => Promise<AgentConnection>): Promise<readonly Tool[]> {
    const look = await this.#looks.once(workspaceId, () => this.#look(workspaceId, connect));
    if (look.kind === "seen") return look.value;
    this.parts.log.warn({ err: look.error, workspaceId }, "The workspace's tools cannot be listed");
    return this.#known.get(workspaceId)?.tools ?? [];
  }

  /** Resolves when no workspace is asked any more. Close the agents first, or it waits for their answers. */
  close(): Promise<void> {
    return this.#looks.close();
  }

  async #look(workspaceId: string, connect: () => Promise<AgentConnection>): Promise<readonly Tool[]> {
    const agent = await connect();
    const { instance } = agent;
    const { clock } = this.parts;
    const known = this.#known.get(workspaceId);
    if (known?.instance === instance && clock.now() < known.freshUntilMs) return known.tools;
    const answer = await agent.mcpTools();
    const { revision } = answer;
    const isNew = known?.revision !== revision;
    if (isNew) this.#tellProblems(workspaceId, answer);
    const tools = isNew ? await toolsOf(answer.tools.slice(0, MAX_EXTERNAL_TOOLS)) : known.tools;
    // What is starting now may be there a moment later.
    const isWhole = answer.servers.every(({ status }) => status !== "starting");
    const freshUntilMs = isWhole ? clock.now() + FRESH_MS : -Infinity;
    this.#known.set(workspaceId, { revision, tools, instance, freshUntilMs });
    return tools;
  }

  #tellProblems(workspaceId: string, { servers, tools, fileProblems }: McpToolsAnswer): void {
    const { log } = this.parts;
    for (const { name: server, status, error } of servers) {
      if (error !== undefined)
        log.warn({ workspaceId, server, status, error }, "A workspace's tool server has a problem");
    }
    for (const problem of fileProblems)
      log.warn({ workspaceId, ...problem }, "A workspace's file of tool servers is wrong");
    const left = tools.slice(MAX_EXTERNAL_TOOLS).map(({ name }) => name);
    if (left.length > 0)
      log.warn(
        { workspaceId, left, limit: MAX_EXTERNAL_TOOLS },
        "A workspace has more tools than are offered",
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
  offeredName: string,
): Promise<Tool> {
  return {
    name: offeredName,
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
