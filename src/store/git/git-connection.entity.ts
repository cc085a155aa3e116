/** A user's token for a git host. */
import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from "typeorm";
import type { GitHostKind } from "../../domain/git/git-hosts.js";
import { SealedColumn } from "../common/sealed-column.js";
import { UserEntity } from "../users/user.entity.js";

@Entity("git_connections")
@Index("git_connections_ask_idx", ["askAt"], { where: "ask_at IS NOT NULL" })
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

  /** What software the host runs; null until it was asked. */
  @Column("text", { name: "kind", nullable: true })
  kind!: GitHostKind | null;

  /** When the host is to be asked who the token is; null when it has said so, or wants none of it. */
  @Column("timestamptz", { name: "ask_at", nullable: true, default: () => "now()" })
  askAt!: Date | null;

  /** Sealed by the secret box. */
  @SealedColumn("git_connections", "token")
  token!: string;

  @Column("timestamptz", { name: "connected_at", default: () => "now()" })
  connectedAt!: Date;
}
