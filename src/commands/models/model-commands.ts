/** What may be asked about model providers, models and keys for them. All ids are database values, not public ids. */
import type { ModelProviderKind } from "../../domain/common/failures.js";
import type { JsonObject } from "../../domain/common/json.js";
import type { SecretChange } from "../../domain/mcp/auth-rules.js";
import type { Problem } from "../../domain/mcp/field-rules.js";
import type { ModelChange, NewModel } from "../../domain/models/model-config-rules.js";
import type { ModelDiscovery } from "../../domain/models/model-discovery.js";
import type { NewProvider, OpenaiApi, ProviderChange } from "../../domain/models/model-provider-rules.js";
import type { Actor, Viewer } from "../../domain/users/viewer.js";
import type { Database } from "../../store/common/database.js";
import type { ModelConfigRecord, ProviderRecord } from "../../store/models/models.js";
import type { SecretBox } from "../../store/common/secret-box.js";
import type { CommandResult } from "../chats/chat-commands.js";

export type ModelDependencies = {
  database: Database;
  secrets: SecretBox;
  /** Tells every replica that models, providers or keys have changed. After the commit; never throws. */
  announceModels(): void;
  /** What a provider's adapter makes of call options; empty = it takes them. */
  judgeOptions(provider: { kind: ModelProviderKind; openaiApi: OpenaiApi }, options: JsonObject): Problem[];
  /** The provider's own list of models, asked for that person within 10 seconds. Never rejects. */
  discoverModels(provider: ProviderRecord, userId: string): Promise<ModelDiscovery>;
};

export type ProviderChanged = { provider: ProviderRecord };
export type ModelChanged = { modelConfig: ModelConfigRecord };

/** Changes of providers and models are admins' alone: anybody else gets `Forbidden`. Every problem of the input is told. */
export interface ModelCommands {
  createProvider(actor: Actor, wanted: NewProvider): Promise<CommandResult<ProviderChanged>>;
  /** Absent = unchanged. */
  updateProvider(
    actor: Actor,
    change: ProviderChange & { providerId: string },
  ): Promise<CommandResult<ProviderChanged>>;
  /** With its models and all keys. */
  deleteProvider(actor: Actor, providerId: string): Promise<CommandResult<{ providerId: string }>>;
  createModel(actor: Actor, wanted: NewModel & { providerId: string }): Promise<CommandResult<ModelChanged>>;
  /** Absent = unchanged. */
  updateModel(
    actor: Actor,
    change: ModelChange & { modelConfigId: string },
  ): Promise<CommandResult<ModelChanged>>;
  deleteModel(actor: Actor, modelConfigId: string): Promise<CommandResult<{ modelConfigId: string }>>;
  /** The viewer's own key, for turns of their chats. */
  setPersonalKey(
    viewer: Viewer,
    input: { providerId: string; apiKey: SecretChange },
  ): Promise<CommandResult<ProviderChanged>>;
  /** For admins; null when there is no such provider. */
  discoverModels(viewer: Viewer, providerId: string): Promise<ModelDiscovery | null>;
}
