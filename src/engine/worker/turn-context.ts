/**
 * What one turn needs besides the chat itself: its model, its limits, its system prompt, its tools, its workspace.
 * Each is found once in a turn and kept until the next one begins.
 */
import type { ChatFailure } from "../../domain/failures.js";
import type { MessageRow } from "../../domain/chat-events.js";
import type { ClientTool } from "../../domain/chat-state.js";
import { DEFAULT_MAX_OUTPUT_TOKENS } from "../../domain/limits.js";
import type { TurnRules } from "../../domain/next-action.js";
import type { ModelRequest, PromptMessage, ToolDefinition } from "../../providers/types.js";
import type { HeldChat } from "../../store/leases.js";
import type { AgentConnection } from "../../workspaces/agent-connection.js";
import { noticingLoss } from "../../workspaces/noticing-loss.js";
import type { ModelChoice, TurnModel } from "../models.js";
import { fileIdsOf, promptFrom } from "../prompt/history.js";
import { summaryMessages } from "../prompt/summary.js";
import { systemPrompt } from "../prompt/system.js";
import { workspacePrompt } from "../prompt/workspace-context.js";
import type { WorkspaceContext } from "../workspace-contexts.js";
import { resultLimitBytes } from "../tools/cap-result.js";
import { findTool } from "../tools/registry.js";
import { ToolError, type Tool } from "../tools/tool.js";
import type { OpenModelStream } from "../turn/ports.js";
import type { RunnerParts } from "./runner-parts.js";

/** A model call that is ready to be opened. */
export type PreparedCall = { open: OpenModelStream; model: TurnModel };
export type Preparation = { ok: true; call: PreparedCall } | { ok: false; failure: ChatFailure };

export class TurnContext {
  readonly #parts: RunnerParts;
  readonly #chat: HeldChat;
  #found = new Map<string, unknown>();

  constructor(parts: RunnerParts, chat: HeldChat) {
    this.#parts = parts;
    this.#chat = chat;
  }

