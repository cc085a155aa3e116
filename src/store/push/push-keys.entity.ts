/** The key pair that notifications are signed with; one row. */
import { Check, Column, Entity, PrimaryColumn, Unique } from "typeorm";
import { SealedColumn } from "../common/sealed-column.js";

@Entity("push_keys")
@Unique("push_keys_only_key", ["isOnly"])
@Check("push_keys_only_check", "is_only")
export class PushKeysEntity {
  @PrimaryColumn("uuid", { name: "id", primaryKeyConstraintName: "push_keys_pkey" })
  id!: string;

  @Column("boolean", { name: "is_only", default: true })
  isOnly!: boolean;

  /** As browsers take it: an uncompressed point of P-256 in base64url. */
  @Column("text", { name: "public_key" })
  publicKey!: string;

  /** Sealed by the secret box. */
  @SealedColumn("push_keys", "private_key")
  privateKey!: string;

  @Column("timestamptz", { name: "created_at", default: () => "now()" })
  createdAt!: Date;
}
