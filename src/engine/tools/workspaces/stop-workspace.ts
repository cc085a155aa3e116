/** The `stop_workspace` tool: the chat's workspace is not needed any more. */
import { z } from "zod";
import {
  provisioningCall,
  requireProvisioning,
  mayProvision,
  PROVISIONING_TIMEOUT_MS,
} from "./provisioning-tool.js";
import { readProse } from "../prose.js";
import { defineTool } from "../tool.js";

export const stopWorkspaceTool = defineTool({
  name: "stop_workspace",
  description: readProse(import.meta.url),
  parameters: z.object({}),
  timeoutMs: PROVISIONING_TIMEOUT_MS,
  isOffered: mayProvision,
  run: (_args, context) => requireProvisioning(context).stop(provisioningCall(context)),
});
