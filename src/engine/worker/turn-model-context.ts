/** Model of one turn: its limits, its system prompt, and the calls that history asks for. */
import type { MessageRow } from "../../domain/chats/chat-events.js";
import { measuredContextUse } from "../../domain/chats/compaction.js";
import type { TurnRules } from "../../domain/chats/next-action.js";
import type { ChatFailure } from "../../domain/common/failures.js";
import { fittingOutputTokens, isWindowAmple } from "../../domain/models/output-limit.js";
import type { MaxUsage } from "../../domain/usage/usage-limits.js";
import type { ModelRequest, PromptMessage } from "../../providers/types.js";
import type { ModelChoice, TurnModel } from "../../services/models/models.js";
import type { ClaimedChat } from "../../store/chats/leases.js";
import { greatestUse } from "../prompt/greatest-use.js";
import { promptFrom } from "../prompt/history.js";
import { promptFiles } from "../prompt/prompt-files.js";
import { promptTokens } from "../prompt/prompt-tokens.js";
import { summaryMessages } from "../prompt/summary.js";
import { systemPrompt } from "../prompt/system.js";
import { workspacePrompt } from "../prompt/workspace-context.js";
import { resultLimitBytes } from "../tools/cap-result.js";
import type { OpenModelStream } from "../turn/ports.js";
import { PromiseMemo } from "./promise-memo.js";
import { effectiveSettings, type PromptInput } from "./prompt-input.js";
import type { RunnerDependencies } from "./runner-dependencies.js";
import type { TurnToolsContext } from "./turn-tools-context.js";
import type { TurnWorkspaceContext } from "./turn-workspace-context.js";

/** A model call that is ready to be opened. `greatestUse` reads the whole prompt, so it is only computed on demand. */
export type PreparedCall = {
  request: ModelRequest;
  open: OpenModelStream;
  model: TurnModel;
  greatestUse(): MaxUsage;
};
type PreparedCallResult = { ok: true; call: PreparedCall } | { ok: false; failure: ChatFailure };

/** The part of a request that differs between an answer and a summary. `fileIds`: files whose bytes it carries. */
type RequestShape = Pick<ModelRequest, "messages" | "toolChoice"> & { fileIds: string[] };

type Lookups = { choice: ModelChoice; contextLimit: number | null; systemPrompt: string };

export class TurnModelContext {
  readonly #memo = new PromiseMemo<Lookups>();
  /** Of the newest prompt's files. */
  #fileBytes: ReadonlyMap<string, Uint8Array> = new Map();

  constructor(
    private readonly dependencies: RunnerDependencies,
    private readonly chat: ClaimedChat,
    private readonly turn: { tools: TurnToolsContext; workspace: TurnWorkspaceContext },
  ) {}

