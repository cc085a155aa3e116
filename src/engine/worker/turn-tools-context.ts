/** Tools of one turn: ours, those of MCP servers and of the workspace, and the client's own. */
import type { MessageRow } from "../../domain/chats/chat-events.js";
import type { NoticePart } from "../../domain/chats/message-parts.js";
import { mayHaveSubagents } from "../../domain/chats/subagents.js";
import type { ToolDefinition } from "../../providers/types.js";
import type { ClaimedChat } from "../../store/chats/leases.js";
import { externalTools, omittedToolsText, type ExternalTools } from "../mcp/external-tools.js";
import { pendingNotices } from "../mcp/pending-notices.js";
import type { TurnServers } from "../mcp/turn-servers.js";
import type { Agents } from "../subagents/ports.js";
import { findTool, isToolAvailable, permittedTools } from "../tools/registry.js";
import type { Tool } from "../tools/tool.js";
import type { Preamble } from "../turn/accumulate.js";
import { effectiveSettings, type PromptInput } from "./prompt-input.js";
import type { RunnerDependencies } from "./runner-dependencies.js";
import type { TurnWorkspaceContext } from "./turn-workspace-context.js";

/** Of a chat without a workspace that may do everything else: a client's tool never gets one of these names. */
const WITHOUT_WORKSPACE = { hasWorkspace: false, mayProvision: true, hasSkills: false };

export class TurnToolsContext {
  #servers: TurnServers | null = null;
  /** As the model was last offered them. */
  #external: ExternalTools = { servers: [], workspace: [], omitted: [] };

  constructor(
    private readonly dependencies: RunnerDependencies,
    private readonly chat: ClaimedChat,
    private readonly workspace: TurnWorkspaceContext,
  ) {}

  /** Closes the turn's connections to MCP servers, in the background. */
  close(): void {
    this.#servers?.close();
    this.#servers = null;
  }

  /** Names of the tools that the chat's client answers itself. */
  get clientToolNames(): ReadonlySet<string> {
    const hasWorkspace = this.chat.workspaceId !== null;
    const ours = this.#ownTools.filter((tool) => hasWorkspace || isToolAvailable(tool, WITHOUT_WORKSPACE));
    const taken = new Set(ours.map((tool) => tool.name));
    return new Set(this.chat.clientTools.map((tool) => tool.name).filter((name) => !taken.has(name)));
  }

  /** Ours first, then external ones, then the client's; a client's tool with one of our names is not offered. */
  async definitions({ history, signal }: PromptInput): Promise<ToolDefinition[]> {
    const [context] = await Promise.all([
      this.workspace.context(),
      this.#workspaceTools(),
      this.#isReadOnly ? undefined : this.#serversFor(history).refresh(signal),
    ]);
    const { servers, workspace } = await this.#externalTools(history);
    const facts = {
      hasWorkspace: this.chat.workspaceId !== null,
      mayProvision: await this.workspace.mayProvision(),
      hasSkills: (context?.skills.length ?? 0) > 0,
    };
    const ours = this.#ownTools.filter((tool) => isToolAvailable(tool, facts));
    const definitions = [...ours, ...servers, ...workspace].map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema,
    }));
    const { clientToolNames } = this;
    return [...definitions, ...this.chat.clientTools.filter(({ name }) => clientToolNames.has(name))];
  }

  /** Names of all tools that the model is offered. */
  async names(input: PromptInput): Promise<string[]> {
    return (await this.definitions(input)).map(({ name }) => name);
  }

  /** One of ours, or an external one as it was last offered. */
  async find(name: string, { history, signal }: PromptInput): Promise<Tool | undefined> {
    const own = findTool(this.#ownTools, name);
    if (own || this.#isReadOnly) return own;
    await this.#serversFor(history).open(signal);
    const { servers, workspace } = await this.#externalTools(history);
    return findTool([...servers, ...workspace], name);
  }

  /** What the engine adds to the model's next answer: notices, and the server of each external tool. */
  preamble(history: MessageRow[]): Preamble {
    const { servers, omitted } = this.#external;
    const tooMany: NoticePart[] =
      omitted.length === 0 ? [] : [{ type: "notice", level: "warning", text: omittedToolsText(omitted) }];
    const notices = pendingNotices(history, [...(this.#servers?.notices() ?? []), ...tooMany]);
    const serverIds = new Map(servers.map(({ name, serverId }) => [name, serverId]));
    return { notices, serverOf: (toolName) => serverIds.get(toolName) };
  }

  /** The chat's subagents. They inherit the settings of the turn that starts them. */
  subagents(history: MessageRow[]): Agents {
    const { chatId, rootChatId, ownerId, depth, subagentKind, workspaceId, state } = this.chat;
    const caller = {
      chatId,
      rootChatId,
      ownerId,
      runnerId: state.runnerId,
      depth,
      subagentKind,
      workspaceId,
    };
    return this.dependencies.tools.subagents.of({ ...caller, ...effectiveSettings(history, this.chat) });
  }

  /** An "explore" subagent. It gets no external tools: their effects are unknown. */
  get #isReadOnly(): boolean {
    return this.chat.subagentKind === "explore";
  }

  /** Those of ours that the chat's agent may call. */
  get #ownTools(): readonly Tool[] {
    const { builtIn, subagents } = this.dependencies.tools;
    return permittedTools(builtIn, {
      isReadOnly: this.#isReadOnly,
      mayHaveSubagents: mayHaveSubagents(this.chat, subagents.maxDepth),
    });
  }

  async #workspaceTools(): Promise<readonly Tool[]> {
    return this.#isReadOnly ? [] : this.workspace.tools();
  }

  async #externalTools(history: MessageRow[]): Promise<ExternalTools> {
    if (this.#isReadOnly) return this.#external;
    const workspace = await this.#workspaceTools();
    const taken = [...this.dependencies.tools.builtIn, ...this.chat.clientTools].map(({ name }) => name);
    return (this.#external = externalTools(this.#serversFor(history).tools(), workspace, taken));
  }

  #serversFor(history: MessageRow[]): TurnServers {
    const { chatId, ownerId: userId } = this.chat;
    const { mcpServerIds: selectedIds } = effectiveSettings(history, this.chat);
    return (this.#servers ??= this.dependencies.tools.mcpServers.begin({ chatId, userId, selectedIds }));
  }
}
