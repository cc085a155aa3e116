/** A secret that lets a program or a browser act as a user. Only its hash is stored. */
import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from "typeorm";
import { TOKEN_SCOPES, type TokenScope } from "../../domain/users/viewer.js";
import { UserEntity } from "./user.entity.js";

@Entity("api_tokens")
@Unique("api_tokens_token_hash_key", ["tokenHash"])
@Index("api_tokens_user_idx", ["userId"])
export class ApiTokenEntity {
  @PrimaryColumn("uuid", { name: "id", primaryKeyConstraintName: "api_tokens_pkey" })
  id!: string;

  @Column("uuid", { name: "user_id" })
  @ForeignKey(() => UserEntity, { name: "api_tokens_user_fkey", onDelete: "CASCADE" })
  userId!: string;

  @Column("text", { name: "name" })
  name!: string;

  /** SHA-256 of the token; the token itself is 256 random bits, so no salt or slow hash is needed. */
  @Column("bytea", { name: "token_hash" })
  tokenHash!: Buffer;

  @Column("timestamptz", { name: "created_at", default: () => "now()" })
  createdAt!: Date;

  /** To the minute; null = never used. */
  @Column("timestamptz", { name: "last_used_at", nullable: true })
  lastUsedAt!: Date | null;

  /** Null = it does not expire. */
  @Column("timestamptz", { name: "expires_at", nullable: true })
  expiresAt!: Date | null;

  /** What it may be used for. */
  @Column("enum", {
    name: "scopes",
    enum: [...TOKEN_SCOPES],
    enumName: "token_scope",
    array: true,
    default: [...TOKEN_SCOPES],
  })
  scopes!: TokenScope[];
}
