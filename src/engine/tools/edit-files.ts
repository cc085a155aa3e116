/** The `edit_files` tool: replaces pieces of text in files, all edits or none. */
import { z } from "zod";
import type { JsonObject } from "../../domain/json.js";
import { AgentError } from "../../workspaces/agent-connection.js";
import { groupEdits, normaliseEditArguments, type FlatEdit } from "./edit-arguments.js";
import { readProse } from "./prose.js";
import { defineTool, ToolError, type Tool, type ToolContext } from "./tool.js";
import { askWorkspace } from "./workspace-call.js";

const NOTHING_APPLIED = "No edit was applied.";

const parameters = z.object({
  edits: z
    .array(
      z.object({
        path: z
          .string()
          .trim()
          .min(1)
          .describe("The file, absolute or relative to the workspace's directory."),
        old_text: z
          .string()
          .describe(
            "The text to replace, exactly as in the file. Must occur once, unless replace_all is set.",
          ),
        new_text: z.string().describe("The text to put in its place; empty to remove it."),
        replace_all: z.boolean().optional().describe("Replace every occurrence of old_text. Default false."),
      }),
    )
    .min(1)
    .describe("The edits, in the order in which they apply; one call may change several files."),
});

/** The agent's names for the fields, in the words of the tool. */
function inToolWords(message: string): string {
  return message
    .replaceAll("oldText", "old_text")
    .replaceAll("newText", "new_text")
    .replaceAll("replaceAll", "replace_all");
}

async function applyEdits(edits: readonly FlatEdit[], context: ToolContext): Promise<JsonObject> {
  try {
    const { files } = await askWorkspace(context, (agent) =>
      agent.editFiles(groupEdits(edits), { signal: context.signal }),
    );
    return { ok: true, files: files.map(({ path, replacements }) => ({ path, replacements })) };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    // A refusal comes before anything is written; a failure (5xx, or no answer) says itself what is known.
    const isRefusal = error.cause instanceof AgentError && error.cause.status < 500;
    const ending = isRefusal ? ` ${NOTHING_APPLIED}` : "";
    throw new ToolError(`${inToolWords(error.message)}${ending}`, { cause: error });
  }
}

const flatTool = defineTool({
  name: "edit_files",
  description: readProse(import.meta.url),
  parameters,
  run: ({ edits }, context) => applyEdits(edits, context),
});

export const editFilesTool: Tool = {
  ...flatTool,
  prepareArguments: normaliseEditArguments,
  run: (args, context) => flatTool.run(normaliseEditArguments(args), context),
};
