/** A vendor's endpoint. Its key stays in the environment; the row only names the variable. */
import { Check, Column, Entity, PrimaryColumn } from "typeorm";
import { MODEL_PROVIDER_KINDS, type ModelProviderKind } from "../../domain/failures.js";

@Entity("model_providers")
@Check("model_providers_openai_api_check", "openai_api IN ('responses', 'chat')")
export class ModelProviderEntity {
  @PrimaryColumn("uuid", { name: "id", primaryKeyConstraintName: "model_providers_pkey" })
  id!: string;

  @Column("enum", { name: "kind", enum: [...MODEL_PROVIDER_KINDS], enumName: "model_provider_kind" })
  kind!: ModelProviderKind;

  @Column("text", { name: "display_name" })
  displayName!: string;

  /** Null = the vendor's own. */
  @Column("text", { name: "base_url", nullable: true })
  baseUrl!: string | null;

  /** Which wire format an OpenAI provider speaks. */
  @Column("text", { name: "openai_api", default: "responses" })
  openaiApi!: "responses" | "chat";

  /** The environment variable with the key, read at each start; null = no key is needed. */
  @Column("text", { name: "api_key_variable", nullable: true })
  apiKeyVariable!: string | null;

  /** The embedded demo model's provider gets its address anew at each start. */
  @Column("boolean", { name: "is_demo", default: false })
  isDemo!: boolean;

  @Column("boolean", { name: "is_enabled", default: true })
  isEnabled!: boolean;

  @Column("timestamptz", { name: "created_at", default: () => "now()" })
  createdAt!: Date;
}
