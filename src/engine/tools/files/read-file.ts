/** The `read_file` tool: reads numbered lines of a text file. */
import { z } from "zod";
import { readDescription } from "../read-description.js";
import { defineTool, ToolError } from "../tool.js";
import { askWorkspace } from "../workspace-call.js";

const parameters = z.object({
  path: z.string().min(1).describe("The file, absolute or relative to the workspace's directory."),
  offset: z.number().int().min(1).optional().describe("First line to read, counted from 1. Default 1."),
  limit: z.number().int().min(1).optional().describe("How many lines to read. Default and maximum 2000."),
});

export const readFileTool = defineTool({
  name: "read_file",
  description: readDescription(import.meta.url),
  isReadOnly: true,
  parameters,
  run: async (args, context) => {
    const answer = await askWorkspace(context, (agent) => agent.readLines(args, { signal: context.signal }));
    if (!answer.success) throw new ToolError(answer.error);
    return {
      content: answer.content,
      file_size: answer.fileSize,
      total_lines: answer.totalLines,
      lines_read: answer.linesRead,
    };
  },
});
