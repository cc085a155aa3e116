/** What everybody may spend: one row, which the migration has made. */
import { Check, Column, Entity, PrimaryColumn } from "typeorm";
import { LIMIT_PERIODS, type LimitPeriod } from "../../domain/usage/usage-limits.js";
import { int8AsBigint } from "../common/entity-columns.js";

@Entity("usage_limit_policy")
@Check("usage_limit_policy_only_check", "is_only")
@Check("usage_limit_policy_limit_check", "default_limit_micros >= 0")
export class UsageLimitPolicyEntity {
  /** Keeps the row the only one. */
  @PrimaryColumn("boolean", {
    name: "is_only",
    default: true,
    primaryKeyConstraintName: "usage_limit_policy_pkey",
  })
  isOnly!: boolean;

  @Column("boolean", { name: "is_enabled", default: false })
  isEnabled!: boolean;

  @Column("enum", { name: "period", enum: [...LIMIT_PERIODS], enumName: "limit_period", default: "month" })
  period!: LimitPeriod;

  /** Microdollars; null = none. */
  @Column("bigint", { name: "default_limit_micros", nullable: true, transformer: int8AsBigint })
  defaultLimitMicros!: bigint | null;

  @Column("timestamptz", { name: "updated_at", default: () => "now()" })
  updatedAt!: Date;
}
