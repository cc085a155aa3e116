/** The `list_templates` tool: the templates that a workspace can be created from. */
import { z } from "zod";
import { readDescription } from "../read-description.js";
import { defineTool } from "../tool.js";
import { requireProvisioning, isProvisioningAvailable } from "./provisioning-tool.js";

const PAGE_SIZE = 10;
/** Enough to choose by; read_template returns the whole. */
const MAX_DESCRIPTION_CHARACTERS = 200;

const parameters = z.object({
  query: z.string().optional().describe("Words that the name, display name or description must contain."),
  page: z.number().int().min(1).optional().describe("Which page, from 1, which is the default."),
});

export const listTemplatesTool = defineTool({
  name: "list_templates",
  description: readDescription(import.meta.url),
  parameters,
  isAvailable: isProvisioningAvailable,
  run: async ({ query = "", page = 1 }, context) => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const found = (await requireProvisioning(context).listTemplates()).filter((template) => {
      const text = `${template.name} ${template.displayName} ${template.description}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    const shown = found.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE);
    return {
      templates: shown.map(({ name, displayName, description }) => ({
        template: name,
        display_name: displayName,
        description: cut(description),
      })),
      page,
      total_pages: Math.ceil(found.length / PAGE_SIZE),
      total_count: found.length,
    };
  },
});

function cut(text: string): string {
  return text.length <= MAX_DESCRIPTION_CHARACTERS ? text : `${text.slice(0, MAX_DESCRIPTION_CHARACTERS)}…`;
}
