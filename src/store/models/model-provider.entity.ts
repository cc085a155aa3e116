/** A vendor's endpoint. Its key is sealed here, or stays in the environment and the row names the variable. */
import { Check, Column, Entity, Index, PrimaryColumn } from "typeorm";
import { MODEL_PROVIDER_KINDS, type ModelProviderKind } from "../../domain/common/failures.js";
import { KEY_POLICIES, type KeyPolicy } from "../../domain/models/model-keys.js";
import { SealedColumn } from "../common/sealed-column.js";

@Entity("model_providers")
@Index("model_providers_name_key", ["displayName"], { unique: true, where: "deleted_at IS NULL" })
@Check("model_providers_openai_api_check", "openai_api IN ('responses', 'chat')")
export class ModelProviderEntity {
  @PrimaryColumn("uuid", { name: "id", primaryKeyConstraintName: "model_providers_pkey" })
  id!: string;

  @Column("enum", { name: "kind", enum: [...MODEL_PROVIDER_KINDS], enumName: "model_provider_kind" })
  kind!: ModelProviderKind;

  @Column("text", { name: "display_name" })
  displayName!: string;

  /** Null = the vendor's own. May contain credentials. */
  @Column("text", { name: "base_url", nullable: true })
  baseUrl!: string | null;

  /** The wire format of an OpenAI provider. */
  @Column("text", { name: "openai_api", default: "responses" })
  openaiApi!: "responses" | "chat";

  /** The environment variable with the key, read at each start; null = it is not from the environment. */
  @Column("text", { name: "api_key_variable", nullable: true })
  apiKeyVariable!: string | null;

  /** The demo model inside the server; its address is not stored but set at each start. */
  @Column("boolean", { name: "is_demo", default: false })
  isDemo!: boolean;

  @Column("boolean", { name: "is_enabled", default: true })
  isEnabled!: boolean;

  @Column("timestamptz", { name: "created_at", default: () => "now()" })
  createdAt!: Date;

  /** Whose key pays. */
  @Column("enum", {
    name: "key_policy",
    enum: [...KEY_POLICIES],
    enumName: "model_key_policy",
    default: "deployment",
  })
  keyPolicy!: KeyPolicy;

  /** Sealed by the secret box; null = none was given to the API. */
  @SealedColumn("model_providers", "api_key", { nullable: true })
  apiKey!: string | null;

  /** Whether an address that an admin chose may be in a private network. */
  @Column("boolean", { name: "allows_private_addresses", default: false })
  allowsPrivateAddresses!: boolean;

  /** An admin has chosen the address: the environment sets neither it nor the key any more. */
  @Column("boolean", { name: "is_address_own", default: false })
  isAddressOwn!: boolean;

  /** An admin has chosen the wire format: the environment does not set it any more. */
  @Column("boolean", { name: "is_format_own", default: false })
  isFormatOwn!: boolean;

  /** Null = it is there. */
  @Column("timestamptz", { name: "deleted_at", nullable: true })
  deletedAt!: Date | null;

  @Column("timestamptz", { name: "updated_at", default: () => "now()" })
  updatedAt!: Date;
}
