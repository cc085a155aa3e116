/** How long a turn waits for the tools that the client itself runs. Pure. */
import type { ClientTool, OpenCall } from "./chat-state.js";

/** Stands for "no deadline" where a time limit is a number. */
export const NO_CLIENT_TOOL_TIMEOUT = 0;

/**
 * Milliseconds that a client has for all of its open calls, which it answers together: the longest of their time limits.
 * Null = it may take as long as it likes. `defaultMs`: for tools without a limit of their own; 0 = none.
 */
export function clientToolTimeout(
  openCalls: readonly OpenCall[],
  tools: readonly Pick<ClientTool, "name" | "timeoutMs">[],
  defaultMs: number,
): number | null {
  const own = new Map(tools.map(({ name, timeoutMs }) => [name, timeoutMs]));
  const limits = openCalls
    .filter(({ isClient }) => isClient)
    .map(({ toolName }) => own.get(toolName) ?? defaultMs);
  return limits.includes(NO_CLIENT_TOOL_TIMEOUT) ? null : Math.max(...limits, 0);
}
