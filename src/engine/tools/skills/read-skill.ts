/** The `read_skill` tool: reads a skill of the workspace. */
import { z } from "zod";
import { readDescription } from "../read-description.js";
import { defineTool } from "../tool.js";
import { askWorkspace } from "../workspace-call.js";

const parameters = z.object({
  name: z.string().min(1).describe("The skill's name, from the list of available skills."),
});

export const readSkillTool = defineTool({
  name: "read_skill",
  description: readDescription(import.meta.url),
  isReadOnly: true,
  parameters,
  isAvailable: ({ hasSkills }) => hasSkills,
  run: async ({ name }, context) => {
    const skill = await askWorkspace(context, (agent) => agent.readSkill(name, { signal: context.signal }));
    return {
      name: skill.name,
      body: skill.body,
      ...(skill.isTruncated && { truncated: true }),
      dir: skill.directory,
      files: skill.files,
    };
  },
});
