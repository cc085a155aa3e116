/** A user's own key for a model provider. */
import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from "typeorm";
import { ModelProviderEntity } from "./model-provider.entity.js";
import { SealedColumn } from "../common/sealed-column.js";
import { UserEntity } from "../users/user.entity.js";

@Entity("user_provider_keys")
@Unique("user_provider_keys_person_key", ["userId", "providerId"])
@Index("user_provider_keys_provider_idx", ["providerId"])
export class UserProviderKeyEntity {
  @PrimaryColumn("uuid", { name: "id", primaryKeyConstraintName: "user_provider_keys_pkey" })
  id!: string;

  @Column("uuid", { name: "user_id" })
  @ForeignKey(() => UserEntity, { name: "user_provider_keys_user_fkey", onDelete: "CASCADE" })
  userId!: string;

  @Column("uuid", { name: "provider_id" })
  @ForeignKey(() => ModelProviderEntity, { name: "user_provider_keys_provider_fkey", onDelete: "CASCADE" })
  providerId!: string;

  /** Sealed by the secret box. */
  @SealedColumn("user_provider_keys", "api_key")
  apiKey!: string;

  @Column("timestamptz", { name: "created_at", default: () => "now()" })
  createdAt!: Date;
}
