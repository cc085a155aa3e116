/** What commands are made of, and the few steps that they share. */
import type { ChatFailure } from "../../domain/common/failures.js";
import type { ChatState } from "../../domain/chats/chat-state.js";
import { areLongerThan } from "../../domain/common/characters.js";
import {
  MAX_MESSAGE_CHARACTERS,
  MAX_MESSAGE_PARTS,
  MAX_QUEUED_MESSAGES,
} from "../../domain/common/limits.js";
import type { McpTrial } from "../../domain/mcp/types.js";
import type { UserMessagePart } from "../../domain/chats/message-parts.js";
import type { RefusalReason } from "../../domain/chats/transition.js";
import type { Viewer } from "../../domain/users/viewer.js";
import { findChat } from "../../store/chats/chats.js";
import type { McpServerRecord } from "../../store/mcp/mcp-servers.js";
import type { SecretBox } from "../../store/common/secret-box.js";
import type { Preferences } from "../../store/users/users.js";
import type { TransitionDependencies, TransitionResult } from "../../engine/transitions/apply-transition.js";
import type { CommandRefusal } from "./command-result.js";
import type { McpOauthCommands } from "../mcp/oauth-port.js";
import type { McpSelection } from "../mcp/selection.js";
import type { StorageChecks } from "../files/storage-check.js";
import type { UsageLimitChecks } from "../usage/usage-limit-check.js";

export type CommandDependencies = TransitionDependencies & {
  /** The model that a new turn would use in a person's chat; null = the deployment's default. */
  resolveModel(configId: string | null, ownerId: string): Promise<ResolvedModel>;
  /** Whether any provider asks with people's own keys, so that one may be missing. Costs nothing where none does. */
  asksPersonalKeys(): Promise<boolean>;
  /** The workspace of chats that name none; null = they have none. */
  defaultWorkspaceId(viewer: Viewer): string | null;
  /** Whether people may choose this config now. */
  isModelSelectable(configId: string): Promise<boolean>;
  /** Tool servers as people select them. */
  mcpSelection: McpSelection;
  /** What the person wishes for all their chats. */
  preferencesOf(userId: string): Promise<Preferences>;
  /** The person's wishes were changed. */
  forgetPreferences(userId: string): void;
  /** Takes from a person's own words what could mislead a reader of the system prompt. */
  sanitizePrompt(text: string): string;
  /** Makes a title from the whole talk and gives it to the chat if that still has the one in `state`. */
  regenerateTitle(chat: ChatToName): Promise<TitleOutcome>;
  /** What people may spend. */
  usageLimits: UsageLimitChecks;
  /** What users may store. */
  storage: StorageChecks;
  /** Push services within the own network may be used. */
  isPushPrivateAllowed: boolean;
  /** Seals what people entrust. */
  secrets: SecretBox;
  /** People's authorisations for tool servers. */
  mcpOauth: McpOauthCommands;
  /** Connects to the server in the person's name and lists its tools; 10 seconds at most. Never rejects. */
  tryMcpServer(server: McpServerRecord, userId: string): Promise<McpTrial>;
  /** Names that a client's own tools may not take. */
  toolNames: ReadonlySet<string>;
};

/** `failure` is worded for people; `wantsKeyOf` as in `NoProviderLine`. */
export type ResolvedModel =
  | { ok: true; modelConfigId: string }
  | { ok: false; failure: Pick<ChatFailure, "kind" | "message">; wantsKeyOf?: string };

export type ChatToName = { chatId: string; ownerId: string; modelConfigId: string | null; state: ChatState };

/** How making a title ended. `version`: the chat's snapshot at which it is visible. */
export type TitleOutcome =
  | { outcome: "titled"; version: number }
  | { outcome: "under_way" }
  /** This replica makes as many titles as it may. */
  | { outcome: "busy" }
  | { outcome: "nothing_said" }
  | { outcome: "not_found" }
  /** `message` is worded for people. */
  | { outcome: "failed"; message: string };

