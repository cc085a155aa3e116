/** The audit log. */
import { Arg, Args, Ctx, FieldResolver, Query, Resolver, Root } from "type-graphql";
import { kindOf } from "../../domain/common/ids.js";
import {
  AuditLogEntry,
  AuditLogEntryConnection,
  AuditLogFilterInput,
} from "../../schema/users/audit-log.type.js";
import { type Connection, ForwardPageArguments } from "../../schema/common/connection.js";
import { User } from "../../schema/users/user.type.js";
import { type AuditLogFilter, listAuditLog } from "../../store/users/audit-log.js";
import type { Context } from "../common/context.js";
import { readDateRange } from "../usage/date-range.js";
import { badInput } from "../common/errors.js";
import { AUDIT_LOG_LIST, toConnection, toPageRequest } from "../common/page-requests.js";
import { optionalDatabaseId } from "../common/public-ids.js";
import { toAuditLogEntry, toUser } from "../common/shapes.js";

@Resolver(() => AuditLogEntry)
export class AuditLogResolver {
  @Query(() => AuditLogEntryConnection, {
    description:
      "Actions of admins and the server's operator, newest first. Default page size: 25. Admins only.",
  })
  async auditLog(
    @Arg("filter", () => AuditLogFilterInput, { nullable: true, description: "Filters for the entries." })
    filter: AuditLogFilterInput | null | undefined,
    @Args(() => ForwardPageArguments) args: ForwardPageArguments,
    @Ctx() { database, viewer }: Context,
  ): Promise<Connection<AuditLogEntry>> {
    const wanted = { filter: readFilter(filter ?? {}), page: toPageRequest(AUDIT_LOG_LIST, args) };
    return toConnection(AUDIT_LOG_LIST, await listAuditLog(database, viewer, wanted), toAuditLogEntry);
  }

  @FieldResolver(() => User, {
    nullable: true,
    description:
      "The user who performed the action. Null if the account no longer exists, and for the server's operator.",
  })
  async actor(@Root() entry: AuditLogEntry, @Ctx() { loaders }: Context): Promise<User | null> {
    const record = entry.actorId === null ? null : await loaders.users.load(entry.actorId);
    return record && toUser(record);
  }
}

function readFilter(filter: AuditLogFilterInput): AuditLogFilter {
  if (filter.targetId != null && kindOf(filter.targetId) === null) {
    throw badInput("filter.targetId must be an ID issued by this server.");
  }
  return {
    actorId: optionalDatabaseId("user", filter.actorId, "filter.actorId"),
    actions: filter.actions ?? undefined,
    targetKind: filter.targetKind ?? undefined,
    targetId: filter.targetId ?? undefined,
    range: readDateRange(filter.range, "filter.range"),
  };
}
