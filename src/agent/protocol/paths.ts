/** HTTP paths of the workspace agent. Every route requires `Authorization: Bearer`. */

/** Raised when an older server could no longer understand this agent. */
export const AGENT_PROTOCOL_VERSION = 2;

export const AGENT_PATHS = {
  health: "/v1/health",
  processes: "/v1/processes",
  processOutput: (id: string) => `/v1/processes/${encodeURIComponent(id)}/output`,
  processStream: (id: string) => `/v1/processes/${encodeURIComponent(id)}/stream`,
  processSignal: (id: string) => `/v1/processes/${encodeURIComponent(id)}/signal`,
  readLines: "/v1/files/read-lines",
  readBytes: "/v1/files/read-bytes",
  listDirectory: "/v1/files/list-directory",
  resolvePath: "/v1/files/resolve-path",
  writeFile: "/v1/files/write",
  editFiles: "/v1/files/edit",
  findFiles: "/v1/files/find",
  searchFiles: "/v1/files/search",
  /** A WebSocket; see `protocol/git.ts`. */
  gitWatch: "/v1/git/watch",
  /** A WebSocket; see `protocol/control-channel.ts`. */
  controlChannel: "/v1/control-channel",
  metrics: "/metrics",
  context: "/v1/context",
  readSkill: "/v1/context/read-skill",
  readSkillFile: "/v1/context/read-skill-file",
  mcpTools: "/v1/mcp/tools",
  mcpCall: "/v1/mcp/call",
} as const;

/** Groups of routes that this version of the agent has, for example `files`. */
export const AGENT_CAPABILITIES: string[] = [...new Set(Object.values(AGENT_PATHS).flatMap(capabilityOf))];

/** `/v1/files/write` belongs to `files`. */
function capabilityOf(path: unknown): string[] {
  const capability = typeof path === "string" ? /^\/v1\/([a-z-]+)/.exec(path)?.[1] : undefined;
  return capability === undefined || capability === "health" ? [] : [capability];
}
