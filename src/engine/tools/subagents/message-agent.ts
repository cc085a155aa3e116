/** The `message_agent` tool: tells a subagent something. */
import { z } from "zod";
import { MAX_TASK_CHARACTERS } from "../../../domain/chats/subagents.js";
import {
  ACTING_AGENT_TOOLS,
  agentWords,
  chatIdArgument,
  demandAnswer,
  readChatId,
} from "./agent-summaries.js";
import { readProse } from "../prose.js";
import { defineTool } from "../tool.js";

const parameters = z.object({
  chat_id: chatIdArgument,
  message: z.string().trim().min(1).max(MAX_TASK_CHARACTERS).describe("What to tell it."),
  interrupt: z
    .boolean()
    .optional()
    .describe("Stop what it is doing now. Default false: it finishes that first."),
});

export const messageAgentTool = defineTool({
  name: "message_agent",
  description: readProse(import.meta.url),
  parameters,
  worksOn: "subagents",
  isOffered: () => true,
  startsAfter: ACTING_AGENT_TOOLS,
  run: async ({ chat_id: chatId, message: text, interrupt = false }, { agents, idempotencyKey }) => {
    const message = { text, whenBusy: interrupt ? ("interrupt" as const) : ("queue" as const) };
    const told = demandAnswer(await agents.tell(readChatId(chatId), message, idempotencyKey));
    return { ...agentWords(told.agent), status: told.isQueued && !interrupt ? "queued" : "working" };
  },
});
