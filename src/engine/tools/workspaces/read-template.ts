/** The `read_template` tool: a template's description and parameters. */
import { z } from "zod";
import { readDescription } from "../read-description.js";
import { requireProvisioning, isProvisioningAvailable } from "./provisioning-tool.js";
import { defineTool, ToolError } from "../tool.js";

const parameters = z.object({
  template: z.string().min(1).describe("The template, as list_templates names it."),
});

export const readTemplateTool = defineTool({
  name: "read_template",
  description: readDescription(import.meta.url),
  parameters,
  isAvailable: isProvisioningAvailable,
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
