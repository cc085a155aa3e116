import { expect, test } from "vitest";
import { permissionsOf } from "./permissions.js";
import { roleWithin, TOKEN_SCOPES, type TokenScope, type UserRole } from "./viewer.js";

const ALL_OF_ADMINS = [
  "read_all_chats",
  "read_all_costs",
  "read_audit_log",
  "manage_users",
  "manage_models",
  "manage_mcp_servers",
  "manage_limits",
  "manage_deployment",
];

test.each<[UserRole, readonly TokenScope[], string[]]>([
  ["member", TOKEN_SCOPES, ["use_chats"]],
  ["admin", TOKEN_SCOPES, ["use_chats", ...ALL_OF_ADMINS]],
  ["member", ["read", "admin"], []],
  ["admin", ["read", "chat"], ["use_chats"]],
  ["admin", ["read"], []],
  ["admin", ["read", "admin"], ALL_OF_ADMINS],
])("a %s whose token has the scopes %j may: %j", (role, scopes, permissions) => {
  const viewer = { userId: "1", username: "ada", name: "Ada", expiresAt: null };
  const credential = { kind: "token" as const, scopes };
  expect(permissionsOf({ ...viewer, role: roleWithin(role, scopes), credential })).toEqual(permissions);
});
