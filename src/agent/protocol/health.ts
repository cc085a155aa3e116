/** The response of the health route. */
import { z } from "zod";

/**
 * `instanceId` changes with every start of the agent: processes of another instance are gone. `version` is the
 * protocol's, `programVersion` the agent's own; for `capabilities` see `AGENT_CAPABILITIES`.
 */
export const healthSchema = z.object({
  version: z.number().int(),
  programVersion: z.string(),
  capabilities: z.array(z.string()),
  workingDirectory: z.string(),
  instanceId: z.string(),
});
export type AgentHealth = z.infer<typeof healthSchema>;
