// Access to chats and their costs.
import { ADMINS, OWNER_AND_ADMINS } from "./callers.js";
import { inChat, inMessages, onNode, type Reach, type TypeEntries } from "./entries.js";
import type { World } from "./world.js";

/** Objects within a chat, visible to its owner and admins. */
const within = (chat: keyof World["chats"], path: string): Reach => ({
  rule: OWNER_AND_ADMINS,
  ...inChat(chat, path),
});
const part = (type: string, chat: keyof World["chats"] = "full"): Reach => ({
  rule: OWNER_AND_ADMINS,
  ...inMessages(chat, type),
});
/** Parts that name an MCP server, which is null for callers who cannot see it. */
const partWithServer = (type: string, chat: "calling" | "noticed"): readonly Reach[] => [
  part(type, chat),
  { ...part(type, `${chat}Disabled`), when: "McpServer disabled", guarded: { mcpServer: ADMINS } },
];

const chats: TypeEntries = {
  Chat: {
    fields: `archivedAt contextUsage cost createdAt diff diffStatus eventCursor files git id isUnread labels lastError lastTurnSummary messages
      modelConfig owner parent pendingToolCalls queuedMessages retry root status subagentKind subagents title updatedAt
      workspace mcpServers`,
    reached: [{ rule: OWNER_AND_ADMINS, ...onNode("Chat", ({ chats: { full } }) => full) }],
  },
  ChatLabel: { fields: "key value", reached: [within("full", "labels")] },
  ContextUsage: {
    fields: "compactionThresholdPercent isEstimated limitTokens usedTokens",
    reached: [within("full", "contextUsage")],
  },
  ChatFailure: {
    fields: "detail httpStatus isRetryable kind message provider",
    reached: [within("failed", "lastError")],
  },
  RetryState: { fields: "attempt delayMs failure retryingAt", partOf: ["Chat.retry", "ChatRetryEvent"] },
  GitSnapshot: { fields: "repositories scannedAt", reached: [within("full", "git")] },
  GitRepository: {
    fields: "branch isTruncated remoteOrigin root unifiedDiff",
    reached: [within("full", "git.repositories")],
  },
  DiffStatus: {
    fields: `additions baseBranch changedFiles deletions headBranch isStale pullRequest refreshedAt url`,
    reached: [within("full", "diffStatus")],
  },
  PullRequest: {
    fields: "authorLogin hasChangesRequested isDraft number state title",
    reached: [within("full", "diffStatus.pullRequest")],
  },
  Diff: { fields: "branch isTruncated remoteOrigin unified", reached: [within("full", "diff")] },
  QueuedMessage: {
    fields: "author createdAt fullParts id isTruncated modelConfig parts",
    reached: [{ rule: OWNER_AND_ADMINS, ...onNode("QueuedMessage", ({ queuedId }) => queuedId) }],
  },
};

const messages: TypeEntries = {
  ChatMessage: {
    fields: `author chat costMicros createdAt finishReason id isSummary modelConfig parts reasoningEffort role runtimeMs usage`,
    reached: [{ rule: OWNER_AND_ADMINS, ...onNode("ChatMessage", ({ messageId }) => messageId) }],
  },
  TokenUsage: {
    fields: "cacheReadTokens cacheWriteTokens inputTokens isEstimated outputTokens reasoningTokens",
    reached: [within("full", "messages.nodes.usage")],
  },
  TextPart: { fields: "text", reached: [part("TextPart")] },
  ReasoningPart: { fields: "isRedacted text", reached: [part("ReasoningPart")] },
  SourcePart: { fields: "title url", reached: [part("SourcePart")] },
  ToolCallPart: {
    fields: "arguments isProviderExecuted startedAt toolCallId toolName",
    guarded: { mcpServer: OWNER_AND_ADMINS },
    reached: partWithServer("ToolCallPart", "calling"),
  },
  ToolResultPart: {
    fields: "durationMs files isError isProviderExecuted result startedAt toolCallId toolName",
    reached: [part("ToolResultPart", "calling")],
  },
  NoticePart: {
    fields: "level text",
    guarded: { mcpServer: OWNER_AND_ADMINS },
    reached: partWithServer("NoticePart", "noticed"),
  },
  FileReferencePart: { fields: "content endLine path startLine", reached: [part("FileReferencePart")] },
  FilePart: { fields: "file", partOf: ["ChatMessage"] },
  File: {
    fields: "createdAt id isAvailable mediaType name sizeBytes url",
    reached: [{ rule: OWNER_AND_ADMINS, ...onNode("File", ({ fileId }) => fileId) }],
  },
};

const costs: TypeEntries = {
  CostSummary: {
    fields: "byChat byModel pricedMessageCount runtimeMs tokens totalMicros unpricedMessageCount",
    reached: [within("full", "cost")],
  },
  TokenTotals: { fields: "cacheRead cacheWrite input output", reached: [within("full", "cost.tokens")] },
  ModelCost: {
    fields: "messageCount modelConfig runtimeMs tokens totalMicros",
    reached: [within("full", "cost.byModel")],
  },
  ChatCost: {
    fields: "chat messageCount runtimeMs tokens totalMicros",
    reached: [within("full", "cost.byChat.nodes")],
  },
};

export const ofChats: TypeEntries = { ...chats, ...messages, ...costs };
