/**
 * Which tools of others a turn offers, and by what names: those of the registered servers, then the workspace's own.
 * Our own tools and the client's keep their names, whatever others are called. Pure.
 */
import type { Tool } from "../tools/tool.js";
import { sanitizedNames } from "./tool-names.js";

/** Registered servers' and the workspace's together. Vendors take 128 in all, ours and the client's own among them. */
export const MAX_EXTERNAL_TOOLS = 90;
/** More of them would be a list that nobody reads. */
const MAX_NAMED = 5;

/** A tool of a registered server, named `slug__tool`. */
export type ServerTool = Tool & { serverId: string };

export type ExternalTools = {
  /** Sorted by name. */
  servers: readonly ServerTool[];
  workspace: readonly Tool[];
  /** Names of those that are too many. */
  left: readonly string[];
};

/**
 * A workspace's tool that has a name in `taken` is not offered; a server's is renamed. When there are too many, the
 * workspace's go first, then the last by name.
 */
export function externalTools(
  servers: readonly ServerTool[],
  workspace: readonly Tool[],
  taken: readonly string[],
): ExternalTools {
  const isTaken = new Set(taken);
  const others = workspace.filter(({ name }) => !isTaken.has(name));
  const names = sanitizedNames(
    servers.map(({ name }) => name),
    [...taken, ...others.map(({ name }) => name)],
  );
  const named = servers
    .map((tool) => ({ ...tool, name: names.get(tool.name) ?? tool.name }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const room = Math.max(0, MAX_EXTERNAL_TOOLS - named.length);
  const all = [...named, ...others].map(({ name }) => name);
  const left = [
    ...all.slice(MAX_EXTERNAL_TOOLS, named.length),
    ...others.slice(room).map(({ name }) => name),
  ];
  return { servers: named.slice(0, MAX_EXTERNAL_TOOLS), workspace: others.slice(0, room), left };
}

/** What people are told of those that are too many. */
export function omittedToolsText(left: readonly string[]): string {
  const named = left.slice(0, MAX_NAMED).join(", ");
  const more = left.length > MAX_NAMED ? `, and ${left.length - MAX_NAMED} more` : "";
  return `A model is offered at most ${MAX_EXTERNAL_TOOLS} tools of tool servers. Not offered: ${named}${more}.`;
}
