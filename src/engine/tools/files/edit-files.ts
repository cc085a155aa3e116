/** The `edit_files` tool: replaces text in files; all edits are applied or none. */
import { z } from "zod";
import type { JsonObject } from "../../../domain/common/json.js";
import { AgentError } from "../../../workspaces/agent-client/agent-connection.js";
import { explainShape, groupEdits, normaliseEditArguments, type FlatEdit } from "./edit-arguments.js";
import { readDescription } from "../read-description.js";
import { defineTool, ToolError, type Tool, type ToolContext } from "../tool.js";
import { validateArguments } from "../validate-arguments.js";
import { askWorkspace } from "../workspace-call.js";

const NOTHING_APPLIED = "No edit was applied.";

const parameters = z.object({
  edits: z
    .array(
      z.object({
        path: z.string().min(1).describe("The file, absolute or relative to the workspace's directory."),
        old_text: z
          .string()
          .describe("The text to replace, as it is in the file. Must occur once, unless replace_all is set."),
        new_text: z.string().describe("The text to put in its place; empty to remove it."),
        replace_all: z.boolean().optional().describe("Replace every occurrence of old_text. Default false."),
      }),
    )
    .min(1)
    .describe("The edits, in the order in which they apply; one call may change several files."),
});

const TOOL_NAMES: Readonly<Record<string, string>> = {
  oldText: "old_text",
  newText: "new_text",
  replaceAll: "replace_all",
};

/** Replaces the agent's field names by the tool's; quotes from a file are unchanged. */
function withToolNames(message: string): string {
  return message.replace(
    /"(?:[^"\\]|\\.)*"|\b(?:oldText|newText|replaceAll)\b/g,
    (word) => TOOL_NAMES[word] ?? word,
  );
}

async function applyEdits(edits: readonly FlatEdit[], context: ToolContext): Promise<JsonObject> {
  try {
    const { files } = await askWorkspace(context, (agent) =>
      agent.editFiles(groupEdits(edits), { signal: context.signal }),
    );
    return {
      ok: true,
      files: files.map(({ path, replacements, diff = "" }) => ({ path, replacements, diff })),
    };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    // A refusal comes before any write; a failure (5xx, or no answer) has its own text on what is known.
    const isRefusal = error.cause instanceof AgentError && error.cause.status < 500;
    const ending = isRefusal ? ` ${NOTHING_APPLIED}` : "";
    throw new ToolError(`${withToolNames(error.message)}${ending}`, { cause: error });
  }
}

const flatTool = defineTool({
  name: "edit_files",
  description: readDescription(import.meta.url),
  parameters,
  run: ({ edits }, context) => applyEdits(edits, context),
});

/** Validates its arguments itself, so that a schema error too says that no edit was applied. */
export const editFilesTool: Tool = {
  ...flatTool,
  checksArguments: true,
  run: async (args, context) => {
    const prepared = normaliseEditArguments(args);
    const checked = await validateArguments(flatTool.inputSchema, prepared);
    if (checked.isValid) return flatTool.run(checked.args, context);
    const texts = [checked.error, explainShape(prepared), NOTHING_APPLIED].filter((text) => text !== "");
    return { result: { error: texts.join(" ") }, isError: true };
  },
};
