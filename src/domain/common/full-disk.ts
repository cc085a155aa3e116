/** The mutations that stay available while the server's disk is almost full. Pure. */

/** Mutations that end work or delete something; each only changes a row. */
export const ENDING_MUTATIONS: ReadonlySet<string> = new Set([
  "interruptChat",
  "archiveChat",
  "deleteQueuedMessage",
  "stopWorkspace",
  "deleteWorkspace",
  "deleteWorkspaceTemplate",
  "deleteMcpServer",
  "deleteModelConfig",
  "deleteModelProvider",
  "disconnectGitHost",
  "disconnectMcpServer",
  "unregisterPushSubscription",
  "revokeApiToken",
  "deactivateUser",
]);

/** Whether an operation may run on a full disk. `fields`: its mutations' root fields. */
export function isPossibleOnFullDisk(fields: readonly string[]): boolean {
  return fields.every((field) => ENDING_MUTATIONS.has(field));
}
