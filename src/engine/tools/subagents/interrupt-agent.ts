/** The `interrupt_agent` tool: stops a subagent. */
import { z } from "zod";
import {
  ACTING_AGENT_TOOLS,
  agentFields,
  chatIdArgument,
  demandAnswer,
  readChatId,
} from "./subagent-results.js";
import { readDescription } from "../read-description.js";
import { defineTool } from "../tool.js";

export const interruptAgentTool = defineTool({
  name: "interrupt_agent",
  description: readDescription(import.meta.url),
  parameters: z.object({ chat_id: chatIdArgument }),
  worksOn: "subagents",
  isAvailable: () => true,
  startsAfter: ACTING_AGENT_TOOLS,
  run: async ({ chat_id: chatId }, { agents }) => {
    const { agent, wasWorking } = demandAnswer(await agents.interrupt(readChatId(chatId)));
    return { ...agentFields(agent), interrupted: wasWorking };
  },
});
