/** Time limits of tools that the client runs. Pure. */
import type { ClientTool, OpenCall } from "./chat-state.js";

/** Means "no deadline" where a time limit is a number. */
export const NO_CLIENT_TOOL_TIMEOUT = 0;

/**
 * Milliseconds in which the client must answer all of its open calls, which it answers together: the longest of their
 * limits. Null = no deadline. `defaultMs`: for tools without a limit of their own; 0 = none.
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
