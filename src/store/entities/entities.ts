/** Every table, for the data source. A new entity is added here and to a new migration. */
import { ApiTokenEntity } from "./api-token.entity.js";
import { ChatDiffStatusEntity } from "./chat-diff-status.entity.js";
import { ChatMessageEntity } from "./chat-message.entity.js";
import { ChatQueuedMessageEntity } from "./chat-queued-message.entity.js";
import { ChatEntity } from "./chat.entity.js";
import { FileEntity } from "./file.entity.js";
import { GitConnectionEntity } from "./git-connection.entity.js";
import { IdempotencyKeyEntity } from "./idempotency-key.entity.js";
import { ModelConfigEntity } from "./model-config.entity.js";
import { ModelProviderEntity } from "./model-provider.entity.js";
import { SettingEntity } from "./setting.entity.js";
import { UserEntity } from "./user.entity.js";
import { WorkerLeaseEntity } from "./worker-lease.entity.js";
import { WorkspaceEntity } from "./workspace.entity.js";

export const entities = [
  UserEntity,
  ApiTokenEntity,
  ModelProviderEntity,
  ModelConfigEntity,
  WorkspaceEntity,
  ChatEntity,
  ChatMessageEntity,
  ChatQueuedMessageEntity,
  WorkerLeaseEntity,
  IdempotencyKeyEntity,
  FileEntity,
  SettingEntity,
  GitConnectionEntity,
  ChatDiffStatusEntity,
];
