/**
 * What one turn needs besides the chat itself: its model, its limits, its system prompt, its tools, its workspace.
 * Each is found once in a turn and kept until the next one begins.
 */
import type { ChatFailure } from "../../domain/common/failures.js";
import type { GreatestUse } from "../../domain/usage/usage-limits.js";
import type { MessageRow } from "../../domain/chats/chat-events.js";
import type { ClientTool } from "../../domain/chats/chat-state.js";
import type { NoticePart } from "../../domain/chats/message-parts.js";
import type { TurnRules } from "../../domain/chats/next-action.js";
import { fittingOutput } from "../../domain/models/output-limit.js";
import { mayHaveSubagents } from "../../domain/chats/subagents.js";
import type { ModelRequest, PromptMessage, ToolDefinition } from "../../providers/types.js";
import type { ClaimedChat } from "../../store/chats/leases.js";
import type { AgentConnection } from "../../workspaces/agent-client/agent-connection.js";
import { onDisconnect } from "../../workspaces/on-disconnect.js";
import { externalTools, omittedToolsText, type ExternalTools } from "../mcp/external-tools.js";
import type { TurnServers } from "../mcp/turn-servers.js";
import { pendingNotices } from "../mcp/pending-notices.js";
import type { ModelChoice, TurnModel } from "../../services/models/models.js";
import { greatestUse } from "../prompt/greatest-use.js";
import { promptFrom } from "../prompt/history.js";
import { promptTokens } from "../prompt/prompt-tokens.js";
import { summaryMessages } from "../prompt/summary.js";
import { systemPrompt, type WorkspaceStatus } from "../prompt/system.js";
import { promptFiles } from "../prompt/prompt-files.js";
import { workspacePrompt } from "../prompt/workspace-context.js";
import type { WorkspaceContext } from "../../services/workspaces/workspace-contexts.js";
import { resultLimitBytes } from "../tools/cap-result.js";
import type { Agents } from "../subagents/ports.js";
import { findTool, isToolOffered, permittedTools } from "../tools/registry.js";
import { ToolError, type Tool } from "../tools/tool.js";
import type { WorkspaceProvisioning } from "../tools/workspaces/workspace-provisioning.js";
import type { Preamble } from "../turn/accumulate.js";
import type { OpenModelStream } from "../turn/ports.js";
import type { RunnerDependencies } from "./runner-dependencies.js";

/** A model call that is ready to be opened. `greatestUse` looks at the whole prompt: only for those who need it. */
export type PreparedCall = {
  request: ModelRequest;
  open: OpenModelStream;
  model: TurnModel;
  greatestUse(): GreatestUse;
};
export type PreparedCallResult = { ok: true; call: PreparedCall } | { ok: false; failure: ChatFailure };

/** `signal`: nothing is waited for any more; whoever asks has been stopped. */
export type PromptInput = { history: MessageRow[]; signal: AbortSignal };

export class TurnContext {
  readonly #parts: RunnerDependencies;
  readonly #chat: ClaimedChat;
  #found = new Map<string, unknown>();
  #servers: TurnServers | null = null;
  /** Tools of others as they were offered last. */
  #foreign: ExternalTools = { servers: [], workspace: [], left: [] };
  /** Of the newest prompt's files. */
  #fileBytes: ReadonlyMap<string, Uint8Array> = new Map();

  constructor(parts: RunnerDependencies, chat: ClaimedChat) {
    this.#parts = parts;
    this.#chat = chat;
  }

  /** The turn is over: the next one finds everything anew. */
  startTurn(): void {
    this.endTurn();
    this.#found = new Map();
    this.#fileBytes = new Map();
  }

  /** Leaves the turn's tool servers, in the background. */
  endTurn(): void {
    this.#servers?.close();
    this.#servers = null;
  }

