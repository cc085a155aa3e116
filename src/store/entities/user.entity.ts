/** A person with an account. */
import { Column, Entity, PrimaryColumn, Unique } from "typeorm";
import { USER_ROLES, type UserRole } from "../../domain/viewer.js";

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

  @Column("timestamptz", { name: "created_at", default: () => "now()" })
  createdAt!: Date;
}
