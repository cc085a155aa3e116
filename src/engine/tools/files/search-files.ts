/** The `search_files` tool: finds lines that match a regular expression. */
import { z } from "zod";
import {
  DEFAULT_FOUND_LINES,
  MAX_FOUND_LINES,
  type SearchFilesAnswer,
} from "../../../workspaces/agent-client/agent-connection.js";
import { readDescription } from "../read-description.js";
import { noteOf } from "./search-notes.js";
import { defineTool } from "../tool.js";
import { askWorkspace } from "../workspace-call.js";

const parameters = z.object({
  pattern: z
    .string()
    .min(1)
    .describe(
      'Regular expression (RE2 syntax) compared with one line at a time, for example "class \\w+Error". Put a backslash before . * + ? ( ) [ ] { } | ^ $ to mean the character itself.',
    ),
  path: z
    .string()
    .min(1)
    .optional()
    .describe(
      "The directory or the one file to search, absolute or relative to the workspace's directory. Default: that directory.",
    ),
  glob: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Search only files that match it, for example "*.ts" or "src/**"; as the pattern of find_files.',
    ),
  ignore_case: z.boolean().optional().describe("Take upper and lower case as the same. Default false."),
  include_ignored: z
    .boolean()
    .optional()
    .describe("Also search what .gitignore leaves out, such as dependencies. Default false."),
  limit: z
    .number()
    .int()
    .min(1)
    .max(MAX_FOUND_LINES)
    .optional()
    .describe(
      `How many matching lines to return at most. Default ${DEFAULT_FOUND_LINES}, maximum ${MAX_FOUND_LINES}.`,
    ),
});

export const searchFilesTool = defineTool({
  name: "search_files",
  description: readDescription(import.meta.url),
  isReadOnly: true,
  parameters,
  run: async ({ ignore_case: ignoreCase, include_ignored: includeIgnored, ...args }, context) => {
    const answer = await askWorkspace(context, (agent) =>
      agent.searchFiles({ ...args, ignoreCase, includeIgnored }, { signal: context.signal }),
    );
    const shown = answer.files.reduce((sum, { lines }) => sum + lines.length, 0);
    return {
      files: answer.files.map(({ path, lines }) => ({
        path,
        lines: lines.map(({ line, text }) => `${line}: ${text}`),
      })),
      total_lines: answer.totalLines,
      total_files: answer.totalFiles,
      ...noteOf(answer, {
        more: answer.totalLines - shown,
        unit: "matching lines",
        otherFacts: factsOfLargeFiles(answer.tooLarge),
      }),
    };
  },
});

function factsOfLargeFiles({ total, paths }: SearchFilesAnswer["tooLarge"]): string[] {
  if (total === 0) return [];
  const more = total - paths.length;
  const named = `${paths.join(", ")}${more === 0 ? "" : ` and ${more} more`}`;
  return [`Not searched because they are too large: ${named}; use grep with execute for these.`];
}