  /** The turn is over: the next one finds everything anew. */
  startTurn(): void {
    this.#found = new Map();
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
  async prepareCall(history: MessageRow[]): Promise<Preparation> {
    return this.#prepare(history, (messages) => ({ messages }));
  }

  /** The call that folds history into a summary; `level` as in `summaryMessages`. */
  async prepareSummary(history: MessageRow[], level: number): Promise<Preparation> {
    return this.#prepare(history, (messages, contextLimit) => ({
      messages: summaryMessages(messages, { contextLimit, level }),
      toolChoice: "none",
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
    const ours = this.#chat.workspaceId === null ? [] : this.#parts.tools.map((tool) => tool.name);
    const taken = new Set(ours);
    return new Set(this.#chat.clientTools.map((tool) => tool.name).filter((name) => !taken.has(name)));
  }

  /** The chat's workspace. When it does not answer any more, the next use dials anew. */
  workspace(): Promise<AgentConnection> {
    return this.#once("workspace", async () => {
      const found = this.#found;
      return noticingLoss(await this.#openWorkspace(), () => found.delete("workspace"));
    });
  }

  /** Bytes of JSON that one tool's result may have. */
  async resultLimitBytes(history: MessageRow[]): Promise<number> {
    return resultLimitBytes((await this.rules(history)).contextLimit);
  }

  /** Names of all tools that the model is offered. */
  async toolNames(): Promise<string[]> {
    return (await this.#tools()).map(({ name }) => name);
  }

  /** Ours, or the workspace's own. */
  async findTool(name: string): Promise<Tool | undefined> {
    return findTool(this.#parts.tools, name) ?? findTool(await this.#workspaceTools(), name);
  }

  // ── how ──────────────────────────────────────────────────────────────────

  async #prepare(
    history: MessageRow[],
    shape: (
      messages: PromptMessage[],
      contextLimit: number | null,
    ) => Pick<ModelRequest, "messages" | "toolChoice">,
  ): Promise<Preparation> {
    const choice = await this.#model(history);
    if (!choice.ok) return choice;
    const { adapter, config } = choice.model;
    const prompt = promptFrom(history, config.id);
    const shaped = shape(prompt.messages, await this.#contextLimit(choice.model));
    const fileIds = fileIdsOf(shaped.messages);
    const effort = choicesOf(history, this.#chat).reasoningEffort;
    const [system, tools] = await Promise.all([this.#system(prompt.system), this.#tools()]);
    const request: ModelRequest = {
      model: config.model,
      system,
      ...shaped,
      tools,
      maxOutputTokens: config.maxOutputTokens ?? DEFAULT_MAX_OUTPUT_TOKENS,
      ...(effort ? { reasoningEffort: effort } : {}),
      ...(fileIds.length > 0 ? { files: await this.#files(fileIds) } : {}),
      cacheKey: this.#chat.chatId,
      options: config.providerOptions,
      headers: identityHeaders(this.#chat),
    };
    return { ok: true, call: { open: (signal) => adapter.stream(request, signal), model: choice.model } };
  }

  #model(history: MessageRow[]): Promise<ModelChoice> {
    return this.#once("model", () => this.#parts.chooseModel(choicesOf(history, this.#chat).modelConfigId));
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
      const hasWorkspace = this.#chat.workspaceId !== null;
      const workspaceContext = workspacePrompt(context);
      return systemPrompt({ deployment, history: stored, hasWorkspace, workspaceContext, customPrompt });
    });
  }

  /** Ours first, then the client's own; a client's tool with one of our names is not offered. */
  #workspaceContext(): Promise<WorkspaceContext | null> {
    return this.#once("workspace context", async () => {
      const { workspaceId } = this.#chat;
      if (workspaceId === null) return null;
      return this.#parts.readWorkspaceContext(workspaceId, () => this.workspace());
    });
  }

  /** The workspace's own tools. One that has the name of ours, or of one that the client answers, does not count. */
  #workspaceTools(): Promise<readonly Tool[]> {
    return this.#once("workspace tools", async () => {
      const { workspaceId, clientTools } = this.#chat;
      if (workspaceId === null) return [];
      const taken = new Set([...this.#parts.tools, ...clientTools].map(({ name }) => name));
      const listed = await this.#parts.listWorkspaceTools(workspaceId, () => this.workspace());
      return listed.filter(({ name }) => !taken.has(name));
    });
  }

  /** Ours first, then the workspace's, then the client's own; a client's tool with one of our names is not offered. */
  async #tools(): Promise<ToolDefinition[]> {
    const [context, workspaceTools] = await Promise.all([this.#workspaceContext(), this.#workspaceTools()]);
    const facts = { hasSkills: (context?.skills.length ?? 0) > 0 };
    const ours: readonly Tool[] =
      this.#chat.workspaceId === null
        ? []
        : this.#parts.tools.filter((tool) => tool.isOffered?.(facts) ?? true);
    const offered = [...ours, ...workspaceTools].map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema,
    }));
    return [
      ...offered,
      ...this.#chat.clientTools.filter((tool: ClientTool) => this.clientToolNames.has(tool.name)),
    ];
  }

  #files(fileIds: string[]): Promise<ReadonlyMap<string, Uint8Array>> {
    return this.#once(`files ${fileIds.join(" ")}`, () => this.#parts.readFiles(this.#chat.ownerId, fileIds));
  }

  #openWorkspace(): Promise<AgentConnection> {
    const { workspaceId, chatId } = this.#chat;
    if (workspaceId === null) {
      return Promise.reject(new ToolError("This chat has no workspace, so there is nothing to run this in."));
    }
    return this.#parts.openWorkspace(workspaceId, chatId);
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

/** The last person to speak chose the model and how hard it should think; the chat's own choice is the fallback. */
export function choicesOf(
  history: MessageRow[],
  chat: HeldChat,
): Pick<HeldChat, "modelConfigId" | "reasoningEffort"> {
  const last = history.findLast((message) => message.role === "user" && message.authorId !== null);
  return {
    modelConfigId: last?.modelConfigId ?? chat.modelConfigId,
    reasoningEffort: last?.reasoningEffort ?? chat.reasoningEffort,
  };
}

/** Whom a call is made for, so that a gateway between us and the vendor can tell chats and people apart. */
function identityHeaders({ chatId, ownerId, workspaceId }: HeldChat): Record<string, string> {
  return {
    "Parley-Chat-Id": chatId,
    "Parley-Owner-Id": ownerId,
    ...(workspaceId === null ? {} : { "Parley-Workspace-Id": workspaceId }),
  };
}
