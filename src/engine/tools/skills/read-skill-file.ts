/** The `read_skill_file` tool: reads a text file of a skill. */
import { z } from "zod";
import { readDescription } from "../read-description.js";
import { defineTool } from "../tool.js";
import { askWorkspace } from "../workspace-call.js";

const parameters = z.object({
  name: z.string().min(1).describe("The skill's name, as in read_skill."),
  path: z
    .string()
    .min(1)
    .describe('The file, relative to the skill\'s directory, for example "references/api.md".'),
});

export const readSkillFileTool = defineTool({
  name: "read_skill_file",
  description: readDescription(import.meta.url),
  isReadOnly: true,
  parameters,
  isAvailable: ({ hasSkills }) => hasSkills,
  run: async (args, context) => {
    const { content, isTruncated } = await askWorkspace(context, (agent) =>
      agent.readSkillFile(args, { signal: context.signal }),
    );
    return { content, ...(isTruncated && { truncated: true }) };
  },
});
