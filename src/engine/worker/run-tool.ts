/** How a runner runs one tool: finds it, gives it the chat's workspace, and keeps a tool's bug from being the turn's. */
import type { HeldChat } from "../../store/leases.js";
import type { AgentConnection } from "../../workspaces/agent-connection.js";
import { findTool } from "../tools/registry.js";
import type { RunTool } from "../turn/ports.js";
import type { RunnerParts } from "./turn-context.js";

type CallContext = { chat: HeldChat; messageId: string; workspace(): Promise<AgentConnection> };

export function runToolOf(parts: RunnerParts, { chat, messageId, workspace }: CallContext): RunTool {
  return async (call, signal) => {
    const tool = findTool(parts.tools, call.toolName);
    if (!tool) {
      return { result: { error: `There is no tool named ${JSON.stringify(call.toolName)}.` }, isError: true };
    }
    const idempotencyKey = `${chat.chatId}:${messageId}:${call.toolCallId}`;
    try {
      return await tool.run(call.arguments, { workspace, idempotencyKey, signal });
    } catch (error) {
      if (!signal.aborted) {
        parts.log.error(
          { err: error, chatId: chat.chatId, tool: tool.name },
          "A tool failed with an exception",
        );
      }
      throw error;
    }
  };
}
