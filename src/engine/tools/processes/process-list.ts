/** The `process_list` tool: lists the chat's processes, running ones first. */
import { z } from "zod";
import { cutText } from "../../../lib/text/utf8.js";
import { readDescription } from "../read-description.js";
import { defineTool } from "../tool.js";
import { askWorkspace } from "../workspace-call.js";

/** Enough to recognise a command; a whole script would hide the others. */
const MAX_COMMAND_BYTES = 500;

export const processListTool = defineTool({
  name: "process_list",
  description: readDescription(import.meta.url),
  parameters: z.object({}),
  run: async (_, context) => {
    const { processes, total } = await askWorkspace(context, (agent) =>
      agent.listProcesses({ signal: context.signal }),
    );
    const shown = processes.map((process) => ({
      id: process.id,
      command: cutText(process.command, MAX_COMMAND_BYTES),
      workdir: process.workdir,
      background: process.background,
      running: process.running,
      ...(process.exitCode !== undefined && { exit_code: process.exitCode }),
      ...(process.signal !== undefined && { signal: process.signal }),
      ...(process.childrenRunning && { children_running: true }),
      started_at: process.startedAt,
      ...(process.exitedAt !== undefined && { exited_at: process.exitedAt }),
    }));
    return { processes: shown, total };
  },
});
