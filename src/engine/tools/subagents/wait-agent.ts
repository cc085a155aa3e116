/** The `wait_agent` tool: waits for a subagent's report. */
import { z } from "zod";
import { DEFAULT_WAIT_SECONDS, MAX_WAIT_SECONDS } from "../../../domain/chats/subagents.js";
import type { AgentWithStatus } from "../../subagents/ports.js";
import {
  ACTING_AGENT_TOOLS,
  agentFields,
  chatIdArgument,
  demandAnswer,
  readChatId,
} from "./subagent-results.js";
import { readDescription } from "../read-description.js";
import { defineTool, ToolError } from "../tool.js";

/** For the reads before and after the wait. */
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
  description: readDescription(import.meta.url),
  parameters,
  worksOn: "subagents",
  isAvailable: () => true,
  startsAfter: ACTING_AGENT_TOOLS,
  timeoutMs: MAX_WAIT_SECONDS * 1_000 + MARGIN_MS,
  run: async ({ chat_id: chatId, timeout_seconds: wanted = 0 }, { agents, signal }) => {
    const seconds = Math.min(wanted > 0 ? wanted : DEFAULT_WAIT_SECONDS, MAX_WAIT_SECONDS);
    const answer = await agents.wait(readChatId(chatId), { timeoutMs: seconds * 1_000, signal });
    return reportFields(demandAnswer(answer).agent, seconds);
  },
});

function reportFields(agent: AgentWithStatus, waitedSeconds: number) {
  const { status, title } = agent;
  const fields = { ...agentFields(agent), status: status.status };
  switch (status.status) {
    case "working":
      return { ...fields, note: `It is still at work after ${waitedSeconds} seconds.` };
    case "finished":
      return { ...fields, report: status.report };
    case "interrupted":
      return { ...fields, note: "It was stopped before it had answered its last message." };
    case "failed": {
      const report = status.report === "" ? "" : ` What it said last: ${status.report}`;
      throw new ToolError(`The subagent "${title}" failed: ${status.failure}${report}`);
    }
    case "archived":
      throw new ToolError(`The subagent "${title}" is archived.`);
  }
}
