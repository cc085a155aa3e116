/** The `process_output` tool: waits for a process's end, and returns its output so far. */
import { z } from "zod";
import type { JsonObject } from "../../../domain/common/json.js";
import { DURATION_FORMAT, parseDuration } from "./duration.js";
import { exitFields, outputFields } from "../model-output.js";
import { MAX_WAIT_MS, WAITING_TOOL_TIMEOUT_MS, waitForProcess } from "./process-wait.js";
import { readDescription } from "../read-description.js";
import { defineTool, ToolError, type ToolContext } from "../tool.js";
import { askWorkspace } from "../workspace-call.js";

const DEFAULT_WAIT_MS = 10_000;

const parameters = z.object({
  process_id: z
    .string()
    .min(1)
    .describe("The id, from the background_process_id of execute or from process_list."),
  wait_timeout: z
    .string()
    .optional()
    .describe(
      `How long to wait for the process to end: ${DURATION_FORMAT}. Default "10s", at most "4h"; "0s" looks without waiting.`,
    ),
});

function readWait(text: string | undefined): number {
  if (text === undefined || text.trim() === "") return DEFAULT_WAIT_MS;
  const waitMs = parseDuration(text);
  if (waitMs !== undefined) return Math.min(waitMs, MAX_WAIT_MS);
  throw new ToolError(`wait_timeout "${text}" is not a duration; write ${DURATION_FORMAT}.`);
}

async function readOutput(id: string, timeoutMs: number, context: ToolContext): Promise<JsonObject> {
  const outcome = await askWorkspace(context, (agent) => waitForProcess(context, agent, { id, timeoutMs }));
  switch (outcome.kind) {
    case "lost":
      throw new ToolError(
        `Process ${id} was not found. It may have ended long ago; process_list shows those known.`,
      );
    case "unknown":
      throw new ToolError(`${outcome.reason} The process may still be running; try again.`);
    case "seen":
      if (!outcome.output.running) return exitFields(outcome.output);
      return {
        success: true,
        ...outputFields(outcome.output),
        note: "The process is still running. Wait longer with wait_timeout, or stop it with process_signal.",
      };
  }
}

export const processOutputTool = defineTool({
  name: "process_output",
  description: readDescription(import.meta.url),
  parameters,
  timeoutMs: WAITING_TOOL_TIMEOUT_MS,
  run: (args, context) => readOutput(args.process_id, readWait(args.wait_timeout), context),
});