export type KnownChat = { ownerId: string; state: ChatState };

/** The chat as this replica knows it, or as the database has it; null when the viewer may not see it. */
export async function seeChat(
  dependencies: CommandDependencies,
  viewer: Viewer,
  chatId: string,
): Promise<KnownChat | null> {
  const chatCache = dependencies.chatCache.get(chatId);
  if (chatCache) return mayUse(viewer, chatCache.ownerId) ? chatCache : null;
  const chat = await findChat(dependencies.database, viewer, chatId);
  return chat && { ownerId: chat.ownerId, state: chat.state };
}

function mayUse(viewer: Viewer, ownerId: string): boolean {
  return viewer.role === "admin" || viewer.userId === ownerId;
}

export function refuse(refusal: CommandRefusal): { ok: false; refusal: CommandRefusal } {
  return { ok: false, refusal };
}

export function notFound(
  what:
    | "chat"
    | "message"
    | "queued message"
    | "workspace"
    | "workspace template"
    | "git host account"
    | "push subscription"
    | "tool server"
    | "API token"
    | "user",
  field: string,
) {
  return refuse({ code: "NOT_FOUND", message: `There is no such ${what}.`, path: [field] });
}

/** The key was used for another chat, or for another kind of request: what it made is no answer to this one. */
export const KEY_OF_ANOTHER_REQUEST: CommandRefusal = {
  code: "CONFLICT",
  message: "This key was used for another request. Use a new key for each thing you ask for.",
  path: ["idempotencyKey"],
};

/** Null when the parts may be said. */
export function checkParts(parts: readonly UserMessagePart[]): CommandRefusal | null {
  const path = ["parts"];
  if (parts.length === 0) return { code: "INVALID", message: "A message needs at least one part.", path };
  if (parts.length > MAX_MESSAGE_PARTS) {
    return { code: "INVALID", message: `A message has at most ${MAX_MESSAGE_PARTS} parts.`, path };
  }
  for (const [index, part] of parts.entries()) {
    if (part.type === "text" && part.text.trim() === "") {
      return { code: "INVALID", message: "The text is empty.", path: [...path, String(index), "text"] };
    }
  }
  const texts = parts.map((part) =>
    part.type === "text" ? part.text : part.type === "file-reference" ? part.content : "",
  );
  if (!areLongerThan(texts, MAX_MESSAGE_CHARACTERS)) return null;
  return { code: "INVALID", message: `A message has at most ${MAX_MESSAGE_CHARACTERS} characters.`, path };
}

/** Null when the config is absent or may be chosen. */
export async function checkModel(
  dependencies: CommandDependencies,
  modelConfigId: string | undefined,
): Promise<CommandRefusal | null> {
  if (modelConfigId === undefined || (await dependencies.isModelSelectable(modelConfigId))) return null;
  return { code: "INVALID", message: "There is no such model, or it is disabled.", path: ["modelConfigId"] };
}

/** A transition that did not happen, in words for the person who asked. */
export function refusalOf(result: Extract<TransitionResult, { outcome: "refused" }>): CommandRefusal {
  const code = result.reason === "queue_full" ? "LIMIT_EXCEEDED" : "CONFLICT";
  return { code, message: REFUSALS[result.reason], currentStatus: result.state.status };
}

const REFUSALS: Record<RefusalReason, string> = {
  archived: "The chat is archived. Unarchive it first.",
  parent_archived: "The chat that it works for is archived. Unarchive that one.",
  wrong_status: "The chat is not in a state that allows this.",
  queue_full: `The queue is full: at most ${MAX_QUEUED_MESSAGES} messages may wait.`,
  queue_not_empty: "Messages are waiting in the chat's queue.",
  stale_fence: "The chat has moved on.",
  lease_alive: "A worker holds the chat.",
  deadline_not_reached: "The client still has time to answer.",
  results_mismatch: "Answer every pending call once, and no other.",
  open_calls: "Tool calls are still unanswered.",
};
