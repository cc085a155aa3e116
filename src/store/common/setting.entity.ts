/** A setting of the deployment, by name. */
import { Column, Entity, ForeignKey, PrimaryColumn } from "typeorm";
import type { JsonObject } from "../../domain/common/json.js";
import { jsonbText } from "./entity-columns.js";
import { UserEntity } from "../users/user.entity.js";

@Entity("settings")
export class SettingEntity {
  @PrimaryColumn("text", { name: "key", primaryKeyConstraintName: "settings_pkey" })
  key!: string;

  /** Any JSON value; its reader defines the form. */
  @Column("jsonb", { name: "value", transformer: jsonbText })
  value!: JsonObject;

  @Column("timestamptz", { name: "updated_at", default: () => "now()" })
  updatedAt!: Date;

  @Column("uuid", { name: "updated_by", nullable: true })
  @ForeignKey(() => UserEntity, { name: "settings_updated_by_fkey", onDelete: "SET NULL" })
  updatedBy!: string | null;
}
