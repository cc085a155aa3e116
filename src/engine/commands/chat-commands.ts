/**
 * What a person may ask of a chat. Each command checks that the viewer may, runs one transition and says what
 * became of it. Refusals a person can act on are values; anything thrown is a bug or a broken world.
 */
import type { ChatLabel, ChatStatus, ClientTool } from "../../domain/chat-state.js";
import type { MessageRow, QueuedRow } from "../../domain/chat-events.js";
import type { MessagePart, ReasoningEffort, ToolResultPart } from "../../domain/message-parts.js";
import type { Viewer } from "../../domain/viewer.js";
import type { GitConnectionRecord } from "../../store/git-connections.js";
import type { Preferences } from "../../store/users.js";

/**
 * A refusal. `path` names the input field, from the input object's root; `currentStatus` goes with CONFLICT, `what`
 * with UNAVAILABLE.
 */
export type CommandRefusal = {
  code: "INVALID" | "NOT_FOUND" | "CONFLICT" | "LIMIT_EXCEEDED" | "UNAVAILABLE";
  message: string;
  path?: string[];
  currentStatus?: ChatStatus;
  /** What could not be had; a workspace when absent. */
  what?: "model" | "secrets-key";
};

export type CommandResult<T> = ({ ok: true } & T) | { ok: false; refusal: CommandRefusal };

/** `version` is the chat's snapshot at which the change is visible. */
export type ChatChanged = { chatId: string; version: number };

export type CreateChatInput = {
  parts: MessagePart[];
  /** Absent = the viewer's default workspace, if they have one; null = none. */
  workspaceId?: string | null;
  modelConfigId?: string;
  title?: string;
  labels?: ChatLabel[];
  clientTools?: ClientTool[];
  reasoningEffort?: ReasoningEffort;
  idempotencyKey?: string;
};

export type SendMessageInput = {
  chatId: string;
  parts: MessagePart[];
  whenBusy: "queue" | "interrupt";
  modelConfigId?: string;
  reasoningEffort?: ReasoningEffort;
  idempotencyKey?: string;
};

/** Absent = unchanged. */
export type UpdateChatInput = {
  chatId: string;
  title?: string;
  labels?: ChatLabel[];
  /** Null = the deployment's default at each turn. */
  modelConfigId?: string | null;
};

/** Absent = unchanged. */
export type UpdatePreferencesInput = {
  /** Empty = none. */
  customPrompt?: string;
  /** Null = the deployment's default. */
  defaultModelConfigId?: string | null;
};

/** All ids are database values, not public ids. A chat that the viewer may not see is NOT_FOUND. */
export interface ChatCommands {
  createChat(viewer: Viewer, input: CreateChatInput): Promise<CommandResult<ChatChanged>>;
  /** Exactly one of `message` and `queued` is set. */
  sendMessage(
    viewer: Viewer,
    input: SendMessageInput,
  ): Promise<CommandResult<ChatChanged & { message: MessageRow | null; queued: QueuedRow | null }>>;
  editMessage(
    viewer: Viewer,
    input: { messageId: string; parts: MessagePart[]; modelConfigId?: string },
  ): Promise<CommandResult<ChatChanged & { message: MessageRow }>>;
  interruptChat(viewer: Viewer, chatId: string): Promise<CommandResult<ChatChanged>>;
  promoteQueuedMessage(viewer: Viewer, queuedId: string): Promise<CommandResult<ChatChanged>>;
  deleteQueuedMessage(viewer: Viewer, queuedId: string): Promise<CommandResult<ChatChanged>>;
  submitToolResults(
    viewer: Viewer,
    input: { chatId: string; results: Pick<ToolResultPart, "toolCallId" | "result" | "isError">[] },
  ): Promise<CommandResult<ChatChanged>>;
  compactChat(viewer: Viewer, chatId: string): Promise<CommandResult<ChatChanged>>;
  clearChatContext(viewer: Viewer, chatId: string): Promise<CommandResult<ChatChanged>>;
  /** Also for archived chats: nothing of it makes a turn go on. */
  updateChat(viewer: Viewer, input: UpdateChatInput): Promise<CommandResult<ChatChanged>>;
  /** Asks a model; takes up to half a minute. Also for archived chats and while a turn runs. */
  regenerateChatTitle(viewer: Viewer, chatId: string): Promise<CommandResult<ChatChanged>>;
  /** Only the owner's own reading counts. */
  markChatRead(viewer: Viewer, chatId: string): Promise<CommandResult<ChatChanged>>;
  /** The viewer's own. */
  updatePreferences(
    viewer: Viewer,
    input: UpdatePreferencesInput,
  ): Promise<CommandResult<{ preferences: Preferences }>>;
  /** For the viewer's own chats; replaces an earlier connection to the same host. */
  connectGitHost(
    viewer: Viewer,
    input: { host: string; token: string },
  ): Promise<CommandResult<{ connection: GitConnectionRecord }>>;
  /** The viewer's own. */
  disconnectGitHost(viewer: Viewer, connectionId: string): Promise<CommandResult<{ connectionId: string }>>;
  archiveChat(viewer: Viewer, chatId: string): Promise<CommandResult<ChatChanged>>;
  unarchiveChat(viewer: Viewer, chatId: string): Promise<CommandResult<ChatChanged>>;
}
