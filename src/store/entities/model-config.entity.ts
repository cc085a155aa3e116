/** One model of a provider, as people may choose it. At most one is the default. */
import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from "typeorm";
import type { JsonObject } from "../../domain/json.js";
import { ModelProviderEntity } from "./model-provider.entity.js";

@Entity("model_configs")
@Index("model_configs_provider_idx", ["providerId"])
@Index("model_configs_default_key", ["isDefault"], { unique: true, where: "is_default" })
@Check("model_configs_context_limit_check", "context_limit > 0")
@Check("model_configs_observed_context_limit_check", "observed_context_limit > 0")
@Check("model_configs_threshold_check", "compaction_threshold_percent BETWEEN 0 AND 100")
export class ModelConfigEntity {
  @PrimaryColumn("uuid", { name: "id", primaryKeyConstraintName: "model_configs_pkey" })
  id!: string;

  @Column("uuid", { name: "provider_id" })
  @ForeignKey(() => ModelProviderEntity, { name: "model_configs_provider_fkey", onDelete: "CASCADE" })
  providerId!: string;

  /** The vendor's own id of the model. */
  @Column("text", { name: "model" })
  model!: string;

  @Column("text", { name: "display_name" })
  displayName!: string;

  /** Tokens that fit into one call; null = nobody said. */
  @Column("integer", { name: "context_limit", nullable: true })
  contextLimit!: number | null;

  /** Tokens that fit into one call, as the vendor's own answers showed. */
  @Column("integer", { name: "observed_context_limit", nullable: true })
  observedContextLimit!: number | null;

  /** The vendor's own call options. */
  @Column("jsonb", { name: "provider_options", default: {} })
  providerOptions!: JsonObject;

  /** Share of the context at which history is summarised. */
  @Column("smallint", { name: "compaction_threshold_percent", default: 70 })
  compactionThresholdPercent!: number;

  @Column("integer", { name: "max_output_tokens", nullable: true })
  maxOutputTokens!: number | null;

  @Column("boolean", { name: "is_enabled", default: true })
  isEnabled!: boolean;

  @Column("boolean", { name: "is_default", default: false })
  isDefault!: boolean;

  @Column("timestamptz", { name: "created_at", default: () => "now()" })
  createdAt!: Date;
}
