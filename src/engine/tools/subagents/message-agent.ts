/** The `message_agent` tool: sends a message to a subagent. */
import { z } from "zod";
import { MAX_TASK_CHARACTERS } from "../../../domain/chats/subagents.js";
import {
  ACTING_AGENT_TOOLS,
  agentFields,
  chatIdArgument,
  demandAnswer,
  readChatId,
} from "./subagent-results.js";
import { readDescription } from "../read-description.js";
import { defineTool } from "../tool.js";

const parameters = z.object({
  chat_id: chatIdArgument,
  message: z.string().trim().min(1).max(MAX_TASK_CHARACTERS).describe("The message."),
  interrupt: z
    .boolean()
    .optional()
    .describe("Stop what it is doing now. Default false: it finishes that first."),
});

export const messageAgentTool = defineTool({
  name: "message_agent",
  description: readDescription(import.meta.url),
  parameters,
  worksOn: "subagents",
  isAvailable: () => true,
  startsAfter: ACTING_AGENT_TOOLS,
  run: async ({ chat_id: chatId, message: text, interrupt = false }, { agents, idempotencyKey }) => {
    const message = { text, whenBusy: interrupt ? ("interrupt" as const) : ("queue" as const) };
    const sent = demandAnswer(await agents.message(readChatId(chatId), message, idempotencyKey));
    return { ...agentFields(sent.agent), status: sent.isQueued && !interrupt ? "queued" : "working" };
  },
});
