/** The API's enums: the domain's words, in capitals, each with its meaning. */
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

/** Registers an enum whose names are the words in capitals; resolvers and inputs use the words themselves. */
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

export const ChatStatusEnum = describeEnum<ChatStatus>("ChatStatus", "How a chat stands.", {
  waiting: "Nothing to do; the person may speak.",
  pending: "Accepted, not yet picked up by a worker.",
  running: "A worker owns the chat and is producing a turn.",
  interrupting: "Stop was asked for; the worker is saving what it has.",
  requires_action: "The turn waits for the client to run its own tools; see `pendingToolCalls`.",
  error: "The last turn failed for good; `lastError` says why.",
});

export const SubagentKindEnum = describeEnum<SubagentKind>("SubagentKind", "What a subagent may do.", {
  general: "What the agent that started it may do, but for starting subagents where that is not allowed.",
  explore: "It reads, lists and searches, and changes nothing; it may be on a smaller model.",
});

export const MessageRoleEnum = describeEnum<MessageRole>("MessageRole", "Who speaks.", {
  system: "Parley itself.",
  user: "A person.",
  assistant: "The model.",
  tool: "Tools, answering the message before.",
});

export const NoticeLevelEnum = describeEnum<NoticeLevel>(
  "NoticeLevel",
  "How much a notice asks of its reader. May grow: show what you do not know as WARNING.",
  { warning: "The turn goes on without something." },
);

export const FinishReasonEnum = describeEnum<FinishReason>(
  "FinishReason",
  "Why a model ended its answer. May grow: treat what you do not know as OTHER.",
  {
    stop: "It was done.",
    "tool-calls": "It waits for the results of its tools.",
    length:
      "The output limit, or the model's context, was reached: the answer is cut off. Say something to go on.",
    "content-filter": "The provider withheld the rest.",
    other: "A reason that only its provider has.",
  },
);

export const ReasoningEffortEnum = describeEnum<ReasoningEffort>(
  "ReasoningEffort",
  "How hard a reasoning model should think; each vendor's nearest setting is used.",
  {
    none: "No thinking at all.",
    minimal: "As little as the vendor allows.",
    low: "Little.",
    medium: "Some.",
    high: "Much.",
    xhigh: "Very much.",
    max: "As much as the vendor allows.",
  },
);

export const UserRoleEnum = describeEnum<UserRole>("UserRole", "What a person may do here.", {
  member: "Uses chats; sees only their own.",
  admin: "Also sees other people's chats and the deployment's settings.",
});

export const TokenScopeEnum = describeEnum<TokenScope>(
  "TokenScope",
  "What a token may be used for. May grow: ignore what you do not know.",
  {
    read: "Queries and subscriptions.",
    chat: "What members may change: their own chats and what belongs to them.",
    admin: "An admin's rights, if its person has them; without it they are a member.",
  },
);

export const PermissionEnum = describeEnum<Permission>(
  "Permission",
  "One thing that the viewer may do. May grow: ignore what you do not know.",
  {
    use_chats: "Start chats and take part in their own.",
    read_all_chats: "Read and steer everybody's chats.",
    read_all_costs: "See what everybody's chats cost.",
    read_audit_log: "See what admins did.",
    manage_users: "Make people, and change their roles and standing.",
    manage_models: "Set up providers and models.",
    manage_mcp_servers: "Set up tool servers.",
    manage_limits: "Set what people may spend.",
    manage_deployment: "Change the deployment's settings.",
  },
);

export const FailureKindEnum = describeEnum<FailureKind>(
  "FailureKind",
  "Why a turn or an attempt failed. May grow: treat what you do not know as GENERIC.",
  {
    generic: "None of the others.",
    overloaded: "The provider has too much to do.",
    rate_limited: "The provider allows no more requests for now.",
    timeout: "The provider took too long.",
    startup_timeout: "The provider did not begin to answer in time.",
    stream_stalled: "The provider fell silent in the middle of an answer.",
    auth: "The provider refused the key.",
    billing: "The provider wants money.",
    config:
      "The provider is not configured as it should be: its address does not lead to the vendor, or it refuses the model or its settings. `message` says which, and where to look.",
    context_too_large: "The chat no longer fits into the model's context.",
    content_filtered: "The provider refused the content.",
    empty_answer:
      "The model answered with neither text nor tool calls, and again when it was asked once more.",
    usage_limit: "The chat's owner has spent what they may; see `Viewer.usageLimit`.",
    storage_limit: "The chat's owner stores as much as they may; see `User.storage`.",
    storage_full: "The server's disk is almost full; it works again when there is space.",
    missing_key:
      "There is no key for the provider: neither of the server nor, where that counts, of the person.",
    provider_disabled: "The provider or the model was switched off.",
    internal: "A fault of Parley's own; the log knows more.",
  },
);

export const ModelProviderKindEnum = describeEnum<ModelProviderKind>(
  "ModelProviderKind",
  "Whose wire format a provider speaks. May grow: ignore what you do not know.",
  {
    anthropic: "Anthropic's messages.",
    openai: "OpenAI's own endpoint.",
    openai_compatible: "Another endpoint that speaks like OpenAI's.",
    google: "Google's Gemini API.",
    azure_openai: "OpenAI's models on Azure.",
    bedrock: "Anthropic's models on Amazon Bedrock.",
  },
);

