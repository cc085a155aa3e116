/** Every table, for the data source. A new entity is added here and to a new migration. */
import { AdminReadEntity } from "./users/admin-read.entity.js";
import { ApiTokenEntity } from "./users/api-token.entity.js";
import { AuditLogEntity } from "./users/audit-log.entity.js";
import { ChatDiffStatusEntity } from "./git/chat-diff-status.entity.js";
import { ChatMessageEntity } from "./chats/chat-message.entity.js";
import { ChatQueuedMessageEntity } from "./chats/chat-queued-message.entity.js";
import { ChatStorageEntity } from "./files/chat-storage.entity.js";
import { ChatEntity } from "./chats/chat.entity.js";
import { FileEntity } from "./files/file.entity.js";
import { GitConnectionEntity } from "./git/git-connection.entity.js";
import { IdempotencyKeyEntity } from "./chats/idempotency-key.entity.js";
import { McpConnectionEntity } from "./mcp/mcp-connection.entity.js";
import { McpOauthFlowEntity } from "./mcp/mcp-oauth-flow.entity.js";
import { McpServerEntity } from "./mcp/mcp-server.entity.js";
import { ModelCallRecordEntity } from "./models/model-call-record.entity.js";
import { ModelCallEntity } from "./usage/model-call.entity.js";
import { ModelConfigEntity } from "./models/model-config.entity.js";
import { ModelProviderEntity } from "./models/model-provider.entity.js";
import { PushKeysEntity } from "./push/push-keys.entity.js";
import { PushSubscriptionEntity } from "./push/push-subscription.entity.js";
import { SettingEntity } from "./common/setting.entity.js";
import { StorageCountEntity } from "./files/storage-count.entity.js";
import { StorageLimitOverrideEntity } from "./files/storage-limit-override.entity.js";
import { UnwantedObjectEntity } from "./files/unwanted-object.entity.js";
import { UsageDayEntity } from "./usage/usage-day.entity.js";
import { UsageReservationEntity } from "./usage/usage-reservation.entity.js";
import { UsageLimitOverrideEntity } from "./usage/usage-limit-override.entity.js";
import { UsageLimitPolicyEntity } from "./usage/usage-limit-policy.entity.js";
import { UserIdentityEntity } from "./users/user-identity.entity.js";
import { UserProviderKeyEntity } from "./models/user-provider-key.entity.js";
import { UserSessionEntity } from "./users/user-session.entity.js";
import { UserEntity } from "./users/user.entity.js";
import { WorkerLeaseEntity } from "./chats/worker-lease.entity.js";
import { WorkspaceMcpEntryEntity } from "./workspaces/workspace-mcp-entry.entity.js";
import { WorkspaceTemplateEntity } from "./workspaces/workspace-template.entity.js";
import { WorkspaceEntity } from "./workspaces/workspace.entity.js";

export const entities = [
  AdminReadEntity,
  UserEntity,
  ApiTokenEntity,
  ModelProviderEntity,
  ModelConfigEntity,
  WorkspaceTemplateEntity,
  WorkspaceEntity,
  ChatEntity,
  ChatMessageEntity,
  ChatQueuedMessageEntity,
  WorkerLeaseEntity,
  IdempotencyKeyEntity,
  FileEntity,
  UnwantedObjectEntity,
  SettingEntity,
  GitConnectionEntity,
  ChatDiffStatusEntity,
  McpServerEntity,
  McpConnectionEntity,
  McpOauthFlowEntity,
  AuditLogEntity,
  UsageDayEntity,
  UsageLimitPolicyEntity,
  UsageLimitOverrideEntity,
  UsageReservationEntity,
  ChatStorageEntity,
  StorageLimitOverrideEntity,
  StorageCountEntity,
  UserIdentityEntity,
  UserSessionEntity,
  UserProviderKeyEntity,
  PushKeysEntity,
  PushSubscriptionEntity,
  ModelCallRecordEntity,
  ModelCallEntity,
  WorkspaceMcpEntryEntity,
];
