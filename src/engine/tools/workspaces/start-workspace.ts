/** The `start_workspace` tool: the chat's workspace is stopped, and is needed. */
import { z } from "zod";
import { deskCall, deskOf, isOfferedAtDesk, PROVISIONING_TIMEOUT_MS } from "./provisioning-tool.js";
import { readProse } from "../prose.js";
import { defineTool } from "../tool.js";

export const startWorkspaceTool = defineTool({
  name: "start_workspace",
  description: readProse(import.meta.url),
  parameters: z.object({}),
  timeoutMs: PROVISIONING_TIMEOUT_MS,
  isOffered: isOfferedAtDesk,
  run: (_args, context) => deskOf(context).start(deskCall(context)),
});
