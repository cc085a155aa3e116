/** Lookup of objects by global ID. */
import { Arg, Ctx, ID, Query, Resolver } from "type-graphql";
import { type IdKind, decodeId, kindOf } from "../../domain/common/ids.js";
import { Node } from "../../schema/common/node.interface.js";
import { findAuditLogEntry } from "../../store/users/audit-log.js";
import { findGitConnection } from "../../store/git/git-connections.js";
import { findPushSubscription } from "../../store/push/push.js";
import { findToken } from "../../store/users/tokens.js";
import type { WorkspaceTemplateRecord } from "../../store/workspaces/workspace-templates.js";
import type { Context } from "./context.js";
import { badInput } from "./errors.js";
import { toMcpServer } from "../mcp/mcp-server-shape.js";
import { toModelConfig, toModelProvider } from "../models/model-shape.js";
import {
  toAuditLogEntry,
  toApiToken,
  toChat,
  toChatMessage,
  toFile,
  toGitHostAccount,
  toPushSubscription,
  toQueuedMessage,
  toUser,
  toWorkspace,
  toWorkspaceTemplate,
} from "./shapes.js";

/** The maximum page size. */
const MAX_NODES = 100;

@Resolver(() => Node)
export class NodeResolver {
  @Query(() => Node, {
    nullable: true,
    description: "Looks up an object by ID. Null if it does not exist or is not visible to the viewer.",
  })
  node(
    @Arg("id", () => ID, { description: "The object's ID." }) id: string,
    @Ctx() context: Context,
  ): Promise<Node | null> {
    return findNode(context, id, "id");
  }

  @Query(() => [Node], {
    nullable: "items",
    description:
      "Looks up several objects by ID, at most 100. The result has the order of `ids`, with null where `node` would return null.",
  })
  nodes(
    @Arg("ids", () => [ID], { description: "The objects' IDs." }) ids: string[],
    @Ctx() context: Context,
  ): Promise<(Node | null)[]> {
    if (ids.length > MAX_NODES)
      throw badInput(`ids must have at most ${MAX_NODES} entries, but has ${ids.length}.`);
    return Promise.all(ids.map((id, index) => findNode(context, id, `ids[${index}]`)));
  }
}

async function findNode(context: Context, id: string, field: string): Promise<Node | null> {
  const kind = kindOf(id);
  const value = kind && decodeId(kind, id);
  if (kind === null || value === null) {
    throw badInput(
      `${field} must be an ID issued by this server, but is ${JSON.stringify(id.slice(0, 80))}.`,
    );
  }
  return findOfKind(context, kind, value);
}

async function findOfKind(context: Context, kind: IdKind, id: string): Promise<Node | null> {
  const { loaders } = context;
  switch (kind) {
    case "chat":
      return shaped(await loaders.chats.load(id), toChat);
    case "msg":
      return shaped(await loaders.messages.load(id), toChatMessage);
    case "que":
      return shaped(await loaders.queuedMessages.load(id), toQueuedMessage);
    case "user":
      return isVisibleUser(context, id) ? shaped(await loaders.users.load(id), toUser) : null;
    case "prov":
      return shaped(present(await loaders.providers.load(id)), (record) => toModelProvider(record, context));
    case "model":
      return shaped(present(await loaders.modelConfigs.load(id)), (record) => toModelConfig(record, context));
    case "file":
      return shaped(await loaders.files.load(id), toFile);
    case "mcp":
      return shaped(await loaders.mcpServers.load(id), (record) => toMcpServer(record, context.viewer));
    case "ws":
      return shaped(await loaders.workspaces.load(id), toWorkspace);
    case "tpl":
      return shaped(visibleTemplate(context, await loaders.workspaceTemplates.load(id)), (record) =>
        toWorkspaceTemplate(record, context.viewer),
      );
    case "git":
      // Only visible to their owner: few, and rarely looked up by ID.
      return shaped(await findGitConnection(context.database, context.viewer.userId, id), toGitHostAccount);
    case "push":
      return shaped(
        await findPushSubscription(context.database, context.viewer.userId, id),
        toPushSubscription,
      );
    case "audit":
      return shaped(await findAuditLogEntry(context.database, context.viewer, id), toAuditLogEntry);
    case "token":
      return shaped(await findToken(context.database, context.viewer.userId, id), toApiToken);
  }
}

function shaped<Row, Shape>(row: Row | null, shape: (row: Row) => Shape): Shape | null {
  return row === null ? null : shape(row);
}

/** Deleted objects are only visible where they were used. */
function present<Row extends { isDeleted: boolean }>(row: Row | null): Row | null {
  return row?.isDeleted ? null : row;
}

/** Disabled templates are only visible where they were used, and to admins. */
function visibleTemplate({ viewer }: Context, record: WorkspaceTemplateRecord | null) {
  return record?.isEnabled || viewer.role === "admin" ? record : null;
}

/** Users can look up themselves, admins any user. Other users are only visible through a shared chat. */
function isVisibleUser({ viewer }: Context, id: string): boolean {
  return viewer.userId === id || viewer.role === "admin";
}
