/** A user's account at an identity provider, with what the provider gave out for them. */
import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from "typeorm";
import { timestampAsMs } from "../common/entity-columns.js";
import { SealedColumn } from "../common/sealed-column.js";
import { UserEntity } from "./user.entity.js";

@Entity("user_identities")
@Unique("user_identities_subject_key", ["issuer", "subject"])
@Index("user_identities_user_idx", ["userId", "signedInAt"])
export class UserIdentityEntity {
  @PrimaryColumn("uuid", { name: "id", primaryKeyConstraintName: "user_identities_pkey" })
  id!: string;

  @Column("uuid", { name: "user_id" })
  @ForeignKey(() => UserEntity, { name: "user_identities_user_fkey", onDelete: "CASCADE" })
  userId!: string;

  @Column("text", { name: "issuer" })
  issuer!: string;

  @Column("text", { name: "subject" })
  subject!: string;

  /** Sealed by the secret box; null = the provider gave none. */
  @SealedColumn("user_identities", "access_token", { nullable: true })
  accessToken!: string | null;

  /** Sealed by the secret box; null = the provider gave none. */
  @SealedColumn("user_identities", "refresh_token", { nullable: true })
  refreshToken!: string | null;

  /** Sealed by the secret box; null = the provider gave none. */
  @SealedColumn("user_identities", "id_token", { nullable: true })
  idToken!: string | null;

  /** Of the access token, in milliseconds since the epoch; null = not known. */
  @Column("timestamptz", { name: "token_expires_at", nullable: true, transformer: timestampAsMs })
  expiresAt!: number | null;

  /** The claim of the renewal in progress; null = none. */
  @Column("uuid", { name: "refresh_claim", nullable: true })
  refreshClaim!: string | null;

  /** Until when others leave it to them. */
  @Column("timestamptz", { name: "refresh_claimed_until", nullable: true })
  refreshClaimedUntil!: Date | null;

  @Column("timestamptz", { name: "created_at", default: () => "now()" })
  createdAt!: Date;

  @Column("timestamptz", { name: "signed_in_at", default: () => "now()" })
  signedInAt!: Date;
}
