/** Kinds of configuration that every replica caches in memory for a few seconds. */
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
 * `people`: roles and other settings of users. `usage-limits`: the deployment's and individual users'. `storage-limits`:
 * individual users'. `push`: browsers subscribed to notifications. `workspaces`: templates, and the status of workspaces
 * made from them.
 */
export type ConfigTopic = (typeof CONFIG_TOPICS)[number];
