/** The `list_directory` tool: lists the entries of a directory. */
import { z } from "zod";
import {
  DEFAULT_LISTED_ENTRIES,
  type ListDirectoryAnswer,
} from "../../../workspaces/agent-client/agent-connection.js";
import { readDescription } from "../read-description.js";
import { defineTool } from "../tool.js";
import { askWorkspace } from "../workspace-call.js";

const parameters = z.object({
  path: z
    .string()
    .min(1)
    .optional()
    .describe("The directory, absolute or relative to the workspace's directory. Default: that directory."),
});

export const listDirectoryTool = defineTool({
  name: "list_directory",
  description: readDescription(import.meta.url),
  isReadOnly: true,
  parameters,
  run: async ({ path }, context) => {
    const answer = await askWorkspace(context, (agent) =>
      agent.listDirectory({ path, limit: DEFAULT_LISTED_ENTRIES }, { signal: context.signal }),
    );
    const more = answer.total - answer.entries.length;
    return {
      path: answer.path,
      entries: answer.entries.map(describeEntry),
      ...(more > 0 && { note: `${more} more entries are not shown; use find_files with a pattern.` }),
    };
  },
});

/** Short, because there may be hundreds: `src/`, `a.txt (12 bytes)`, `link -> target (12 bytes)`. */
function describeEntry({ name, kind, size, linkTarget }: ListDirectoryAnswer["entries"][number]): string {
  const shown = `${name}${kind === "directory" ? "/" : ""}${linkTarget === undefined ? "" : ` -> ${linkTarget}`}`;
  if (size !== undefined) return `${shown} (${size} bytes)`;
  if (kind === "broken-link") return `${shown} (broken link)`;
  return kind === "other" ? `${shown} (not a regular file)` : shown;
}
