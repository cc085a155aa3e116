/** The API's enums: the domain's values in capitals, with descriptions. */
import { registerEnumType } from "type-graphql";
import type { PreviewResetReason, RefreshReason } from "../../domain/chats/chat-stream.js";
import type { ChatStatus } from "../../domain/chats/chat-state.js";
import type { FailureKind, ModelProviderKind } from "../../domain/common/failures.js";
import type { PullRequestState } from "../../domain/git/branch-facts.js";
import type { ChatRemovalReason } from "../../domain/chats/list-events.js";
import type {
  McpAuthKind,
  McpAvailability,
  McpConnectionStatus,
  McpServerFailureKind,
  McpTransport,
} from "../../domain/mcp/types.js";
import type { FinishReason } from "../../domain/chats/finish-reasons.js";
import type { MessageRole, NoticeLevel, ReasoningEffort } from "../../domain/chats/message-parts.js";
import type { Permission } from "../../domain/users/permissions.js";
import type { SubagentKind } from "../../domain/chats/subagents.js";
import type { TokenScope, UserRole } from "../../domain/users/viewer.js";
import type { WorkspaceStatus } from "../../domain/workspaces/workspace.js";

/** Registers an enum whose names are the domain's values in capitals. Resolvers and inputs use the domain's values. */
export function describeEnum<Word extends string>(
  name: string,
  description: string,
  meanings: Record<Word, string>,
): Record<string, Word> {
  const words = Object.keys(meanings) as Word[];
  const nameOf = (word: Word) => word.toUpperCase().replaceAll("-", "_");
  const names = Object.fromEntries(words.map((word) => [nameOf(word), word]));
  const valuesConfig = Object.fromEntries(
    words.map((word) => [nameOf(word), { description: meanings[word] }]),
  );
  registerEnumType(names, { name, description, valuesConfig });
  return names;
}

export const ChatStatusEnum = describeEnum<ChatStatus>("ChatStatus", "The status of a chat.", {
  waiting: "Idle, waiting for the user's next message.",
  pending: "Waiting for a worker to pick up the turn.",
  running: "A worker is running a turn.",
  interrupting: "The turn is being interrupted; partial output is being saved.",
  requires_action: "The turn is waiting for the client to run its tools; see `pendingToolCalls`.",
  error: "The last turn failed; see `lastError`.",
});

export const SubagentKindEnum = describeEnum<SubagentKind>("SubagentKind", "What a subagent may do.", {
  general:
    "Has the same tools as the agent that started it, except starting subagents where that is not allowed.",
  explore: "Read-only: may read files, list them and search. May use a smaller model.",
});

export const MessageRoleEnum = describeEnum<MessageRole>("MessageRole", "The message's role.", {
  system: "Parley itself.",
  user: "A user.",
  assistant: "The model.",
  tool: "Tools, with the results of the calls in the previous message.",
});

export const NoticeLevelEnum = describeEnum<NoticeLevel>(
  "NoticeLevel",
  "The severity of a notice. New values may be added: show unknown ones as WARNING.",
  { warning: "The turn continues without something." },
);

export const FinishReasonEnum = describeEnum<FinishReason>(
  "FinishReason",
  "Why a model stopped generating. New values may be added: treat unknown ones as OTHER.",
  {
    stop: "The response is complete.",
    "tool-calls": "The model is waiting for tool results.",
    length:
      "The output limit or the model's context limit was reached, so the response is incomplete. Send a message to continue.",
    "content-filter": "The provider's content filter withheld the rest.",
    other: "A vendor-specific reason.",
  },
);

export const ReasoningEffortEnum = describeEnum<ReasoningEffort>(
  "ReasoningEffort",
  "How much effort a reasoning model should spend. Mapped to the vendor's nearest setting.",
  {
    none: "No reasoning.",
    minimal: "The lowest effort the vendor allows.",
    low: "Low effort.",
    medium: "Medium effort.",
    high: "High effort.",
    xhigh: "Very high effort.",
    max: "The highest effort the vendor allows.",
  },
);

export const UserRoleEnum = describeEnum<UserRole>("UserRole", "A user's role.", {
  member: "Can use chats, and only see their own.",
  admin: "Can also see other users' chats and the deployment's settings.",
});