  /** Bounds of the turn. An unavailable model sets none here: the call itself reports it. */
  async rules(history: MessageRow[]): Promise<TurnRules> {
    const { maxStepsPerTurn: maxSteps } = this.dependencies.limits;
    const choice = await this.#choice(history);
    if (!choice.ok) return { maxSteps, contextLimit: null, compactionThresholdPercent: 100 };
    const { compactionThresholdPercent } = choice.model.config;
    return { maxSteps, contextLimit: await this.#contextLimit(choice.model), compactionThresholdPercent };
  }

  /** The call that continues the history. */
  prepareCall(input: PromptInput): Promise<PreparedCallResult> {
    return this.#prepare(input, (messages) => ({ messages, fileIds: promptFiles(messages) }));
  }

  /** The call that summarizes the history, without tools and files; `level` as in `summaryMessages`. */
  prepareSummary(input: PromptInput, level: number): Promise<PreparedCallResult> {
    return this.#prepare(input, (messages, contextLimit) => ({
      messages: summaryMessages(messages, { contextLimit, level }),
      toolChoice: "none",
      fileIds: [],
    }));
  }

  /** Records the context limit from a vendor's refusal of a prompt; does nothing when the refusal has none. */
  async learnLimit(model: TurnModel, tokens: number | undefined): Promise<void> {
    if (tokens === undefined) return;
    await this.dependencies.model.observeContextLimit(model, tokens);
    this.#memo.forget("contextLimit", "choice");
  }

  /** Bytes of JSON that one tool's result may have. */
  async resultLimitBytes(history: MessageRow[]): Promise<number> {
    return resultLimitBytes((await this.rules(history)).contextLimit);
  }

  /** The workspace has changed. */
  forgetSystemPrompt(): void {
    this.#memo.forget("systemPrompt");
  }

  async #prepare(
    input: PromptInput,
    shape: (messages: PromptMessage[], contextLimit: number | null) => RequestShape,
  ): Promise<PreparedCallResult> {
    const { history } = input;
    const choice = await this.#choice(history);
    if (!choice.ok) return choice;
    const { adapter, config, desiredOutputTokens } = choice.model;
    const prompt = promptFrom(history, config.id);
    const contextLimit = await this.#contextLimit(choice.model);
    const { fileIds, ...shaped } = shape(prompt.messages, contextLimit);
    const { reasoningEffort } = effectiveSettings(history, this.chat);
    const [system, tools] = await Promise.all([
      this.#systemPrompt(prompt.system),
      this.turn.tools.definitions(input),
    ]);
    const files = fileIds.length > 0 ? { files: await this.#files(fileIds) } : {};
    const content = { system, ...shaped, tools, ...files };
    const request: ModelRequest = {
      model: config.model,
      ...content,
      maxOutputTokens:
        contextLimit === null || isWindowAmple(desiredOutputTokens, contextLimit, measuredContextUse(history))
          ? desiredOutputTokens
          : fittingOutputTokens(desiredOutputTokens, contextLimit, promptTokens(content)),
      ...(reasoningEffort ? { reasoningEffort } : {}),
      cacheKey: this.chat.chatId,
      options: config.providerOptions,
      headers: identityHeaders(this.chat),
    };
    const open = (signal: AbortSignal) => adapter.stream(request, signal);
    const call = {
      request,
      open,
      model: choice.model,
      greatestUse: () => greatestUse(request, contextLimit),
    };
    return { ok: true, call };
  }

  #choice(history: MessageRow[]): Promise<ModelChoice> {
    return this.#memo.get("choice", () => {
      const { modelConfigId } = effectiveSettings(history, this.chat);
      return this.dependencies.model.choose(modelConfigId, this.chat.ownerId);
    });
  }

  #contextLimit(model: TurnModel): Promise<number | null> {
    return this.#memo.get("contextLimit", () => this.dependencies.model.contextLimitOf(model));
  }

  /** `stored`: system messages of the chat. */
  #systemPrompt(stored: string[]): Promise<string> {
    return this.#memo.get("systemPrompt", async () => {
      const { model } = this.dependencies;
      const { workspace } = this.turn;
      const [deployment, customPrompt, context] = await Promise.all([
        model.deploymentPrompt(),
        model.customPrompt(this.chat.ownerId),
        workspace.context(),
      ]);
      return systemPrompt({
        deployment,
        history: stored,
        workspace: await workspace.status(),
        subagentKind: this.chat.subagentKind,
        workspaceContext: workspacePrompt(context),
        customPrompt,
      });
    });
  }

  /** Cached while they are in the prompt; dropped after that, as a turn may see hundreds of screenshots. */
  async #files(fileIds: string[]): Promise<ReadonlyMap<string, Uint8Array>> {
    const known = this.#fileBytes;
    const missing = fileIds.filter((id) => !known.has(id));
    const { store } = this.dependencies;
    const read = missing.length === 0 ? known : await store.readFiles(this.chat.chatId, missing);
    const found = fileIds.flatMap((id) => {
      const bytes = known.get(id) ?? read.get(id);
      return bytes === undefined ? [] : [[id, bytes] as const];
    });
    return (this.#fileBytes = new Map(found));
  }
}

/** They let a gateway between us and the vendor tell chats and users apart. */
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
