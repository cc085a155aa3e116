/** Dependencies of the model commands. */
import type { ModelProviderKind } from "../../domain/common/failures.js";
import type { JsonObject } from "../../domain/common/json.js";
import type { Problem } from "../../domain/mcp/field-rules.js";
import type { ModelDiscovery } from "../../domain/models/model-discovery.js";
import type { OpenaiApi } from "../../domain/models/model-provider-rules.js";
import type { Database } from "../../store/common/database.js";
import type { SecretBox } from "../../store/common/secret-box.js";
import type { ProviderRecord } from "../../store/models/models.js";

export type ModelDependencies = {
  database: Database;
  secrets: SecretBox;
  /** Notifies every replica that models, providers or keys have changed. After the commit; never throws. */
  announceModels(): void;
  /** Validates call options with the provider's adapter; empty = valid. */
  validateOptions(
    provider: { kind: ModelProviderKind; openaiApi: OpenaiApi },
    options: JsonObject,
  ): Problem[];
  /** The provider's own list of models, requested with that user's key within 10 seconds. Never rejects. */
  discoverModels(provider: ProviderRecord, userId: string): Promise<ModelDiscovery>;
};