export const TokenScopeEnum = describeEnum<TokenScope>(
  "TokenScope",
  "What a token may be used for. New values may be added: ignore unknown ones.",
  {
    read: "Queries and subscriptions.",
    chat: "Mutations on the user's own chats and related objects.",
    admin:
      "All rights of an admin, if the user is one. Without this scope, an admin's token has the rights of a member.",
  },
);

export const PermissionEnum = describeEnum<Permission>(
  "Permission",
  "A permission of the viewer. New values may be added: ignore unknown ones.",
  {
    use_chats: "Create chats and use their own.",
    read_all_chats: "Read and control all users' chats.",
    read_all_costs: "See the cost of all users' chats.",
    read_audit_log: "Read the audit log.",
    manage_users: "Create user accounts, and change their roles and status.",
    manage_models: "Manage model providers and models.",
    manage_mcp_servers: "Manage MCP servers.",
    manage_limits: "Set spending and storage limits.",
    manage_deployment: "Change the deployment's settings.",
  },
);

export const FailureKindEnum = describeEnum<FailureKind>(
  "FailureKind",
  "Why a turn or an attempt failed. New values may be added: treat unknown ones as GENERIC.",
  {
    generic: "Any other failure.",
    overloaded: "The provider is overloaded.",
    rate_limited: "The provider's rate limit was reached.",
    timeout: "The provider took too long to respond.",
    startup_timeout: "The provider did not start to respond in time.",
    stream_stalled: "The provider stopped sending in the middle of a response.",
    auth: "The provider rejected the API key.",
    billing: "The provider requires payment.",
    config:
      "The provider is misconfigured: its base URL does not lead to the vendor's API, or it rejects the model or its options. `message` says which and what to check.",
    context_too_large: "The chat no longer fits into the model's context window.",
    content_filtered: "The provider refused the content.",
    empty_answer: "The model returned neither text nor tool calls, even when asked again.",
    usage_limit: "The chat's owner has reached their spending limit; see `Viewer.usageLimit`.",
    storage_limit: "The chat's owner has reached their storage limit; see `User.storage`.",
    storage_full: "The server's disk is almost full. Turns work again once there is free space.",
    missing_key:
      "There is no API key for the provider: neither the deployment's nor, where the key policy allows it, the user's.",
    provider_disabled: "The provider or the model was disabled.",
    internal: "An internal error; see the server's log.",
  },
);

export const ModelProviderKindEnum = describeEnum<ModelProviderKind>(
  "ModelProviderKind",
  "The wire format of a provider's API. New values may be added: ignore unknown ones.",
  {
    anthropic: "Anthropic's Messages API.",
    openai: "OpenAI's own API.",
    openai_compatible: "An API compatible with OpenAI's.",
    google: "Google's Gemini API.",
    azure_openai: "OpenAI models on Azure.",
    bedrock: "Anthropic models on Amazon Bedrock.",
  },
);

export const WorkspaceStatusEnum = describeEnum<WorkspaceStatus>(
  "WorkspaceStatus",
  "The status of a workspace. New values may be added.",
  {
    stopped: "Stopped. Can be started.",
    starting: "Starting.",
    running: "Running.",
    stopping: "Stopping.",
    failed: "The last start, stop or deletion failed; see `failure`.",
    creating: "Being created; starts afterwards.",
    deleting: "Being deleted.",
  },
);

export type UserErrorCode =
  "INVALID" | "NOT_FOUND" | "CONFLICT" | "LIMIT_EXCEEDED" | "AUTH_REQUIRED" | "KEY_REQUIRED" | "UNAVAILABLE";

export const UserErrorCodeEnum = describeEnum<UserErrorCode>(
  "UserErrorCode",
  "The kind of a user error. New values may be added: show `message` for unknown ones.",
  {
    INVALID: "An input value is invalid.",
    NOT_FOUND: "The object does not exist or is not visible to the viewer.",
    CONFLICT: "The object's state does not allow the action.",
    LIMIT_EXCEEDED: "A limit would be exceeded.",
    AUTH_REQUIRED: "The user must authorize something first.",
    KEY_REQUIRED: "The user must store an API key of their own first.",
    UNAVAILABLE: "Something required is not available right now.",
  },
);

