/** Converts rows of the store to API objects. Pure; resolvers load linked objects. */
import { encodeEventCursor } from "../../domain/common/cursors.js";
import {
  type MessageRow,
  type MessageDelta as DomainDelta,
  type QueuedRow,
  endOfVersion,
} from "../../domain/chats/chat-events.js";
import type { OpenCall, RetryNotice } from "../../domain/chats/chat-state.js";
import type { ChatFailure as DomainFailure } from "../../domain/common/failures.js";
import { encodeId } from "../../domain/common/ids.js";
import type { MessagePart as DomainPart } from "../../domain/chats/message-parts.js";
import type { AuditLogEntry } from "../../schema/users/audit-log.type.js";
import type { MessageDelta } from "../../schema/chats/chat-event.union.js";
import type { ApiToken } from "../../schema/users/api-token.type.js";
import type { Chat } from "../../schema/chats/chat.type.js";
import type { ChatFailure, RetryState } from "../../schema/chats/failure.type.js";
import type { File } from "../../schema/files/file.type.js";
import type { GitHostAccount } from "../../schema/git/git-host-account.type.js";
import type { MessagePart, ToolCallPart } from "../../schema/chats/message-part.union.js";
import type { ChatMessage, QueuedMessage } from "../../schema/chats/message.type.js";
import type { User } from "../../schema/users/user.type.js";
import type { Viewer } from "../../domain/users/viewer.js";
import type { WorkspaceTemplate } from "../../schema/workspaces/workspace-template.type.js";
import type { Workspace } from "../../schema/workspaces/workspace.type.js";
import type { ChatRecord } from "../../store/chats/chats.js";
import type { AuditLogRecord } from "../../store/users/audit-log.js";
import type { GitConnectionRecord } from "../../store/git/git-connections.js";
import type { FileRecord } from "../../store/files/files.js";
import type { PushSubscription } from "../../schema/push/push-subscription.type.js";
import type { PushSubscriptionRecord } from "../../store/push/push.js";
import type { TokenRecord } from "../../store/users/tokens.js";
import type { UserRecord } from "../../store/users/users.js";
import type { WorkspaceTemplateRecord } from "../../store/workspaces/workspace-templates.js";
import type { WorkspaceRecord } from "../../store/workspaces/workspaces.js";

export function toUser(record: UserRecord): User {
  const { username, name, role, isActive, createdAt } = record;
  return { __typename: "User", id: encodeId("user", record.id), username, name, role, isActive, createdAt };
}

export function toChat(record: ChatRecord): Chat {
  const { state } = record;
  return {
    __typename: "Chat",
    id: encodeId("chat", record.id),
    chatId: record.id,
    ownerId: record.ownerId,
    workspaceId: record.workspaceId,
    modelConfigId: record.modelConfigId,
    mcpServerIds: record.mcpServerIds,
    parentChatId: record.parentChatId,
    rootChatId: record.rootChatId,
    subagentKind: record.subagentKind,
    title: state.title,
    status: state.status,
    lastError: state.lastError && toFailure(state.lastError),
    pendingToolCalls: state.status === "requires_action" ? toPendingToolCalls(state.openCalls) : [],
    retry: state.retry && toRetryState(state.retry),
    labels: Object.entries(record.labels)
      .map(([key, value]) => ({ key, value }))
      .sort((a, b) => (a.key < b.key ? -1 : 1)),
    archivedAt: record.archivedAt,
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
    eventCursor: cursorAt(state.snapshotVersion),
  };
}

/** The event cursor of a client that has the chat's state at `version`. */
export function cursorAt(version: number): string {
  return encodeEventCursor({ position: endOfVersion(version), generation: null, sequence: 0 });
}

/** The pending calls that the client must answer. */
export function toPendingToolCalls(calls: readonly OpenCall[]): ToolCallPart[] {
  return calls
    .filter((call) => call.isClient)
    .map(({ toolCallId, toolName, arguments: given, startedAt = null }) => ({
      __typename: "ToolCallPart",
      toolCallId,
      toolName,
      arguments: given ?? {},
      isProviderExecuted: false,
      mcpServerId: null,
      startedAt,
    }));
}

export function toFailure(failure: DomainFailure): ChatFailure {
  return {
    kind: failure.kind,
    message: failure.message,
    detail: failure.detail ?? null,
    provider: failure.provider ?? null,
    isRetryable: failure.isRetryable,
    httpStatus: failure.httpStatus ?? null,
  };
}

export function toRetryState(notice: RetryNotice): RetryState {
  const { attempt, delayMs, retryingAt } = notice;
  return { attempt, delayMs, retryingAt, failure: toFailure(notice.failure) };
}

