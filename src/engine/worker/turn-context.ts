/** What one turn needs besides the chat itself: its model, its tools, its workspace, its history. */
import type { ChatFailure } from "../../domain/failures.js";
import type { MessageRow } from "../../domain/chat-events.js";
import type { ClientTool } from "../../domain/chat-state.js";
import type { AgentConnection } from "../../workspaces/agent-connection.js";
import type { Bus } from "../../events/bus.js";
import type { Log } from "../../lib/log.js";
import type { HeldChat } from "../../store/leases.js";
import type { ToolDefinition } from "../../providers/types.js";
import { DEFAULT_MAX_OUTPUT_TOKENS } from "../../domain/limits.js";
import type { ModelChoice, TurnModel } from "../models.js";
import { promptFrom } from "../prompt/history.js";
import { systemPrompt } from "../prompt/system.js";
import type { TransitionParts } from "../state/apply-transition.js";
import { ToolError, type Tool } from "../tools/tool.js";
import type { OpenModelStream } from "../turn/ports.js";

/** Everything a runner reaches outside itself. Required, all of it. */
export type RunnerParts = TransitionParts & {
  bus: Bus;
  log: Log;
  /** In [0, 1); for jitter. */
  random: () => number;
  tools: readonly Tool[];
  chooseModel(configId: string | null): Promise<ModelChoice>;
  /** The operators' own prompt; empty = none. */
  deploymentPrompt(): Promise<string>;
  /** Rejects with a ToolError worded for the model when the workspace cannot be used. */
  openWorkspace(workspaceId: string, chatId: string): Promise<AgentConnection>;
  /** Every message the model may see, oldest first. */
  readHistory(chatId: string): Promise<MessageRow[]>;
};

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

export type PreparedCall = { open: OpenModelStream; model: TurnModel };

/** The model call that history asks for, ready to be opened. */
export async function prepareCall(
  parts: RunnerParts,
  chat: HeldChat,
  history: MessageRow[],
): Promise<{ ok: true; call: PreparedCall } | { ok: false; failure: ChatFailure }> {
  const choices = choicesOf(history, chat);
  const [choice, deployment] = await Promise.all([
    parts.chooseModel(choices.modelConfigId),
    parts.deploymentPrompt(),
  ]);
  if (!choice.ok) return choice;
  const { adapter, config } = choice.model;
  const hasWorkspace = chat.workspaceId !== null;
  const prompt = promptFrom(history);
  const request = {
    model: config.model,
    system: systemPrompt({ deployment, history: prompt.system, hasWorkspace }),
    messages: prompt.messages,
    tools: offeredTools(hasWorkspace ? parts.tools : [], chat.clientTools),
    maxOutputTokens: config.maxOutputTokens ?? DEFAULT_MAX_OUTPUT_TOKENS,
    ...(choices.reasoningEffort ? { reasoningEffort: choices.reasoningEffort } : {}),
    headers: identityHeaders(chat),
  };
  return { ok: true, call: { open: (signal) => adapter.stream(request, signal), model: choice.model } };
}

/** Whom a call is made for, so that a gateway between us and the vendor can tell chats and people apart. */
function identityHeaders({ chatId, ownerId, workspaceId }: HeldChat): Record<string, string> {
  return {
    "Parley-Chat-Id": chatId,
    "Parley-Owner-Id": ownerId,
    ...(workspaceId === null ? {} : { "Parley-Workspace-Id": workspaceId }),
  };
}

/** Ours first, then the client's own; a client's tool with one of our names is not offered. */
function offeredTools(ours: readonly Tool[], clients: ClientTool[]): ToolDefinition[] {
  const names = new Set(ours.map((tool) => tool.name));
  return [
    ...ours.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    ...clients.filter((tool) => !names.has(tool.name)),
  ];
}

/** Names of the tools that this chat's client answers itself. */
export function clientToolNames(parts: RunnerParts, chat: HeldChat): ReadonlySet<string> {
  const ours = chat.workspaceId === null ? new Set<string>() : new Set(parts.tools.map((tool) => tool.name));
  return new Set(chat.clientTools.map((tool) => tool.name).filter((name) => !ours.has(name)));
}

/** The chat's workspace, asked for anew at each use: an agent that was restarted has another address. */
export function workspaceOf(parts: RunnerParts, chat: HeldChat): () => Promise<AgentConnection> {
  return () =>
    chat.workspaceId === null
      ? Promise.reject(new ToolError("This chat has no workspace, so there is nothing to run this in."))
      : parts.openWorkspace(chat.workspaceId, chat.chatId);
}
