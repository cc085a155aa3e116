/** What the audit log says of a change: which words there are, and what is told of each changed field. Pure. */
import type { JsonObject, JsonValue } from "../common/json.js";

/** Every action with the kind of thing that it is done to. Each is recorded with the change itself, or not at all. */
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

/** Who did it. */
export type AuditActor = {
  /** Null = the server's operator, who has the machine. */
  userId: string | null;
  /** As it was then; it outlives the account. */
  name: string;
  /** Null outside requests. */
  requestId: string | null;
};

/** Whoever runs `parley` verbs on the machine. */
export const OPERATOR: AuditActor = { userId: null, name: "operator", requestId: null };

/** Of a secret only that it was given or taken away, never what it was or is. */
export type AuditFieldChange = { before: JsonValue; after: JsonValue } | { set: true } | { cleared: true };
export type AuditChanges = { [field: string]: AuditFieldChange };

/** One line, before it has an id and a time. */
export type AuditEntry = {
  action: AuditAction;
  /** Public; null where there is only one of the kind. */
  targetId: string | null;
  /** What people call it, as it was then. */
  targetName: string | null;
  changes: AuditChanges;
};

/** Longer values are cut there: the log says what was changed, it keeps no copies. */
export const MAX_AUDIT_VALUE_CHARACTERS = 500;
/** More fields than any record of ours has. */
const MAX_AUDIT_FIELDS = 100;
/** What the secret box makes is a secret, whoever forgot to say so. */
const SEALED = /^v1\.[A-Za-z0-9_-]{1,32}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/** What may stand in a record that is compared; anything absent is null. */
export type AuditedRecord = Readonly<Record<string, unknown>>;

/**
 * What became different, by field; null is a record that is not there yet or any more. Fields named in `secretFields`
 * may hold the secret, its sealed form or anything that is not null while there is one: none of it is told. A secret
 * that is there before and after counts as given anew when the two differ.
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
    return [[field, { before: shown(old), after: shown(now) }]];
  });
  return Object.fromEntries(changed);
}

function isSealed(value: unknown): boolean {
  return typeof value === "string" && SEALED.test(value);
}

/** The value, or its beginning as text. */
function shown(value: unknown): JsonValue {
  if (typeof value === "string") return cut(value);
  const text = JSON.stringify(value) ?? "null";
  return text.length <= MAX_AUDIT_VALUE_CHARACTERS ? (JSON.parse(text) as JsonValue) : cut(text);
}

function cut(text: string): string {
  return text.length <= MAX_AUDIT_VALUE_CHARACTERS ? text : `${text.slice(0, MAX_AUDIT_VALUE_CHARACTERS)}…`;
}

/** One changed field as people read it. `isSecret`: then before and after are null, and `isSet` says what happened. */
export type ReadAuditChange = {
  field: string;
  before: JsonValue;
  after: JsonValue;
  isSecret: boolean;
  /** Of a secret: whether there is one now; null for other fields. */
  isSet: boolean | null;
};

/** From the stored form, by field. */
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