export function toChatMessage(row: MessageRow): ChatMessage {
  return {
    __typename: "ChatMessage",
    id: encodeId("msg", row.id),
    chatId: row.chatId,
    authorId: row.authorId,
    modelConfigId: row.modelConfigId,
    role: row.role,
    parts: row.parts.map(toMessagePart),
    usage: row.usage && { ...row.usage, isEstimated: row.usage.isEstimated ?? false },
    finishReason: row.finishReason,
    costMicros: row.costMicros,
    runtimeMs: row.runtimeMs,
    reasoningEffort: row.reasoningEffort,
    isSummary: row.isSummary,
    createdAt: row.createdAt,
  };
}

export function toQueuedMessage(row: QueuedRow): QueuedMessage {
  return {
    __typename: "QueuedMessage",
    id: encodeId("que", row.id),
    authorId: row.authorId,
    modelConfigId: row.modelConfigId,
    queuedId: row.id,
    parts: row.parts.map(toMessagePart),
    isTruncated: row.isCut,
    createdAt: row.createdAt,
  };
}

/** Omits vendor-specific data (`providerMetadata`). */
export function toMessagePart(part: DomainPart): MessagePart {
  switch (part.type) {
    case "text":
      return { __typename: "TextPart", text: part.text };
    case "reasoning":
      return { __typename: "ReasoningPart", text: part.text, isRedacted: part.isRedacted ?? false };
    case "tool-call":
      return {
        __typename: "ToolCallPart",
        toolCallId: part.toolCallId,
        toolName: part.toolName,
        arguments: part.arguments,
        isProviderExecuted: part.isProviderExecuted ?? false,
        mcpServerId: part.mcpServerId ?? null,
        startedAt: part.startedAt ?? null,
      };
    case "tool-result":
      return {
        __typename: "ToolResultPart",
        toolCallId: part.toolCallId,
        toolName: part.toolName,
        result: part.result,
        isError: part.isError,
        files: (part.files ?? []).map(({ fileId: id, ...file }) => toFile({ id, ...file })),
        isProviderExecuted: part.isProviderExecuted ?? false,
        startedAt: part.startedAt ?? null,
        durationMs: part.durationMs ?? null,
      };
    case "source":
      return { __typename: "SourcePart", title: part.title ?? null, url: part.url };
    case "file": {
      const { fileId: id, name, mediaType, sizeBytes } = part;
      return { __typename: "FilePart", file: toFile({ id, name, mediaType, sizeBytes }) };
    }
    case "file-reference": {
      const { path, startLine, endLine, content } = part;
      return { __typename: "FileReferencePart", path, startLine, endLine, content };
    }
    case "notice":
      return {
        __typename: "NoticePart",
        level: part.level,
        text: part.text,
        mcpServerId: part.mcpServerId ?? null,
      };
  }
}

export function toFile({ id, name, mediaType, sizeBytes }: FileRecord): File {
  return { __typename: "File", id: encodeId("file", id), name, mediaType, sizeBytes };
}

export function toAuditLogEntry(record: AuditLogRecord): AuditLogEntry {
  return { ...record, __typename: "AuditLogEntry", id: encodeId("audit", record.id), createdAt: record.at };
}

export function toGitHostAccount({ id, host, login, connectedAt }: GitConnectionRecord): GitHostAccount {
  return { __typename: "GitHostAccount", id: encodeId("git", id), host, login, createdAt: connectedAt };
}

export function toPushSubscription({ id, ...rest }: PushSubscriptionRecord): PushSubscription {
  const { endpoint, userAgent, createdAt } = rest;
  return { __typename: "PushSubscription", id: encodeId("push", id), endpoint, userAgent, createdAt };
}

export function toApiToken({ id, ...rest }: TokenRecord): ApiToken {
  return { __typename: "ApiToken", id: encodeId("token", id), ...rest };
}

export function toMessageDelta(delta: DomainDelta): MessageDelta {
  switch (delta.type) {
    case "text-delta":
      return { __typename: "TextDelta", append: delta.append };
    case "reasoning-delta":
      return { __typename: "ReasoningDelta", append: delta.append };
    case "tool-input-delta": {
      const { toolCallId, toolName, append } = delta;
      return { __typename: "ToolInputDelta", toolCallId, toolName, append };
    }
    case "tool-output-delta":
      return { __typename: "ToolOutputDelta", toolCallId: delta.toolCallId, append: delta.append };
    case "tool-call":
    case "tool-result":
    case "source":
    case "notice":
      return toMessagePart(delta) as MessageDelta;
  }
}

export function toWorkspace(record: WorkspaceRecord): Workspace {
  const { ownerId, templateId, name, status, failure, createdAt, lastUsedAt } = record;
  return {
    __typename: "Workspace",
    id: encodeId("ws", record.id),
    workspaceId: record.id,
    ownerId,
    templateId,
    name,
    status,
    failure,
    createdAt,
    lastUsedAt,
  };
}

export function toWorkspaceTemplate(
  { id, ...template }: WorkspaceTemplateRecord,
  { role }: Viewer,
): WorkspaceTemplate {
  const spec = role === "admin" ? template.spec : null;
  return { __typename: "WorkspaceTemplate", id: encodeId("tpl", id), ...template, spec };
}
