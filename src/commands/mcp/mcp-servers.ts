/** Admin commands on MCP servers: each is one transaction with its audit entry, then announced to all replicas. */
import { randomUUID } from "node:crypto";
import { auditChanges } from "../../domain/users/audit.js";
import { encodeId } from "../../domain/common/ids.js";
import type { McpServerSettings } from "../../domain/mcp/types.js";
import type { Problem } from "../../domain/mcp/field-rules.js";
import {
  invalidatesAuthorizations,
  type McpServerChange,
  type NewMcpServer,
  planMcpServerChange,
  planNewMcpServer,
} from "../../domain/mcp/server-rules.js";
import type { Actor } from "../../domain/users/viewer.js";
import type { Queryable } from "../../store/common/database.js";
import {
  countMcpServers,
  deleteMcpServer as deleteRow,
  forgetMcpAuthorizations,
  insertMcpServer,
  lockMcpServer,
  type McpServerRecord,
  updateMcpServer as updateRow,
} from "../../store/mcp/mcp-servers.js";
import { type AdminWork, asAdmin } from "../users/admin.js";
import type { CommandRefusal, CommandResult } from "../common/command-result.js";
import type { CommandDependencies } from "../common/command-dependencies.js";
import { readStoredSecrets, sealSecrets } from "./server-secrets.js";

/** Lists of MCP servers are not paginated. */
const MAX_MCP_SERVERS = 200;

export async function createMcpServer(
  dependencies: CommandDependencies,
  actor: Actor,
  wanted: NewMcpServer,
): Promise<CommandResult<{ server: McpServerRecord }>> {
  return announced(
    dependencies,
    await asAdmin(
      dependencies,
      actor,
      async (transaction): Promise<AdminWork<{ server: McpServerRecord }>> => {
        const plan = planNewMcpServer(wanted);
        if (!plan.ok) return refused(...plan.problems.map(invalid));
        if ((await countMcpServers(transaction)) >= MAX_MCP_SERVERS) {
          const message = `At most ${MAX_MCP_SERVERS} MCP servers can be registered. Delete one first.`;
          return refused({ code: "LIMIT_EXCEEDED", message });
        }
        const id = randomUUID();
        const sealed = sealSecrets(dependencies.secrets, { id, before: null }, plan.secrets);
        const values = { id, ...plan.settings, oauthDiscovered: null, sealed };
        const server = await insertMcpServer(transaction, values, actor.userId);
        if (server === null) {
          return refused({ code: "CONFLICT", message: "Another server has this slug.", path: ["slug"] });
        }
        return { ok: true, result: { server }, audit: auditEntry("created", null, server) };
      },
    ),
  );
}

/** Absent = unchanged. Writes and announces nothing when nothing differs. */
export async function updateMcpServer(
  dependencies: CommandDependencies,
  actor: Actor,
  { serverId, ...change }: McpServerChange & { serverId: string },
): Promise<CommandResult<{ server: McpServerRecord }>> {
  return announced(
    dependencies,
    await asAdmin(
      dependencies,
      actor,
      async (transaction): Promise<AdminWork<{ server: McpServerRecord }>> => {
        const before = await lockMcpServer(transaction, serverId);
        if (before === null) return refused(NO_SUCH_SERVER);
        const settings = settingsOf(before);
        const secrets = readStoredSecrets(dependencies.secrets, before);
        const plan = planMcpServerChange({ settings, secrets }, change);
        if (!plan.ok) return refused(...plan.problems.map(invalid));
        const sealed = sealSecrets(dependencies.secrets, { id: serverId, before }, plan.secrets);
        const changed = await saveChange(
          transaction,
          { before, settings: plan.settings, sealed },
          actor.userId,
        );
        if (changed === null) return { ok: true, result: { server: before }, audit: null };
        return { ok: true, result: { server: changed }, audit: auditEntry("updated", before, changed) };
      },
    ),
  );
}

