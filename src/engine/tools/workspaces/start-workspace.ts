/** The `start_workspace` tool: starts the chat's stopped workspace. */
import { z } from "zod";
import {
  provisioningCall,
  requireProvisioning,
  isProvisioningAvailable,
  PROVISIONING_TIMEOUT_MS,
} from "./provisioning-tool.js";
import { readDescription } from "../read-description.js";
import { defineTool } from "../tool.js";

export const startWorkspaceTool = defineTool({
  name: "start_workspace",
  description: readDescription(import.meta.url),
  parameters: z.object({}),
  timeoutMs: PROVISIONING_TIMEOUT_MS,
  isAvailable: isProvisioningAvailable,
  run: (_args, context) => requireProvisioning(context).start(provisioningCall(context)),
});
