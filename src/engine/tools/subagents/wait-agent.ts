/** The `wait_agent` tool: a subagent's report, as soon as there is one. */
import { z } from "zod";
import { DEFAULT_WAIT_SECONDS, MAX_WAIT_SECONDS } from "../../../domain/chats/subagents.js";
import type { AgentWithStatus } from "../../subagents/ports.js";
import {
  ACTING_AGENT_TOOLS,
  agentWords,
  chatIdArgument,
  demandAnswer,
  readChatId,
} from "./agent-summaries.js";
import { readProse } from "../prose.js";
import { defineTool, ToolError } from "../tool.js";

/** For the looks before and after. */
const MARGIN_MS = 60_000;

const parameters = z.object({
  chat_id: chatIdArgument,
  timeout_seconds: z
    .number()
    .optional()
    .describe(
      `How long to wait at most. Default ${DEFAULT_WAIT_SECONDS}, which 0 and less mean too; at most ${MAX_WAIT_SECONDS}.`,
    ),
});

export const waitAgentTool = defineTool({
  name: "wait_agent",
  description: readProse(import.meta.url),
  parameters,
  worksOn: "subagents",
  isOffered: () => true,
  startsAfter: ACTING_AGENT_TOOLS,
  timeoutMs: MAX_WAIT_SECONDS * 1_000 + MARGIN_MS,
  run: async ({ chat_id: chatId, timeout_seconds: wanted = 0 }, { agents, signal }) => {
    const seconds = Math.min(wanted > 0 ? wanted : DEFAULT_WAIT_SECONDS, MAX_WAIT_SECONDS);
    const answer = await agents.wait(readChatId(chatId), { timeoutMs: seconds * 1_000, signal });
    return reportWords(demandAnswer(answer).agent, seconds);
  },
});

function reportWords(agent: AgentWithStatus, waitedSeconds: number) {
  const { standing, title } = agent;
  const words = { ...agentWords(agent), status: standing.status };
  switch (standing.status) {
    case "working":
      return { ...words, note: `It is still at work after ${waitedSeconds} seconds.` };
    case "finished":
      return { ...words, report: standing.report };
    case "interrupted":
      return { ...words, note: "It was stopped before it had answered the last thing it was told." };
    case "failed": {
      const report = standing.report === "" ? "" : ` What it said last: ${standing.report}`;
      throw new ToolError(`The subagent "${title}" failed: ${standing.failure}${report}`);
    }
    case "archived":
      throw new ToolError(`The subagent "${title}" is archived.`);
  }
}
