/**
 * Selection and names of a turn's external tools: those of the registered MCP servers, then the workspace's own. Our
 * own tools and the client's keep their names, whatever the external ones are called. Pure.
 */
import type { Tool } from "../tools/tool.js";
import { sanitizedNames } from "./tool-names.js";

/** Of registered servers and the workspace together. Vendors take 128 in all, with ours and the client's. */
export const MAX_EXTERNAL_TOOLS = 90;
/** Omitted tools that a notice names; a longer list is not read. */
const MAX_NAMED = 5;

/** A tool of a registered server, named `slug__tool`. */
export type ServerTool = Tool & { serverId: string };

export type ExternalTools = {
  /** Sorted by name. */
  servers: readonly ServerTool[];
  workspace: readonly Tool[];
  /** Names of the tools beyond the maximum. */
  omitted: readonly string[];
};

/**
 * A workspace's tool with a name in `taken` is dropped; a server's is renamed. Beyond the maximum, the workspace's tools
 * are omitted first, then the last by name.
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
  const renamed = servers
    .map((tool) => ({ ...tool, name: names.get(tool.name) ?? tool.name }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const included = renamed.slice(0, MAX_EXTERNAL_TOOLS);
  const remaining = MAX_EXTERNAL_TOOLS - included.length;
  const omitted = [...renamed.slice(MAX_EXTERNAL_TOOLS), ...others.slice(remaining)].map(({ name }) => name);
  return { servers: included, workspace: others.slice(0, remaining), omitted };
}

/** Notice for users about omitted tools. */
export function omittedToolsText(omitted: readonly string[]): string {
  const named = omitted.slice(0, MAX_NAMED).join(", ");
  const more = omitted.length > MAX_NAMED ? `, and ${omitted.length - MAX_NAMED} more` : "";
  return `A model is offered at most ${MAX_EXTERNAL_TOOLS} tools of MCP servers. Not offered: ${named}${more}.`;
}
