/** The API's enums: the domain's words, in capitals, each with its meaning. */
import { registerEnumType } from "type-graphql";
import type { PreviewResetReason, RefreshReason } from "../domain/chat-stream.js";
import type { ChatStatus } from "../domain/chat-state.js";
import type { FailureKind, ModelProviderKind } from "../domain/failures.js";
import type { ChatRemovalReason } from "../domain/list-events.js";
import type { MessageRole, ReasoningEffort } from "../domain/message-parts.js";
import type { UserRole } from "../domain/viewer.js";
import type { WorkspaceStatus } from "../domain/workspace.js";

/** Registers an enum whose names are the words in capitals; resolvers and inputs use the words themselves. */
function describeEnum<Word extends string>(
  name: string,
  description: string,
  meanings: Record<Word, string>,
): Record<string, Word> {
  const words = Object.keys(meanings) as Word[];
  const names = Object.fromEntries(words.map((word) => [word.toUpperCase(), word]));
  const valuesConfig = Object.fromEntries(
    words.map((word) => [word.toUpperCase(), { description: meanings[word] }]),
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

export const MessageRoleEnum = describeEnum<MessageRole>("MessageRole", "Who speaks.", {
  system: "Parley itself.",
  user: "A person.",
  assistant: "The model.",
  tool: "Tools, answering the message before.",
});

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

export const PERMISSIONS = ["USE_CHATS", "READ_ALL_CHATS"] as const;
export type Permission = (typeof PERMISSIONS)[number];

export const PermissionEnum = describeEnum<Permission>(
  "Permission",
  "One thing that the viewer may do. May grow: ignore what you do not know.",
  {
    USE_CHATS: "Start chats and take part in their own.",
    READ_ALL_CHATS: "Read and steer everybody's chats.",
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
    config: "The provider refused the request as it is configured.",
    context_too_large: "The chat no longer fits into the model's context.",
    content_filtered: "The provider refused the content.",
    missing_key: "The server has no key for the provider.",
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
  "How a workspace stands.",
  {
    stopped: "Not running; it can be started.",
    starting: "On its way up.",
    running: "Ready for work.",
    stopping: "On its way down.",
    failed: "The last start or stop failed; `failure` says why.",
  },
);

export type UserErrorCode = "INVALID" | "NOT_FOUND" | "CONFLICT" | "LIMIT_EXCEEDED" | "UNAVAILABLE";

export const UserErrorCodeEnum = describeEnum<UserErrorCode>(
  "UserErrorCode",
  "The kind of a refusal. May grow: show `message` for what you do not know.",
  {
    INVALID: "A value of the input cannot be used.",
    NOT_FOUND: "The object does not exist, or is not the viewer's to see.",
    CONFLICT: "The object is in a state that does not allow this.",
    LIMIT_EXCEEDED: "A bound would be passed.",
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
  interrupt: "Stop the turn and say it next.",
});

export type ChatOrder = "recently_updated" | "recently_created";

export const ChatOrderEnum = describeEnum<ChatOrder>("ChatOrder", "How a list of chats is sorted.", {
  recently_updated: "The chat with the latest change first.",
  recently_created: "The newest chat first.",
});
