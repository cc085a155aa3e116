/** A person's token for a git host. */
import { Column, Entity, ForeignKey, PrimaryColumn, Unique } from "typeorm";
import { UserEntity } from "./user.entity.js";

@Entity("git_connections")
@Unique("git_connections_host_key", ["userId", "host"])
export class GitConnectionEntity {
  @PrimaryColumn("uuid", { name: "id", primaryKeyConstraintName: "git_connections_pkey" })
  id!: string;

  @Column("uuid", { name: "user_id" })
  @ForeignKey(() => UserEntity, { name: "git_connections_user_fkey", onDelete: "CASCADE" })
  userId!: string;

  /** As `readGitHost` writes it. */
  @Column("text", { name: "host" })
  host!: string;

  /** Who the token is there; null until the host was asked. */
  @Column("text", { name: "login", nullable: true })
  login!: string | null;

  /** Sealed by the secret box. */
  @Column("text", { name: "token" })
  token!: string;

  @Column("timestamptz", { name: "connected_at", default: () => "now()" })
  connectedAt!: Date;
}
