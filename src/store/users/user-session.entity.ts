/** A browser's sign-in session. Only the hash of its cookie is stored. */
import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from "typeorm";
import { UserIdentityEntity } from "./user-identity.entity.js";
import { UserEntity } from "./user.entity.js";

@Entity("user_sessions")
@Unique("user_sessions_token_hash_key", ["tokenHash"])
@Index("user_sessions_user_idx", ["userId"])
@Index("user_sessions_expiry_idx", ["expiresAt"])
export class UserSessionEntity {
  @PrimaryColumn("uuid", { name: "id", primaryKeyConstraintName: "user_sessions_pkey" })
  id!: string;

  @Column("uuid", { name: "user_id" })
  @ForeignKey(() => UserEntity, { name: "user_sessions_user_fkey", onDelete: "CASCADE" })
  userId!: string;

  @Column("uuid", { name: "identity_id" })
  @ForeignKey(() => UserIdentityEntity, { name: "user_sessions_identity_fkey", onDelete: "CASCADE" })
  identityId!: string;

  /** SHA-256 of the cookie, which is 256 random bits. */
  @Column("bytea", { name: "token_hash" })
  tokenHash!: Buffer;

  @Column("timestamptz", { name: "created_at", default: () => "now()" })
  createdAt!: Date;

  @Column("timestamptz", { name: "last_seen_at", default: () => "now()" })
  lastSeenAt!: Date;

  /** However much it is used. */
  @Column("timestamptz", { name: "expires_at" })
  expiresAt!: Date;

  @Column("timestamptz", { name: "idle_expires_at" })
  idleExpiresAt!: Date;
}
