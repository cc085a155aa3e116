/** The `list_agents` tool: the subagents of a chat, with their status. */
import { z } from "zod";
import { MAX_FAMILY_SUBAGENTS } from "../../../domain/chats/subagents.js";
import { ACTING_AGENT_TOOLS, agentFields } from "./subagent-results.js";
import { readDescription } from "../read-description.js";
import { defineTool } from "../tool.js";

const DEFAULT_LISTED = 20;

const parameters = z.object({
  limit: z
    .number()
    .int()
    .min(1)
    .max(MAX_FAMILY_SUBAGENTS)
    .optional()
    .describe(`How many to list. Default ${DEFAULT_LISTED}, at most ${MAX_FAMILY_SUBAGENTS}.`),
});

export const listAgentsTool = defineTool({
  name: "list_agents",
  description: readDescription(import.meta.url),
  parameters,
  worksOn: "subagents",
  isAvailable: () => true,
  startsAfter: ACTING_AGENT_TOOLS,
  run: async ({ limit = DEFAULT_LISTED }, { agents }) => {
    const all = await agents.list();
    const listed = all.toReversed().slice(0, limit);
    return {
      agents: listed.map((agent) => ({ ...agentFields(agent), type: agent.kind, status: agent.status })),
      ...(listed.length < all.length && { note: `${all.length - listed.length} older ones are not listed.` }),
    };
  },
});