  /** What bounds the turn; a model that cannot be had is no bound here, the call itself will say so. */
  async rules(history: MessageRow[]): Promise<TurnRules> {
    const { maxStepsPerTurn: maxSteps } = this.#parts;
    const choice = await this.#model(history);
    if (!choice.ok) return { maxSteps, contextLimit: null, compactionThresholdPercent: 100 };
    const { compactionThresholdPercent } = choice.model.config;
    return { maxSteps, contextLimit: await this.#contextLimit(choice.model), compactionThresholdPercent };
  }

  /** The model call that history asks for. */
  async prepareCall(moment: PromptInput): Promise<PreparedCallResult> {
    return this.#prepare(moment, (messages) => ({ messages, fileIds: promptFiles(messages) }));
  }

  /** The call that folds history into a summary, of words only; `level` as in `summaryMessages`. */
  async prepareSummary(moment: PromptInput, level: number): Promise<PreparedCallResult> {
    return this.#prepare(moment, (messages, contextLimit) => ({
      messages: summaryMessages(messages, { contextLimit, level }),
      toolChoice: "none",
      fileIds: [],
    }));
  }

  /** The vendor has refused a prompt as too long, and perhaps said how long it may be. */
  async learnLimit(model: TurnModel, tokens: number | undefined): Promise<void> {
    if (tokens === undefined) return;
    await this.#parts.observeContextLimit(model, tokens);
    this.#found.delete("context limit");
    this.#found.delete("model");
  }

  /** Names of the tools that this chat's client answers itself. */
  get clientToolNames(): ReadonlySet<string> {
    const hasWorkspace = this.#chat.workspaceId !== null;
    const ours = this.#ownTools.filter((tool) => hasWorkspace || isToolOffered(tool, NO_WORKSPACE));
    const taken = new Set(ours.map((tool) => tool.name));
    return new Set(this.#chat.clientTools.map((tool) => tool.name).filter((name) => !taken.has(name)));
  }

  /** The chat's workspace. When it does not answer any more, the next use dials anew. */
  workspace(): Promise<AgentConnection> {
    const { workspaceId } = this.#chat;
    if (workspaceId !== null) this.#parts.workspaces.noteUse([workspaceId]);
    return this.#once("workspace", async () => {
      const found = this.#found;
      return onDisconnect(await this.#openWorkspace(), () => found.delete("workspace"));
    });
  }

  /** Where tools make and change the chat's workspace itself; undefined where they may not. */
  async desk(): Promise<WorkspaceProvisioning | undefined> {
    if (!(await this.#mayProvision())) return undefined;
    return this.#parts.workspaces.provisioningFor(this.#chat, (workspaceId) => this.#bind(workspaceId));
  }

  /** The chat's subagents, which take over what the turn that starts them uses. */
  agents(history: MessageRow[]): Agents {
    const { chatId, rootChatId, ownerId, depth, subagentKind, workspaceId, state } = this.#chat;
    const place = { chatId, rootChatId, ownerId, runnerId: state.runnerId, depth, subagentKind, workspaceId };
    return this.#parts.subagents.of({ ...place, ...effectiveSettings(history, this.#chat) });
  }

  /** Bytes of JSON that one tool's result may have. */
  async resultLimitBytes(history: MessageRow[]): Promise<number> {
    return resultLimitBytes((await this.rules(history)).contextLimit);
  }

  /** What belongs to the model's next words: what people are to know, and whose tools are whose. */
  preamble(history: MessageRow[]): Preamble {
    const { servers, left } = this.#foreign;
    const tooMany: NoticePart[] =
      left.length === 0 ? [] : [{ type: "notice", level: "warning", text: omittedToolsText(left) }];
    const notices = pendingNotices(history, [...(this.#servers?.notices() ?? []), ...tooMany]);
    const serverIds = new Map(servers.map(({ name, serverId }) => [name, serverId]));
    return { notices, serverOf: (toolName) => serverIds.get(toolName) };
  }

  /** Names of all tools that the model is offered. */
  async toolNames(moment: PromptInput): Promise<string[]> {
    return (await this.#tools(moment)).map(({ name }) => name);
  }

  /** Ours, or that of somebody else, as they were offered last. */
  async findTool(name: string, { history, signal }: PromptInput): Promise<Tool | undefined> {
    const own = findTool(this.#ownTools, name);
    if (own || this.#isReadOnly) return own;
    await this.#serversOf(history).open(signal);
    const { servers, workspace } = await this.#externalTools(history);
    return findTool([...servers, ...workspace], name);
  }

  // ── how ──────────────────────────────────────────────────────────────────

  async #prepare(
    moment: PromptInput,
    shape: (
      messages: PromptMessage[],
      contextLimit: number | null,
    ) => Pick<ModelRequest, "messages" | "toolChoice"> & { fileIds: string[] },
  ): Promise<PreparedCallResult> {
    const { history } = moment;
    const choice = await this.#model(history);
    if (!choice.ok) return choice;
    const { adapter, config, wantedOutput } = choice.model;
    const prompt = promptFrom(history, config.id);
    const contextLimit = await this.#contextLimit(choice.model);
    const { fileIds, ...shaped } = shape(prompt.messages, contextLimit);
    const effort = effectiveSettings(history, this.#chat).reasoningEffort;
    const [system, tools] = await Promise.all([this.#system(prompt.system), this.#tools(moment)]);
    const files = fileIds.length > 0 ? { files: await this.#files(fileIds) } : {};
    const prompted = { system, ...shaped, tools, ...files };
    const request: ModelRequest = {
      model: config.model,
      ...prompted,
      maxOutputTokens:
        contextLimit === null
          ? wantedOutput
          : fittingOutput(wantedOutput, contextLimit, promptTokens(prompted)),
      ...(effort ? { reasoningEffort: effort } : {}),
      cacheKey: this.#chat.chatId,
      options: config.providerOptions,
      headers: identityHeaders(this.#chat),
    };
    const call = {
      request,
      open: (signal: AbortSignal) => adapter.stream(request, signal),
      model: choice.model,
      greatestUse: () => greatestUse(request, contextLimit),
    };
    return { ok: true, call };
  }

  #model(history: MessageRow[]): Promise<ModelChoice> {
    return this.#once("model", () => {
      const { modelConfigId } = effectiveSettings(history, this.#chat);
      return this.#parts.chooseModel(modelConfigId, this.#chat.ownerId);
    });
  }

  #contextLimit(model: TurnModel): Promise<number | null> {
    return this.#once("context limit", () => this.#parts.contextLimitOf(model));
  }

  #system(stored: string[]): Promise<string> {
    return this.#once("system", async () => {
      const [deployment, customPrompt, context] = await Promise.all([
        this.#parts.deploymentPrompt(),
        this.#parts.customPrompt(this.#chat.ownerId),
        this.#workspaceContext(),
      ]);
      const workspace = await this.#workspaceStanding();
      const workspaceContext = workspacePrompt(context);
      const { subagentKind } = this.#chat;
      const ours = { workspace, subagentKind, workspaceContext };
      return systemPrompt({ deployment, history: stored, ...ours, customPrompt });
    });
  }

  async #workspaceStanding(): Promise<WorkspaceStatus> {
    const { workspaceId } = this.#chat;
    const mayProvision = await this.#mayProvision();
    if (workspaceId === null) return { kind: "none", mayProvision };
    const why = await this.#parts.workspaces.whyUnusable(workspaceId);
    if (why === null) return { kind: "usable" };
    // Whose tools start workspaces is the one who asked: a subagent can only say what it lacks.
    const whoDoes = mayProvision ? "" : " You have no tools for that: say in your answer that it is needed.";
    return { kind: "unusable", why: why + whoDoes };
  }

  /** Subagents work where they were put. */
  #mayProvision(): Promise<boolean> {
    if (this.#chat.subagentKind !== null) return Promise.resolve(false);
    // A subagent works where the chat works that started it, and leaves the place to that.
    if (this.#chat.parentChatId !== null) return Promise.resolve(false);
    return this.#once("may provision", () => this.#parts.workspaces.canProvision());
  }

  /** The turn goes on in another workspace, or in one that has only now come up: all of that is found anew. */
  #bind(workspaceId: string): void {
    this.#chat.workspaceId = workspaceId;
    for (const name of ["workspace", "workspace context", "workspace tools", "system"])
      this.#found.delete(name);
  }

  /** Nobody knows what others' tools change: an agent that is only to look has ours that change nothing. */
  get #isReadOnly(): boolean {
    return this.#chat.subagentKind === "explore";
  }

  /** Those of ours that the chat's agent may call at all. */
  get #ownTools(): readonly Tool[] {
    const { maxDepth } = this.#parts.subagents;
    const holder = { isReadOnly: this.#isReadOnly, mayHaveSubagents: mayHaveSubagents(this.#chat, maxDepth) };
    return permittedTools(this.#parts.tools, holder);
  }

  #workspaceContext(): Promise<WorkspaceContext | null> {
    return this.#once("workspace context", async () => {
      const { workspaceId } = this.#chat;
      if (workspaceId === null) return null;
      return this.#parts.readWorkspaceContext(workspaceId, () => this.workspace());
    });
  }

  /** The workspace's own tools. */
  #workspaceTools(): Promise<readonly Tool[]> {
    return this.#once("workspace tools", async () => {
      const { workspaceId } = this.#chat;
      if (workspaceId === null || this.#isReadOnly) return [];
      return this.#parts.listWorkspaceTools(workspaceId, () => this.workspace());
    });
  }

  /** What is selected stands with the last thing that a person said. */
  #serversOf(history: MessageRow[]): TurnServers {
    const { chatId, ownerId: userId } = this.#chat;
    const { mcpServerIds: selectedIds } = effectiveSettings(history, this.#chat);
    return (this.#servers ??= this.#parts.toolServers.begin({ chatId, userId, selectedIds }));
  }

  async #externalTools(history: MessageRow[]): Promise<ExternalTools> {
    if (this.#isReadOnly) return this.#foreign;
    const workspace = await this.#workspaceTools();
    const taken = [...this.#parts.tools, ...this.#chat.clientTools].map(({ name }) => name);
    return (this.#foreign = externalTools(this.#serversOf(history).tools(), workspace, taken));
  }

  /** Ours first, then others', then the client's own; a client's tool with one of our names is not offered. */
  async #tools({ history, signal }: PromptInput): Promise<ToolDefinition[]> {
    const [context] = await Promise.all([
      this.#workspaceContext(),
      this.#workspaceTools(),
      this.#isReadOnly ? undefined : this.#serversOf(history).refresh(signal),
    ]);
    const { servers, workspace } = await this.#externalTools(history);
    const facts = {
      hasWorkspace: this.#chat.workspaceId !== null,
      mayProvision: await this.#mayProvision(),
      hasSkills: (context?.skills.length ?? 0) > 0,
    };
    const ours = this.#ownTools.filter((tool) => isToolOffered(tool, facts));
    const offered = [...ours, ...servers, ...workspace].map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema,
    }));
    return [
      ...offered,
      ...this.#chat.clientTools.filter((tool: ClientTool) => this.clientToolNames.has(tool.name)),
    ];
  }

  /** Read once in a turn, and forgotten when they leave the prompt: a turn may see hundreds of screenshots. */
  async #files(fileIds: string[]): Promise<ReadonlyMap<string, Uint8Array>> {
    const known = this.#fileBytes;
    const missing = fileIds.filter((id) => !known.has(id));
    const read = missing.length === 0 ? known : await this.#parts.readFiles(this.#chat.chatId, missing);
    const found = fileIds.flatMap((id) => {
      const bytes = known.get(id) ?? read.get(id);
      return bytes === undefined ? [] : [[id, bytes] as const];
    });
    return (this.#fileBytes = new Map(found));
  }

  async #openWorkspace(): Promise<AgentConnection> {
    const { workspaceId, chatId, ownerId } = this.#chat;
    if (workspaceId === null) {
      const instead = (await this.#mayProvision()) ? " Call list_templates, then create_workspace." : "";
      throw new ToolError(`This chat has no workspace, so there is nothing to run this in.${instead}`);
    }
    const ancestorChatIds = await this.#parts.subagents.ancestorsOf(this.#chat);
    return this.#parts.openWorkspace(workspaceId, { chatId, ancestorChatIds, ownerId });
  }

  /** The promise is kept, so that those who ask at the same time share it; a failed one is forgotten. */
  #once<T>(name: string, find: () => Promise<T>): Promise<T> {
    const known = this.#found.get(name) as Promise<T> | undefined;
    if (known) return known;
    const finding = find();
    const found = this.#found;
    found.set(name, finding);
    finding.catch(() => found.delete(name));
    return finding;
  }
}

