/** A user account. */
import { Column, Entity, ForeignKey, PrimaryColumn, Unique } from "typeorm";
import { USER_ROLES, type UserRole } from "../../domain/users/viewer.js";

@Entity("users")
@Unique("users_username_key", ["username"])
export class UserEntity {
  @PrimaryColumn("uuid", { name: "id", primaryKeyConstraintName: "users_pkey" })
  id!: string;

  @Column("text", { name: "username" })
  username!: string;

  @Column("text", { name: "name" })
  name!: string;

  @Column("enum", { name: "role", enum: [...USER_ROLES], enumName: "user_role", default: "member" })
  role!: UserRole;

  /** The user's own addition to every system prompt; empty = none. */
  @Column("text", { name: "custom_prompt", default: "" })
  customPrompt!: string;

  /** The model of the user's new chats; null = the deployment's default. */
  @Column("uuid", { name: "default_model_config_id", nullable: true })
  @ForeignKey("ModelConfigEntity", { name: "users_default_model_config_fkey", onDelete: "SET NULL" })
  defaultModelConfigId!: string | null;

  @Column("timestamptz", { name: "created_at", default: () => "now()" })
  createdAt!: Date;

  /** Null = active. A deactivated user cannot sign in, and none of their tokens counts. */
  @Column("timestamptz", { name: "deactivated_at", nullable: true })
  deactivatedAt!: Date | null;
}
