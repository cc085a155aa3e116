/** The `spawn_agent` tool: starts a subagent. */
import { z } from "zod";
import { MAX_TASK_CHARACTERS, SUBAGENT_KINDS } from "../../../domain/chats/subagents.js";
import { ACTING_AGENT_TOOLS, agentFields, demandAnswer } from "./subagent-results.js";
import { readDescription } from "../read-description.js";
import { defineTool } from "../tool.js";

const parameters = z.object({
  prompt: z
    .string()
    .trim()
    .min(1)
    .max(MAX_TASK_CHARACTERS)
    .describe("The whole task; the subagent knows nothing else."),
  title: z.string().optional().describe("What the task is, in two to six words, shown to users."),
  type: z
    .enum(SUBAGENT_KINDS)
    .optional()
    .describe('"general" (the default) can do what you can; "explore" only looks.'),
});

export const spawnAgentTool = defineTool({
  name: "spawn_agent",
  description: readDescription(import.meta.url),
  parameters,
  worksOn: "subagents",
  isAvailable: () => true,
  startsAfter: ACTING_AGENT_TOOLS,
  run: async ({ prompt, title, type = "general" }, { agents, idempotencyKey }) => {
    const request = { task: prompt, kind: type, ...(title !== undefined && { title }) };
    const { agent } = demandAnswer(await agents.spawn(request, idempotencyKey));
    return { ...agentFields(agent), type: agent.kind, status: "working" };
  },
});
