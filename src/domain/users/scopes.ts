/** Token scopes that an operation requires. */
import type { TokenScope } from "./viewer.js";

/** Mutations for admins only; all others are open to members. */
const ADMIN_MUTATIONS: ReadonlySet<string> = new Set([
  "createUser",
  "updateUser",
  "setUserRole",
  "deactivateUser",
  "reactivateUser",
  "createMcpServer",
  "updateMcpServer",
  "deleteMcpServer",
  "testMcpServer",
  "updateDeploymentSettings",
  "updateUsageLimitPolicy",
  "setUserUsageLimit",
  "clearUserUsageLimit",
  "setUserStorageLimit",
  "clearUserStorageLimit",
  "createModelProvider",
  "updateModelProvider",
  "deleteModelProvider",
  "createModelConfig",
  "updateModelConfig",
  "deleteModelConfig",
  "createWorkspaceTemplate",
  "updateWorkspaceTemplate",
  "deleteWorkspaceTemplate",
]);

/** `fields`: the operation's root fields. */
export function requiredScopes(
  operation: "query" | "mutation" | "subscription",
  fields: readonly string[],
): TokenScope[] {
  if (operation !== "mutation") return ["read"];
  const required = fields.map((field): TokenScope => (ADMIN_MUTATIONS.has(field) ? "admin" : "chat"));
  return [...new Set(required)];
}
