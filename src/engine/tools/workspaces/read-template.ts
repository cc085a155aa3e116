/** The `read_template` tool: what a template makes, and asks for. */
import { z } from "zod";
import { readProse } from "../prose.js";
import { requireProvisioning, mayProvision } from "./provisioning-tool.js";
import { defineTool, ToolError } from "../tool.js";

const parameters = z.object({
  template: z.string().min(1).describe("The template, as list_templates names it."),
});

export const readTemplateTool = defineTool({
  name: "read_template",
  description: readProse(import.meta.url),
  parameters,
  isOffered: mayProvision,
  run: async ({ template: name }, context) => {
    const template = await requireProvisioning(context).readTemplate(name);
    if (template === null)
      throw new ToolError("There is no such template. Call list_templates to see which there are.");
    return {
      template: template.name,
      display_name: template.displayName,
      description: template.description,
      ...(template.readme !== null && { readme: template.readme }),
      parameters: template.parameters.map((it) => ({
        name: it.name,
        display_name: it.displayName,
        description: it.description,
        required: it.isRequired && it.defaultValue === null,
        ...(it.defaultValue !== null && { default: it.defaultValue }),
        ...(it.options !== null && { options: it.options }),
      })),
    };
  },
});
