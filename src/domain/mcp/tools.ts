/** Allow and deny lists of an MCP server's tools. */

/** Tool names as the server has them. */
type McpToolLists = {
  readonly toolAllowList: readonly string[];
  readonly toolDenyList: readonly string[];
};

/** A non-empty allow list decides alone; otherwise every tool that is not denied is allowed. */
export function isToolAllowed({ toolAllowList, toolDenyList }: McpToolLists, toolName: string): boolean {
  return toolAllowList.length > 0 ? toolAllowList.includes(toolName) : !toolDenyList.includes(toolName);
}
