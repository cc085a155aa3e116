/** Which of a server's tools admins let people use. */

/** Lists of a server's own names for its tools. */
export type McpToolLists = {
  readonly toolAllowList: readonly string[];
  readonly toolDenyList: readonly string[];
};

/** An allow list with anything in it alone decides; else whatever is not denied is allowed. */
export function isToolAllowed({ toolAllowList, toolDenyList }: McpToolLists, toolName: string): boolean {
  return toolAllowList.length > 0 ? toolAllowList.includes(toolName) : !toolDenyList.includes(toolName);
}