export const WorkspaceStatusEnum = describeEnum<WorkspaceStatus>(
  "WorkspaceStatus",
  "How a workspace stands. May grow.",
  {
    stopped: "Not running; it can be started.",
    starting: "On its way up.",
    running: "Ready for work.",
    stopping: "On its way down.",
    failed: "The last start, stop or deletion failed; `failure` says why.",
    creating: "Being made, and then started.",
    deleting: "Being deleted; then it is gone.",
  },
);

export type UserErrorCode =
  "INVALID" | "NOT_FOUND" | "CONFLICT" | "LIMIT_EXCEEDED" | "AUTH_REQUIRED" | "KEY_REQUIRED" | "UNAVAILABLE";

export const UserErrorCodeEnum = describeEnum<UserErrorCode>(
  "UserErrorCode",
  "The kind of a refusal. May grow: show `message` for what you do not know.",
  {
    INVALID: "A value of the input cannot be used.",
    NOT_FOUND: "The object does not exist, or is not the viewer's to see.",
    CONFLICT: "The object is in a state that does not allow this.",
    LIMIT_EXCEEDED: "A bound would be passed.",
    AUTH_REQUIRED: "The person has to authorise something first.",
    KEY_REQUIRED: "The person has to store a key of their own first.",
    UNAVAILABLE: "Something that is needed cannot be reached right now.",
  },
);

export const RefreshReasonEnum = describeEnum<RefreshReason>(
  "RefreshReason",
  "Why a reader must read anew. May grow: the reaction is always the same.",
  {
    first_snapshot: "The subscription begins without a cursor.",
    cursor_too_old: "The cursor cannot be used, or too much happened since.",
    history_edited: "Messages were taken away since the cursor.",
    fell_behind: "The reader was too slow and events were thrown away.",
  },
);

export const PreviewResetReasonEnum = describeEnum<PreviewResetReason>(
  "PreviewResetReason",
  "Why a preview is void. May grow: the reaction is always the same.",
  {
    retry: "The model is asked again from the start.",
    interrupt: "The turn was stopped; what was kept follows as a message.",
    worker_lost: "Another worker takes over, or the pieces are no longer at hand.",
  },
);

export const ChatRemovalReasonEnum = describeEnum<ChatRemovalReason>(
  "ChatRemovalReason",
  "Why a chat is no longer in the list. May grow: the reaction is always the same.",
  {
    archived: "It was put away; it is still there.",
    deleted: "It is gone.",
    access_lost: "The viewer may no longer see it.",
  },
);

export type WhenBusy = "queue" | "interrupt";

export const WhenBusyEnum = describeEnum<WhenBusy>("WhenBusy", "What to do when the chat is busy.", {
  queue: "Say it when the turn has ended.",
  interrupt:
    "Stop the turn and say it next, before what waits in the queue; several such messages in the order in which they came.",
});

export type ChatOrder = "recently_updated" | "recently_created";

export const ChatOrderEnum = describeEnum<ChatOrder>("ChatOrder", "How a list of chats is sorted.", {
  recently_updated: "The chat with the latest change first.",
  recently_created: "The newest chat first.",
});

export const McpTransportEnum = describeEnum<McpTransport>(
  "McpTransport",
  "How a tool server is spoken to.",
  {
    streamable_http: "HTTP, as the protocol has it today.",
    sse: "HTTP with server-sent events, the protocol's older way.",
  },
);

export const McpAuthKindEnum = describeEnum<McpAuthKind>("McpAuthKind", "How a tool server knows who asks.", {
  none: "It does not.",
  oauth2: "Each person authorises Parley there; see `McpServer.connection`.",
  api_key: "By one key of this deployment, in a header.",
  custom_headers: "By headers of this deployment.",
  user_identity: "By the identity token that the person signed in to Parley with.",
});

export const McpAvailabilityEnum = describeEnum<McpAvailability>(
  "McpAvailability",
  "Which chats use a tool server.",
  {
    force_on: "All of them; nobody can choose otherwise.",
    default_on: "New ones, unless the person chooses otherwise.",
    default_off: "Those whose owners choose it.",
  },
);

export const McpConnectionStatusEnum = describeEnum<McpConnectionStatus>(
  "McpAccountStatus",
  "How a person stands with a tool server.",
  {
    not_needed: "The server asks nothing of the person.",
    connected: "The person has authorised it, and that works or can be renewed without them.",
    disconnected: "The person has not authorised it.",
    expired: "The person did, and has to do so again.",
  },
);

export const McpServerFailureKindEnum = describeEnum<McpServerFailureKind>(
  "McpServerFailureKind",
  "Why a tool server could not be used.",
  {
    unauthorized: "It wants an authorisation that it was not shown, or another one.",
    blocked: "Parley does not let requests out to its address.",
    unreachable: "There is no line to it, or the line broke.",
    timeout: "It did not answer in time.",
    malformed: "What it answers is not the protocol.",
    refused: "It answers with an error.",
  },
);

export const PullRequestStateEnum = describeEnum<PullRequestState>(
  "PullRequestState",
  "How a pull request stands.",
  {
    open: "It may still be merged.",
    closed: "It was given up.",
    merged: "Its changes are in the base branch.",
  },
);