export const RefreshReasonEnum = describeEnum<RefreshReason>(
  "RefreshReason",
  "Why a client must refresh its copy. New values may be added: handle unknown ones the same way.",
  {
    first_snapshot: "The subscription started without a cursor.",
    cursor_too_old: "The cursor is invalid, or too many events happened since.",
    history_edited: "Messages were deleted since the cursor.",
    fell_behind: "The subscriber was too slow and events were dropped.",
  },
);

export const PreviewResetReasonEnum = describeEnum<PreviewResetReason>(
  "PreviewResetReason",
  "Why a preview is void. New values may be added: handle unknown ones the same way.",
  {
    retry: "The model call is retried from the start.",
    interrupt: "The turn was interrupted; saved partial output follows as a message.",
    worker_lost: "Another worker takes over, or earlier deltas are no longer available.",
  },
);

export const ChatRemovalReasonEnum = describeEnum<ChatRemovalReason>(
  "ChatRemovalReason",
  "Why a chat was removed from the list. New values may be added: handle unknown ones the same way.",
  {
    archived: "The chat was archived and still exists.",
    deleted: "The chat was deleted.",
    access_lost: "The viewer lost access to the chat.",
  },
);

export type WhenBusy = "queue" | "interrupt";

export const WhenBusyEnum = describeEnum<WhenBusy>("WhenBusy", "What to do if the chat is busy.", {
  queue: "Send the message once the turn has ended.",
  interrupt:
    "Interrupt the turn and send the message next, before queued messages. Several such messages are sent in order of arrival.",
});

export type ChatOrder = "recently_updated" | "recently_created";

export const ChatOrderEnum = describeEnum<ChatOrder>("ChatOrder", "The sort order of a list of chats.", {
  recently_updated: "By last change, newest first.",
  recently_created: "By creation time, newest first.",
});

export const McpTransportEnum = describeEnum<McpTransport>(
  "McpTransport",
  "The transport used to talk to an MCP server.",
  {
    streamable_http: "Streamable HTTP, the protocol's current transport.",
    sse: "HTTP with server-sent events, deprecated by the protocol.",
  },
);

export const McpAuthKindEnum = describeEnum<McpAuthKind>(
  "McpAuthKind",
  "How requests to an MCP server are authenticated.",
  {
    none: "No authentication.",
    oauth2: "Each user authorizes Parley at the server; see `McpServer.account`.",
    api_key: "An API key of the deployment in a header.",
    custom_headers: "Custom headers of the deployment.",
    user_identity: "The identity token the user signed in to Parley with.",
  },
);

export const McpAvailabilityEnum = describeEnum<McpAvailability>(
  "McpAvailability",
  "Which chats use an MCP server.",
  {
    force_on: "All chats. Cannot be deselected.",
    default_on: "New chats, unless the user deselects it.",
    default_off: "Chats whose owner selects it.",
  },
);

export const McpConnectionStatusEnum = describeEnum<McpConnectionStatus>(
  "McpAccountStatus",
  "Status of a user's connection to an MCP server.",
  {
    not_needed: "The server requires no authorization by the user.",
    connected:
      "The user has authorized the server, and the authorization is valid or can be renewed automatically.",
    disconnected: "The user has not authorized the server.",
    expired: "The user's authorization has expired and must be granted again.",
  },
);

export const McpServerFailureKindEnum = describeEnum<McpServerFailureKind>(
  "McpServerFailureKind",
  "Why an MCP server could not be used.",
  {
    unauthorized: "The server requires authorization, or rejected the one it was given.",
    blocked: "Parley blocks requests to this address.",
    unreachable: "The connection could not be established, or it was lost.",
    timeout: "The server did not respond in time.",
    malformed: "The response does not follow the protocol.",
    refused: "The server responded with an error.",
  },
);

export const PullRequestStateEnum = describeEnum<PullRequestState>(
  "PullRequestState",
  "The state of a pull request.",
  {
    open: "Open.",
    closed: "Closed without merging.",
    merged: "Merged into the base branch.",
  },
);
