/** Every table, for the data source. A new entity is added here and to a new migration. */
import { AdminReadEntity } from "./admin-read.entity.js";
import { ApiTokenEntity } from "./api-token.entity.js";
import { AuditLogEntity } from "./audit-log.entity.js";
import { ChatDiffStatusEntity } from "./chat-diff-status.entity.js";
import { ChatMessageEntity } from "./chat-message.entity.js";
import { ChatQueuedMessageEntity } from "./chat-queued-message.entity.js";
import { ChatStorageEntity } from "./chat-storage.entity.js";
import { ChatEntity } from "./chat.entity.js";
import { FileEntity } from "./file.entity.js";
import { GitConnectionEntity } from "./git-connection.entity.js";
import { IdempotencyKeyEntity } from "./idempotency-key.entity.js";
import { McpConnectionEntity } from "./mcp-connection.entity.js";
import { McpOauthFlowEntity } from "./mcp-oauth-flow.entity.js";
import { McpServerEntity } from "./mcp-server.entity.js";
import { ModelCallRecordEntity } from "./model-call-record.entity.js";
import { ModelConfigEntity } from "./model-config.entity.js";
import { ModelProviderEntity } from "./model-provider.entity.js";
import { PushKeysEntity } from "./push-keys.entity.js";
import { PushSubscriptionEntity } from "./push-subscription.entity.js";
import { SettingEntity } from "./setting.entity.js";
import { StorageCountEntity } from "./storage-count.entity.js";
import { StorageLimitOverrideEntity } from "./storage-limit-override.entity.js";
import { UnwantedObjectEntity } from "./unwanted-object.entity.js";
import { UsageDayEntity } from "./usage-day.entity.js";
import { UsageHoldEntity } from "./usage-hold.entity.js";
import { UsageLimitOverrideEntity } from "./usage-limit-override.entity.js";
import { UsageLimitPolicyEntity } from "./usage-limit-policy.entity.js";
import { UserIdentityEntity } from "./user-identity.entity.js";
import { UserProviderKeyEntity } from "./user-provider-key.entity.js";
import { UserSessionEntity } from "./user-session.entity.js";
import { UserEntity } from "./user.entity.js";
import { WorkerLeaseEntity } from "./worker-lease.entity.js";
import { WorkspaceTemplateEntity } from "./workspace-template.entity.js";
import { WorkspaceEntity } from "./workspace.entity.js";

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
  UsageHoldEntity,
  ChatStorageEntity,
  StorageLimitOverrideEntity,
  StorageCountEntity,
  UserIdentityEntity,
  UserSessionEntity,
  UserProviderKeyEntity,
  PushKeysEntity,
  PushSubscriptionEntity,
  ModelCallRecordEntity,
];
