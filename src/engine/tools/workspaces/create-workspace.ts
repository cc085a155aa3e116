/** The `create_workspace` tool: creates a workspace for a chat that has none. */
import { z } from "zod";
import {
  provisioningCall,
  requireProvisioning,
  isProvisioningAvailable,
  PROVISIONING_TIMEOUT_MS,
} from "./provisioning-tool.js";
import { readDescription } from "../read-description.js";
import { defineTool } from "../tool.js";

const parameters = z.object({
  template: z.string().min(1).describe("The template, as list_templates names it."),
  name: z
    .string()
    .optional()
    .describe("The workspace's name: small letters, digits and hyphens. Default: made from the template's."),
  parameters: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .optional()
    .describe("Values of the template's parameters, by name. Those with a default may be left out."),
});

export const createWorkspaceTool = defineTool({
  name: "create_workspace",
  description: readDescription(import.meta.url),
  parameters,
  timeoutMs: PROVISIONING_TIMEOUT_MS,
  isAvailable: isProvisioningAvailable,
  run: ({ template, name, parameters: values = {} }, context) => {
    const texts = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, String(value)]));
    return requireProvisioning(context).create(
      { template, name, parameters: texts },
      provisioningCall(context),
    );
  },
});
