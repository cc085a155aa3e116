/** Entries of a workspace's `.mcp.json`: what they would start, and the permission that they need first. Pure. */

/** An entry as it is written, before variables are expanded: everything that decides what is started or connected to. */
export type WorkspaceMcpEntry = { name: string } & (
  | { transport: "stdio"; command: string; args: string[]; env: Record<string, string> }
  | { transport: "http" | "sse"; url: string; headers: Record<string, string> }
);

/** Longest entry, so that a person can be shown all of what they allow. */
export const MAX_ENTRY_CHARACTERS = 16_384;
/** Entries of one workspace that users have allowed. */
export const MAX_ALLOWED_ENTRIES = 200;

/** What may start: entries that users have allowed, and those that the deployment's setting allows. */
export type McpPermissions = {
  /** Grows with every change that users make: an agent ignores permissions older than those it has. */
  revision: number;
  isEverything: boolean;
  /** `sha256:` and 64 hexadecimal digits each. */
  hashes: readonly string[];
  /** Hosts of remote servers, with the port unless it is the protocol's own. */
  hosts: readonly string[];
};

/** What an agent may start before a server has told it. */
export const NO_MCP_PERMISSIONS: McpPermissions = {
  revision: -1,
  isEverything: false,
  hashes: [],
  hosts: [],
};

/** The text whose hash identifies an entry: equal for equal entries, whatever the order of their fields. */
export function entryText(entry: WorkspaceMcpEntry): string {
  const what =
    entry.transport === "stdio"
      ? [entry.command, entry.args, sorted(entry.env)]
      : [entry.url, sorted(entry.headers)];
  return JSON.stringify([entry.name, entry.transport, ...what]);
}

function sorted(record: Record<string, string>): [string, string][] {
  return Object.entries(record).sort(([one], [other]) => (one < other ? -1 : 1));
}

/** `hash`: of the entry. */
export function isEntryAllowed(permissions: McpPermissions, entry: WorkspaceMcpEntry, hash: string): boolean {
  if (permissions.isEverything || permissions.hashes.includes(hash)) return true;
  if (entry.transport === "stdio") return false;
  const host = plainHostOf(entry.url);
  return host !== null && permissions.hosts.includes(host);
}

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * The host of a URL, for rules about hosts. Null where a rule must not speak for it: variables before the path could
 * make it another host, and over plain HTTP anybody on the way could answer.
 */
function plainHostOf(url: string): string | null {
  const isFixed = /^https?:\/\/[^/?#\\$@\s]+([/?#]|$)/i.test(url);
  if (!isFixed || !URL.canParse(url)) return null;
  const { protocol, host, hostname } = new URL(url);
  return protocol === "https:" || LOOPBACK.has(hostname) ? host : null;
}
