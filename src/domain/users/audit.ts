/** Audit log entries: actions, actors, and the recorded form of changed fields. Pure. */
import type { JsonObject, JsonValue } from "../common/json.js";

/** Every action with the kind of its target. An entry is committed together with the change, or not at all. */
export const AUDIT_ACTIONS = {
  mcp_server_created: "mcp_server",
  mcp_server_updated: "mcp_server",
  mcp_server_deleted: "mcp_server",
  mcp_server_tested: "mcp_server",
  model_provider_created: "model_provider",
  model_provider_updated: "model_provider",
  model_provider_deleted: "model_provider",
  model_config_created: "model_config",
  model_config_updated: "model_config",
  model_config_deleted: "model_config",
  user_created: "user",
  user_updated: "user",
  user_role_changed: "user",
  user_deactivated: "user",
  user_reactivated: "user",
  api_token_created: "user",
  usage_limit_policy_updated: "usage_limits",
  user_usage_limit_set: "user",
  user_usage_limit_cleared: "user",
  user_storage_limit_set: "user",
  user_storage_limit_cleared: "user",
  workspace_created: "workspace",
  workspace_token_replaced: "workspace",
  workspace_removed: "workspace",
  workspace_mcp_server_allowed: "workspace",
  workspace_mcp_server_forbidden: "workspace",
  workspace_template_created: "workspace_template",
  workspace_template_updated: "workspace_template",
  workspace_template_deleted: "workspace_template",
  secrets_rotated: "secrets",
  deployment_updated: "deployment",
  chat_read: "chat",
  file_read: "file",
  chats_listed: "user",
  model_calls_read: "chat",
} as const;

export type AuditAction = keyof typeof AUDIT_ACTIONS;
export type AuditTargetKind = (typeof AUDIT_ACTIONS)[AuditAction];

/** The user or operator who performed the action. */
export type AuditActor = {
  /** Null = the server's operator, on the command line. */
  userId: string | null;
  /** The name at that time; it outlives the account. */
  name: string;
  /** Null outside requests. */
  requestId: string | null;
};

/** The actor of `parley` commands on the server's machine. */
export const OPERATOR: AuditActor = { userId: null, name: "operator", requestId: null };

/** A changed field. For a secret only that it was set or cleared, never its value. */
type AuditFieldChange = { before: JsonValue; after: JsonValue } | { set: true } | { cleared: true };
type AuditChanges = { [field: string]: AuditFieldChange };

/** An entry before it has an id and a time. */
export type AuditEntry = {
  action: AuditAction;
  /** The public id; null where there is only one of the kind. */
  targetId: string | null;
  /** The display name at that time. */
  targetName: string | null;
  changes: AuditChanges;
};

/** Longer values are truncated: the log records changes, it is no backup. */
export const MAX_AUDIT_VALUE_CHARACTERS = 500;
/** More fields than any audited record has. */
const MAX_AUDIT_FIELDS = 100;
/** Sealed values count as secrets even where `secretFields` does not name them. */
const SEALED = /^v1\.[A-Za-z0-9_-]{1,32}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/** A record to compare; absent fields are null. */
type AuditedRecord = Readonly<Record<string, unknown>>;

/**
 * The differences by field; null is a record that does not exist yet or any more. Fields in `secretFields` may contain
 * the secret, its sealed form or any non-null marker: no value of theirs is recorded. A secret present before and after
 * counts as set when the two differ.
 */
export function auditChanges(
  before: AuditedRecord | null,
  after: AuditedRecord | null,
  secretFields: readonly string[] = [],
): AuditChanges {
  const secrets = new Set(secretFields);
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const changed = fields.slice(0, MAX_AUDIT_FIELDS).flatMap((field): [string, AuditFieldChange][] => {
    const [old, now] = [before?.[field] ?? null, after?.[field] ?? null];
    if (JSON.stringify(old) === JSON.stringify(now)) return [];
    if (secrets.has(field) || isSealed(old) || isSealed(now)) {
      return [[field, now === null ? { cleared: true } : { set: true }]];
    }
    return [[field, { before: bounded(old), after: bounded(now) }]];
  });
  return Object.fromEntries(changed);
}

function isSealed(value: unknown): boolean {
  return typeof value === "string" && SEALED.test(value);
}

/** The value, or its truncated text. */
function bounded(value: unknown): JsonValue {
  if (typeof value === "string") return cut(value);
  const text = JSON.stringify(value) ?? "null";
  return text.length <= MAX_AUDIT_VALUE_CHARACTERS ? (JSON.parse(text) as JsonValue) : cut(text);
}

function cut(text: string): string {
  return text.length <= MAX_AUDIT_VALUE_CHARACTERS ? text : `${text.slice(0, MAX_AUDIT_VALUE_CHARACTERS)}…`;
}

/** A changed field as it is read. Where `isSecret`, before and after are null and `isSet` says what happened. */
export type ReadAuditChange = {
  field: string;
  before: JsonValue;
  after: JsonValue;
  isSecret: boolean;
  /** For a secret, whether there is one now; null for other fields. */
  isSet: boolean | null;
};

/** Reads the stored form, sorted by field. */
export function readAuditChanges(stored: JsonObject): ReadAuditChange[] {
  return Object.entries(stored)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([field, change]): ReadAuditChange[] => {
      if (typeof change !== "object" || change === null || Array.isArray(change)) return [];
      const isSecret = "set" in change || "cleared" in change;
      if (isSecret) return [{ field, before: null, after: null, isSecret, isSet: "set" in change }];
      return [
        { field, before: change["before"] ?? null, after: change["after"] ?? null, isSecret, isSet: null },
      ];
    });
}
