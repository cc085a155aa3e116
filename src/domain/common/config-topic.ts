/** What admins and people set up and every replica keeps in memory for a moment. */
export const CONFIG_TOPICS = [
  "mcp-servers",
  "models",
  "settings",
  "people",
  "usage-limits",
  "storage-limits",
  "push",
  "workspaces",
] as const;

/**
 * `people`: roles and whatever else is set for a person. `usage-limits`: the deployment's, and those of single people.
 * `storage-limits`: those of single users.
 * `push`: browsers that are told of turns. `workspaces`: templates, and how the workspaces that were made from them stand.
 */
export type ConfigTopic = (typeof CONFIG_TOPICS)[number];
