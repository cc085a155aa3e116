/** Which mutations go on while the server's disk is almost full. Pure. */

/** They end work, or take something away. What they write themselves is a row's change. */
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

/** `fields`: the names of the mutations at an operation's root. */
export function isPossibleOnFullDisk(fields: readonly string[]): boolean {
  return fields.every((field) => ENDING_MUTATIONS.has(field));
}
