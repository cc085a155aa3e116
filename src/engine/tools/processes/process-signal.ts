/** The `process_signal` tool: stops a process and everything it started. */
import { z } from "zod";
import { readDescription } from "../read-description.js";
import { defineTool } from "../tool.js";
import { askWorkspace } from "../workspace-call.js";

const parameters = z.object({
  process_id: z
    .string()
    .min(1)
    .describe("The id, from the background_process_id of execute or from process_list."),
  signal: z
    .enum(["terminate", "kill"])
    .describe(
      '"terminate" asks it to end (SIGTERM); "kill" ends it at once (SIGKILL), when asking did not help.',
    ),
});

export const processSignalTool = defineTool({
  name: "process_signal",
  description: readDescription(import.meta.url),
  parameters,
  run: async ({ process_id: id, signal }, context) => {
    const message = await askWorkspace(context, (agent) =>
      agent.signalProcess(id, signal, { signal: context.signal }),
    );
    return { success: true, message };
  },
});