/** Of a chat that has none, everything else allowed: whose names are never a client's. */
const NO_WORKSPACE = { hasWorkspace: false, mayProvision: true, hasSkills: false };

/** The last person to speak chose the model, how hard it should think, and the tool servers; the chat's own choice is the fallback. */
export function effectiveSettings(
  history: MessageRow[],
  chat: ClaimedChat,
): Pick<ClaimedChat, "modelConfigId" | "reasoningEffort" | "mcpServerIds"> {
  const last = history.findLast((message) => message.role === "user" && message.authorId !== null);
  return {
    modelConfigId: last?.modelConfigId ?? chat.modelConfigId,
    reasoningEffort: last?.reasoningEffort ?? chat.reasoningEffort,
    mcpServerIds: last?.mcpServerIds ?? chat.mcpServerIds,
  };
}

/** Whom a call is made for, so that a gateway between us and the vendor can tell chats and people apart. */
function identityHeaders({
  chatId,
  parentChatId,
  ownerId,
  workspaceId,
}: ClaimedChat): Record<string, string> {
  return {
    "Parley-Chat-Id": chatId,
    ...(parentChatId === null ? {} : { "Parley-Parent-Chat-Id": parentChatId }),
    "Parley-Owner-Id": ownerId,
    ...(workspaceId === null ? {} : { "Parley-Workspace-Id": workspaceId }),
  };
}
