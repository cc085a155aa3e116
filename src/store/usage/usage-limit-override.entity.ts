/** A user's own spending limit, which replaces the policy's. */
import { Check, Column, Entity, ForeignKey, PrimaryColumn } from "typeorm";
import { int8AsBigint } from "../common/entity-columns.js";
import { UserEntity } from "../users/user.entity.js";

@Entity("usage_limit_overrides")
@Check("usage_limit_overrides_limit_check", "limit_micros >= 0")
export class UsageLimitOverrideEntity {
  @PrimaryColumn("uuid", { name: "user_id", primaryKeyConstraintName: "usage_limit_overrides_pkey" })
  @ForeignKey(() => UserEntity, { name: "usage_limit_overrides_user_fkey", onDelete: "CASCADE" })
  userId!: string;

  /** Microdollars. */
  @Column("bigint", { name: "limit_micros", transformer: int8AsBigint })
  limitMicros!: bigint;

  @Column("timestamptz", { name: "updated_at", default: () => "now()" })
  updatedAt!: Date;
}
