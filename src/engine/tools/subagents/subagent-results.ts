/** Common parts of the subagent tools: public ids, result fields, and refusals as errors that the model sees. */
import { z } from "zod";
import { decodeId, encodeId } from "../../../domain/common/ids.js";
import type { Agent, Answer } from "../../subagents/ports.js";
import { ToolError } from "../tool.js";

/** Tools that change what there is to wait for: within one step, they run in the order of the calls. */
export const ACTING_AGENT_TOOLS: readonly string[] = ["spawn_agent", "message_agent", "interrupt_agent"];

export const chatIdArgument = z
  .string()
  .min(1)
  .describe("The chat_id of the subagent, from spawn_agent or list_agents.");

/** The database's id. Throws `ToolError`. */
export function readChatId(chatId: string): string {
  const id = decodeId("chat", chatId.trim());
  if (id === null) throw new ToolError(`"${chatId}" is not the id of a chat. list_agents shows the ids.`);
  return id;
}

/** Throws `ToolError` for a refusal. */
export function demandAnswer<T>(answer: Answer<T>): { ok: true } & T {
  if (!answer.ok) throw new ToolError(answer.message);
  return answer;
}

export function agentFields({ chatId, title }: Agent) {
  return { chat_id: encodeId("chat", chatId), title };
}
