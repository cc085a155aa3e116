/** The `write_file` tool: creates or replaces a whole file. */
import { z } from "zod";
import { readDescription } from "../read-description.js";
import { defineTool } from "../tool.js";
import { askWorkspace } from "../workspace-call.js";

const parameters = z.object({
  path: z.string().min(1).describe("The file, absolute or relative to the workspace's directory."),
  content: z.string().describe("The whole content of the file. What was in it before is gone."),
});

export const writeFileTool = defineTool({
  name: "write_file",
  description: readDescription(import.meta.url),
  parameters,
  run: async (args, context) => {
    await askWorkspace(context, (agent) => agent.writeFile(args, { signal: context.signal }));
    return { ok: true };
  },
});
