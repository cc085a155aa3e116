/** The `find_files` tool: finds paths that match a glob. */
import { z } from "zod";
import { DEFAULT_FOUND_FILES, MAX_FOUND_FILES } from "../../../workspaces/agent-client/agent-connection.js";
import { readDescription } from "../read-description.js";
import { noteOf } from "./search-notes.js";
import { defineTool } from "../tool.js";
import { askWorkspace } from "../workspace-call.js";

const parameters = z.object({
  pattern: z
    .string()
    .min(1)
    .describe(
      'Glob of the paths, relative to path: "*.ts" finds names in every directory, "src/**/*.test.ts" paths. Knows * ? [a-z] {a,b} **.',
    ),
  path: z
    .string()
    .min(1)
    .optional()
    .describe(
      "The directory to search, absolute or relative to the workspace's directory. Default: that directory.",
    ),
  include_ignored: z
    .boolean()
    .optional()
    .describe("Also find what .gitignore leaves out, such as dependencies and build output. Default false."),
  limit: z
    .number()
    .int()
    .min(1)
    .max(MAX_FOUND_FILES)
    .optional()
    .describe(
      `How many paths to return at most. Default ${DEFAULT_FOUND_FILES}, maximum ${MAX_FOUND_FILES}.`,
    ),
});

export const findFilesTool = defineTool({
  name: "find_files",
  description: readDescription(import.meta.url),
  isReadOnly: true,
  parameters,
  run: async ({ include_ignored: includeIgnored, ...args }, context) => {
    const answer = await askWorkspace(context, (agent) =>
      agent.findFiles({ ...args, includeIgnored }, { signal: context.signal }),
    );
    const more = answer.total - answer.paths.length;
    return { files: answer.paths, total: answer.total, ...noteOf(answer, { more, unit: "files" }) };
  },
});