/** Deletes the server with users' authorizations for it. Chats that selected it go on without it. */
export async function deleteMcpServer(
  dependencies: CommandDependencies,
  actor: Actor,
  serverId: string,
): Promise<CommandResult<{ serverId: string }>> {
  return announced(
    dependencies,
    await asAdmin(dependencies, actor, async (transaction): Promise<AdminWork<{ serverId: string }>> => {
      const gone = await deleteRow(transaction, serverId);
      if (gone === null) return refused(NO_SUCH_SERVER);
      return { ok: true, result: { serverId }, audit: auditEntry("deleted", gone, null) };
    }),
  );
}

export const NO_SUCH_SERVER: CommandRefusal = {
  code: "NOT_FOUND",
  message: "There is no such MCP server.",
  path: ["serverId"],
};

type ServerUpdate = {
  before: McpServerRecord;
  settings: McpServerSettings;
  sealed: McpServerRecord["sealed"];
};

/**
 * Null when nothing differs. Users' authorizations and discovered metadata are deleted when the server becomes another
 * one: tokens must not be sent to another address than the one that they were issued for.
 */
async function saveChange(
  transaction: Queryable,
  { before, settings, sealed }: ServerUpdate,
  actorId: string,
): Promise<McpServerRecord | null> {
  const isAnother = invalidatesAuthorizations(settingsOf(before), settings);
  const known = isAnother
    ? { oauthDiscovered: null, sealed: { ...sealed, oauthRegisteredSecret: null } }
    : { oauthDiscovered: before.oauthDiscovered, sealed };
  const after = { id: before.id, ...settings, ...known };
  if (Object.keys(auditChanges(audited(before), audited(after), SECRET_FIELDS)).length === 0) return null;
  if (isAnother) await forgetMcpAuthorizations(transaction, before.id);
  return updateRow(transaction, after, actorId);
}

function settingsOf(record: McpServerRecord): McpServerSettings {
  const {
    id: _id,
    oauthDiscovered: _discovered,
    version: _version,
    updatedAt: _at,
    sealed: _sealed,
    ...settings
  } = record;
  return settings;
}

const SECRET_FIELDS = ["oauthClientSecret", "apiKey", "customHeaders"];

/** The admin's settings, as compared for the audit log. */
function audited(server: Pick<McpServerRecord, "sealed"> & McpServerSettings) {
  const { oauthClientSecret, apiKey, customHeaders } = server.sealed;
  const settings: McpServerSettings = {
    slug: server.slug,
    displayName: server.displayName,
    description: server.description,
    iconUrl: server.iconUrl,
    url: server.url,
    transport: server.transport,
    authKind: server.authKind,
    oauthClientId: server.oauthClientId,
    oauthAuthorizeUrl: server.oauthAuthorizeUrl,
    oauthTokenUrl: server.oauthTokenUrl,
    oauthScopes: server.oauthScopes,
    apiKeyHeader: server.apiKeyHeader,
    toolAllowList: server.toolAllowList,
    toolDenyList: server.toolDenyList,
    availability: server.availability,
    isEnabled: server.isEnabled,
    allowsPrivateAddresses: server.allowsPrivateAddresses,
  };
  return { ...settings, oauthClientSecret, apiKey, customHeaders };
}

function auditEntry(
  verb: "created" | "updated" | "deleted",
  before: McpServerRecord | null,
  after: McpServerRecord | null,
) {
  const named = after ?? before;
  return {
    action: `mcp_server_${verb}` as const,
    targetId: named && encodeId("mcp", named.id),
    targetName: named && named.displayName,
    changes: auditChanges(before && audited(before), after && audited(after), SECRET_FIELDS),
  };
}

/** Announces a change after its commit, so that replicas that reload read the committed state. */
function announced<T>(dependencies: CommandDependencies, result: CommandResult<T>): CommandResult<T> {
  if (result.ok) dependencies.bus.publishConfigChange("mcp-servers");
  return result;
}

function invalid({ message, path }: Problem): CommandRefusal {
  return { code: "INVALID", message, path };
}

/** One refusal with all problems, the first before the others. */
function refused(...[first, ...others]: CommandRefusal[]): { ok: false; refusal: CommandRefusal } {
  if (first === undefined) throw new Error("A refusal needs a reason.");
  return { ok: false, refusal: others.length === 0 ? first : { ...first, others } };
}
