/** Dependencies of the commands, and the checks and refusals that they share. */
import type { ChatFailure } from "../../domain/common/failures.js";
import type { ChatState } from "../../domain/chats/chat-state.js";
import { areLongerThan } from "../../domain/common/characters.js";
import {
  MAX_MESSAGE_CHARACTERS,
  MAX_MESSAGE_PARTS,
  MAX_QUEUED_MESSAGES,
} from "../../domain/common/limits.js";
import type { McpProbeResult } from "../../domain/mcp/types.js";
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
  /** The model that a new turn in a user's chat would use; `configId` null = the deployment's default. */
  resolveModel(configId: string | null, ownerId: string): Promise<ResolvedModel>;
  /** Whether any provider uses personal keys, so that one may be missing. Costs nothing when none does. */
  asksPersonalKeys(): Promise<boolean>;
  /** The workspace of chats created without one; null = none. */
  defaultWorkspaceId(viewer: Viewer): string | null;
  /** Whether users may select this model config now. */
  isModelSelectable(configId: string): Promise<boolean>;
  /** MCP servers that users can select. */
  mcpSelection: McpSelection;
  preferencesOf(userId: string): Promise<Preferences>;
  /** Invalidates cached preferences after a change. */
  forgetPreferences(userId: string): void;
  /** Removes from a user's text what could mislead a reader of the system prompt. */
  sanitizePrompt(text: string): string;
  /** Generates a title from the whole conversation and sets it if the chat still has the one in `state`. */
  regenerateTitle(chat: UntitledChat): Promise<TitleOutcome>;
  usageLimits: UsageLimitChecks;
  storage: StorageChecks;
  /** Whether push services in private networks are allowed. */
  isPushPrivateAllowed: boolean;
  secrets: SecretBox;
  /** Users' authorizations for MCP servers. */
  mcpOauth: McpOauthCommands;
  /** Connects to the server as that user and lists its tools; 10 seconds at most. Never rejects. */
  tryMcpServer(server: McpServerRecord, userId: string): Promise<McpProbeResult>;
  /** Names of built-in tools, which client tools must not have. */
  toolNames: ReadonlySet<string>;
};

/** `failure.message` is shown to users; `missingKeyProviderId` as in `NoProviderEndpoint`. */
export type ResolvedModel =
  | { ok: true; modelConfigId: string }
  | { ok: false; failure: Pick<ChatFailure, "kind" | "message">; missingKeyProviderId?: string };

type UntitledChat = { chatId: string; ownerId: string; modelConfigId: string | null; state: ChatState };

/** How generating a title ended. `version`: the chat's snapshot at which it is visible. */
export type TitleOutcome =
  | { outcome: "titled"; version: number }
  | { outcome: "in_progress" }
  /** This replica generates as many titles as it may at a time. */
  | { outcome: "busy" }
  | { outcome: "empty_chat" }
  | { outcome: "not_found" }
  /** `message` is shown to users. */
  | { outcome: "failed"; message: string };

export type KnownChat = { ownerId: string; state: ChatState };

/** The chat from the cache, else from the database; null when the viewer may not see it. */
export async function findVisibleChat(
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
    | "MCP server"
    | "API token"
    | "user",
  field: string,
) {
  return refuse({ code: "NOT_FOUND", message: `There is no such ${what}.`, path: [field] });
}

/** The key was used for another chat or another kind of request, whose result does not answer this one. */
export const IDEMPOTENCY_KEY_REUSED: CommandRefusal = {
  code: "CONFLICT",
  message: "This key was used for another request. Use a new key for each request.",
  path: ["idempotencyKey"],
};

/** Null when the message's parts are valid. */
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

/** Null when the config is absent or selectable. */
export async function checkModel(
  dependencies: CommandDependencies,
  modelConfigId: string | undefined,
): Promise<CommandRefusal | null> {
  if (modelConfigId === undefined || (await dependencies.isModelSelectable(modelConfigId))) return null;
  return { code: "INVALID", message: "There is no such model, or it is disabled.", path: ["modelConfigId"] };
}

/** The refusal for a transition that did not happen. */
export function refusalOf(result: Extract<TransitionResult, { outcome: "refused" }>): CommandRefusal {
  const code = result.reason === "queue_full" ? "LIMIT_EXCEEDED" : "CONFLICT";
  return { code, message: REFUSALS[result.reason], currentStatus: result.state.status };
}

const REFUSALS: Record<RefusalReason, string> = {
  archived: "The chat is archived. Unarchive it first.",
  parent_archived: "Its parent chat is archived. Unarchive that one.",
  wrong_status: "The chat is not in a state that allows this.",
  queue_full: `The queue is full: at most ${MAX_QUEUED_MESSAGES} messages can wait.`,
  queue_not_empty: "Messages are waiting in the chat's queue.",
  stale_fence: "The chat has moved on.",
  lease_alive: "A worker is running the chat.",
  deadline_not_reached: "The client still has time to answer.",
  results_mismatch: "Answer every pending call once, and no other.",
  open_calls: "Tool calls are still unanswered.",
};
