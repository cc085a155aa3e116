/** A model of a provider that users can choose. At most one is the default. */
import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from "typeorm";
import type { JsonObject } from "../../domain/common/json.js";
import { jsonbText } from "../common/entity-columns.js";
import { ModelProviderEntity } from "./model-provider.entity.js";

/** A model has prices of input and output, or none at all; none is dearer than a dollar for a token. */
const PRICES_CHECK = `(price_input IS NULL) = (price_output IS NULL)
  AND (price_input IS NOT NULL OR (price_cache_read IS NULL AND price_cache_write IS NULL))
  AND coalesce(price_input, 0) BETWEEN 0 AND 1000000 AND coalesce(price_output, 0) BETWEEN 0 AND 1000000
  AND coalesce(price_cache_read, 0) BETWEEN 0 AND 1000000 AND coalesce(price_cache_write, 0) BETWEEN 0 AND 1000000`;

@Entity("model_configs")
@Index("model_configs_provider_idx", ["providerId"])
@Index("model_configs_default_key", ["isDefault"], { unique: true, where: "is_default" })
@Index("model_configs_name_key", ["providerId", "displayName"], {
  unique: true,
  where: "deleted_at IS NULL",
})
@Check("model_configs_default_check", "NOT is_default OR (is_enabled AND deleted_at IS NULL)")
@Check("model_configs_context_limit_check", "context_limit > 0")
@Check("model_configs_observed_context_limit_check", "observed_context_limit > 0")
@Check("model_configs_observed_output_limit_check", "observed_output_limit > 0")
@Check("model_configs_price_check", PRICES_CHECK)
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

  /** Tokens that fit into one call, as an admin set it; null = not set. */
  @Column("integer", { name: "context_limit", nullable: true })
  contextLimit!: number | null;

  /** Tokens that fit into one call, as the vendor's list or its refusals showed; null = not observed yet. */
  @Column("integer", { name: "observed_context_limit", nullable: true })
  observedContextLimit!: number | null;

  /** The vendor's own call options; the provider's adapter reads them. */
  @Column("jsonb", { name: "provider_options", default: {}, transformer: jsonbText })
  providerOptions!: JsonObject;

  /** Percentage of the context at which history is summarised; 0 to 100. */
  @Column("smallint", { name: "compaction_threshold_percent", default: 70 })
  compactionThresholdPercent!: number;

  /** Null = Parley's default. */
  @Column("integer", { name: "max_output_tokens", nullable: true })
  maxOutputTokens!: number | null;

  /** Most tokens of one answer, as the vendor's refusals showed; null = not observed yet. */
  @Column("integer", { name: "observed_output_limit", nullable: true })
  observedOutputLimit!: number | null;

  /** US dollars per million tokens; null = unpriced, 0 = free. */
  @Column("numeric", { name: "price_input", precision: 20, scale: 10, nullable: true })
  priceInput!: string | null;

  @Column("numeric", { name: "price_output", precision: 20, scale: 10, nullable: true })
  priceOutput!: string | null;

  @Column("numeric", { name: "price_cache_read", precision: 20, scale: 10, nullable: true })
  priceCacheRead!: string | null;

  @Column("numeric", { name: "price_cache_write", precision: 20, scale: 10, nullable: true })
  priceCacheWrite!: string | null;

  @Column("boolean", { name: "is_enabled", default: true })
  isEnabled!: boolean;

  @Column("boolean", { name: "is_default", default: false })
  isDefault!: boolean;

  @Column("timestamptz", { name: "created_at", default: () => "now()" })
  createdAt!: Date;

  /** An admin has created or changed it: the environment and the table of known models do not change it any more. */
  @Column("boolean", { name: "is_edited", default: false })
  isEdited!: boolean;

  @Column("timestamptz", { name: "deleted_at", nullable: true })
  deletedAt!: Date | null;

  @Column("timestamptz", { name: "updated_at", default: () => "now()" })
  updatedAt!: Date;
}
