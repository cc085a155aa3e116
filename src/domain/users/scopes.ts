/** What a token must be good for, by the operation that is asked for with it. */
import type { TokenScope } from "./viewer.js";

/** Mutations that belong to admins alone; all others are members' too. */
export const ADMIN_MUTATIONS: ReadonlySet<string> = new Set([
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

/** `fields`: the names of what is asked for at the operation's root. */
export function scopesNeeded(
  operation: "query" | "mutation" | "subscription",
  fields: readonly string[],
): TokenScope[] {
  if (operation !== "mutation") return ["read"];
  const needed = fields.map((field): TokenScope => (ADMIN_MUTATIONS.has(field) ? "admin" : "chat"));
  return [...new Set(needed)];
}
