/** A web push subscription of a user's browser. */
import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from "typeorm";
import { SealedColumn } from "../common/sealed-column.js";
import { UserEntity } from "../users/user.entity.js";

@Entity("push_subscriptions")
@Unique("push_subscriptions_endpoint_key", ["endpoint"])
@Index("push_subscriptions_user_idx", ["userId", "createdAt"])
export class PushSubscriptionEntity {
  @PrimaryColumn("uuid", { name: "id", primaryKeyConstraintName: "push_subscriptions_pkey" })
  id!: string;

  @Column("uuid", { name: "user_id" })
  @ForeignKey(() => UserEntity, { name: "push_subscriptions_user_fkey", onDelete: "CASCADE" })
  userId!: string;

  /** At the browser's push service; anyone who knows it can have messages delivered, if signed with our key. */
  @Column("text", { name: "endpoint" })
  endpoint!: string;

  /** The browser's public key, in base64url. */
  @Column("text", { name: "p256dh" })
  p256dh!: string;

  /** Sealed by the secret box. */
  @SealedColumn("push_subscriptions", "auth")
  auth!: string;

  @Column("text", { name: "user_agent", nullable: true })
  userAgent!: string | null;

  @Column("timestamptz", { name: "created_at", default: () => "now()" })
  createdAt!: Date;
}
