/** The `start_workspace` tool: the chat's workspace is stopped, and is needed. */
import { z } from "zod";
import {
  provisioningCall,
  requireProvisioning,
  mayProvision,
  PROVISIONING_TIMEOUT_MS,
} from "./provisioning-tool.js";
import { readProse } from "../prose.js";
import { defineTool } from "../tool.js";

export const startWorkspaceTool = defineTool({
  name: "start_workspace",
  description: readProse(import.meta.url),
  parameters: z.object({}),
  timeoutMs: PROVISIONING_TIMEOUT_MS,
  isOffered: mayProvision,
  run: (_args, context) => requireProvisioning(context).start(provisioningCall(context)),
});
