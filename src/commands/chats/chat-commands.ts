/**
 * What a person may ask of a chat. Each command checks that the viewer may, runs one transition and says what
 * became of it. Refusals a person can act on are values; anything thrown is a bug or a broken world.
 */
import type { ChatLabel, ChatStatus, ClientTool } from "../../domain/chats/chat-state.js";
import type { MessageRow, QueuedRow } from "../../domain/chats/chat-events.js";
import type { ReasoningEffort, UserMessagePart, ToolResultPart } from "../../domain/chats/message-parts.js";
import type { McpTrial } from "../../domain/mcp/types.js";
import type { McpServerChange, NewMcpServer } from "../../domain/mcp/server-rules.js";
import type { Actor, Viewer } from "../../domain/users/viewer.js";
import type { WorkspaceStatus } from "../../domain/workspaces/workspace.js";
import type { PushSubscriptionRecord } from "../../store/push/push.js";
import type { WantedPush } from "../../domain/push/push.js";
import type { FileRecord } from "../../store/files/files.js";
import type { GitConnectionRecord } from "../../store/git/git-connections.js";
import type { McpServerRecord } from "../../store/mcp/mcp-servers.js";
import type { Preferences } from "../../store/users/users.js";

/**
 * A refusal. `path` names the input field, from the input object's root; `currentStatus` goes with CONFLICT, `what`
 * with UNAVAILABLE.
 */
export type CommandRefusal = {
  code:
    | "INVALID"
    | "NOT_FOUND"
    | "CONFLICT"
    | "LIMIT_EXCEEDED"
    | "AUTH_REQUIRED"
    | "KEY_REQUIRED"
    | "UNAVAILABLE";
  message: string;
  path?: string[];
  currentStatus?: ChatStatus;
  /** With UNAVAILABLE, of a workspace. */
  workspaceStatus?: WorkspaceStatus;
  /** What else is wrong with the same input. */
  others?: CommandRefusal[];
  /** With AUTH_REQUIRED: the tool servers that want the person's authorisation. */
  serverIds?: readonly string[];
  /** With KEY_REQUIRED: the model provider that wants the person's own key. */
  providerId?: string;
  /** What could not be had; a workspace when absent. */
  what?: "model" | "mcp-server" | "usage-limit" | "git-host" | "storage";
  /** With LIMIT_EXCEEDED: what the chat's owner may spend is spent. Microdollars. */
  usage?: { spentMicros: bigint; limitMicros: bigint; resetsAt: Date };
  /** With LIMIT_EXCEEDED: the user stores as much as they may. */
  storage?: { usedBytes: bigint; limitBytes: bigint };
};

export type CommandResult<T> = ({ ok: true } & T) | { ok: false; refusal: CommandRefusal };

/** `version` is the chat's snapshot at which the change is visible. */
export type ChatChanged = { chatId: string; version: number };

export type CreateChatInput = {
  parts: UserMessagePart[];
  /** Absent = the viewer's default workspace, if they have one; null = none. */
  workspaceId?: string | null;
  modelConfigId?: string;
  title?: string;
  labels?: ChatLabel[];
  clientTools?: ClientTool[];
  reasoningEffort?: ReasoningEffort;
  /** The tool servers of the chat; absent = those that are on by default. */
  mcpServerIds?: string[];
  idempotencyKey?: string;
};

export type SendMessageInput = {
  chatId: string;
  parts: UserMessagePart[];
  whenBusy: "queue" | "interrupt";
  modelConfigId?: string;
  reasoningEffort?: ReasoningEffort;
  /** The chat's tool servers from this message on; absent = unchanged. */
  mcpServerIds?: string[];
  idempotencyKey?: string;
};

export type EditMessageInput = {
  messageId: string;
  parts: UserMessagePart[];
  modelConfigId?: string;
  /** As in `SendMessageInput`. */
  mcpServerIds?: string[];
};

/** A file as it is announced; `sizeBytes` exactly. */
export type WantedUpload = { name: string; mediaType: string; sizeBytes: number };

/** Absent = unchanged. */
export type UpdateChatInput = {
  chatId: string;
  title?: string;
  labels?: ChatLabel[];
  /** Null = the deployment's default at each turn. */
  modelConfigId?: string | null;
  /** For what is said from now on. */
  mcpServerIds?: string[];
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
    input: EditMessageInput,
  ): Promise<CommandResult<ChatChanged & { message: MessageRow }>>;
  interruptChat(viewer: Viewer, chatId: string): Promise<CommandResult<ChatChanged>>;
  promoteQueuedMessage(viewer: Viewer, queuedId: string): Promise<CommandResult<ChatChanged>>;
  deleteQueuedMessage(viewer: Viewer, queuedId: string): Promise<CommandResult<ChatChanged>>;
  submitToolResults(
    viewer: Viewer,
    input: { chatId: string; results: Pick<ToolResultPart, "toolCallId" | "result" | "isError">[] },
  ): Promise<CommandResult<ChatChanged>>;
  /** Tries the failed turn again as it is; CONFLICT unless the chat is in `error`. */
  retryChat(viewer: Viewer, chatId: string): Promise<CommandResult<ChatChanged>>;
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
  /** A file of the viewer's whose bytes may come until `expiresAt`, in milliseconds since the epoch. */
  createFileUpload(
    viewer: Viewer,
    wanted: WantedUpload,
  ): Promise<CommandResult<{ file: FileRecord; expiresAt: number }>>;
  /** For the viewer's own chats; replaces an earlier connection to the same host. */
  connectGitHost(
    viewer: Viewer,
    input: { host: string; token: string },
  ): Promise<CommandResult<{ connection: GitConnectionRecord }>>;
  /** The viewer's own. */
  /** A browser of the person's is told of turns from now on; takes the place of what was registered for its endpoint. */
  registerPushSubscription(
    viewer: Viewer,
    wanted: WantedPush,
  ): Promise<CommandResult<{ subscription: PushSubscriptionRecord }>>;
  unregisterPushSubscription(
    viewer: Viewer,
    endpoint: string,
  ): Promise<CommandResult<{ subscriptionId: string }>>;
  disconnectGitHost(viewer: Viewer, connectionId: string): Promise<CommandResult<{ connectionId: string }>>;
  /** For admins, like the next two: throws `Forbidden` for others. Every problem of the input is told. */
  createMcpServer(actor: Actor, wanted: NewMcpServer): Promise<CommandResult<{ server: McpServerRecord }>>;
  /** Absent = unchanged. */
  updateMcpServer(
    actor: Actor,
    change: McpServerChange & { serverId: string },
  ): Promise<CommandResult<{ server: McpServerRecord }>>;
  deleteMcpServer(actor: Actor, serverId: string): Promise<CommandResult<{ serverId: string }>>;
  /** For admins, too. A server that cannot be used is a result, not a refusal. */
  testMcpServer(
    actor: Actor,
    serverId: string,
  ): Promise<CommandResult<{ server: McpServerRecord; trial: McpTrial }>>;
  /** Where the person's browser goes to authorise a tool server. */
  startMcpOauth(
    viewer: Viewer,
    input: { serverId: string; returnTo: string | null },
  ): Promise<CommandResult<{ authorizationUrl: string; expiresAt: Date }>>;
  /** The viewer's own; also when there is none. */
  disconnectMcpServer(viewer: Viewer, serverId: string): Promise<CommandResult<{ server: McpServerRecord }>>;
  archiveChat(viewer: Viewer, chatId: string): Promise<CommandResult<ChatChanged>>;
  unarchiveChat(viewer: Viewer, chatId: string): Promise<CommandResult<ChatChanged>>;
}
