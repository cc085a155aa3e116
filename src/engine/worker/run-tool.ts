/**
 * How a runner runs one tool: finds it, checks what the model wrote, gives it the chat's workspace and its time, and
 * makes what it returns fit to be stored, shown and sent. A tool's bug never becomes the turn's.
 */
import type { ToolOutcome } from "../../domain/tool-outcome.js";
import { errorText } from "../../lib/error-text.js";
import type { HeldChat } from "../../store/leases.js";
import type { AgentConnection } from "../../workspaces/agent-connection.js";
import { capResult } from "../tools/cap-result.js";
import { plainJson } from "../tools/plain-json.js";
import { runWithin } from "../tools/time-limit.js";
import { DEFAULT_TOOL_TIMEOUT_MS, ToolTimedOut, type Tool } from "../tools/tool.js";
import { describeUnknownTool } from "../tools/unknown-tool.js";
import { validateArguments } from "../tools/validate-arguments.js";
import type { RunTool, ShowOutput } from "../turn/ports.js";
import type { RunnerParts } from "./runner-parts.js";

type CallContext = {
  chat: HeldChat;
  messageId: string;
  workspace(): Promise<AgentConnection>;
  /** From `resultLimitBytes` for the turn's model. */
  resultLimitBytes: number;
  /** The tool of that name, ours or the workspace's own; undefined when the model made it up. */
  findTool(name: string): Promise<Tool | undefined>;
  /** As the model knows them. */
  toolNames(): Promise<string[]>;
};

type ToolCall = Parameters<RunTool>[0];

/** The port never rejects, and its results are plain JSON within the limit. */
export function runToolOf(parts: RunnerParts, context: CallContext): RunTool {
  const limitBytes = context.resultLimitBytes;
  return async (call, signal, output) => {
    try {
      const { result, isError } = await answer(parts, context, call, { signal, output });
      return { result: capResult(plainJson(result), limitBytes), isError: Boolean(isError) };
    } catch (error) {
      const facts = { err: error, chatId: context.chat.chatId, tool: call.toolName };
      if (error instanceof ToolTimedOut) parts.log.warn(facts, "A tool was left behind: its time was over");
      else if (!signal.aborted) parts.log.error(facts, "A tool failed with an exception");
      const text = error instanceof ToolTimedOut ? error.message : `The tool failed: ${errorText(error)}`;
      return { result: capResult({ error: plainJson(text) }, limitBytes), isError: true };
    }
  };
}

/** Rejects with a `ToolTimedOut`, the reason of the signal, or whatever the tool throws. */
async function answer(
  parts: RunnerParts,
  context: CallContext,
  call: ToolCall,
  { signal, output }: { signal: AbortSignal; output: ShowOutput },
): Promise<ToolOutcome> {
  const { clock, log } = parts;
  const { chat, messageId, workspace } = context;
  const tool = await context.findTool(call.toolName);
  if (!tool) return refusal(describeUnknownTool(call.toolName, await context.toolNames()));
  const facts = { chatId: chat.chatId, tool: tool.name };
  const given = tool.prepareArguments?.(call.arguments) ?? call.arguments;
  const checked = tool.checksArguments
    ? { isValid: true as const, args: given }
    : await validateArguments(tool.inputSchema, given);
  if (!checked.isValid) return refusal(checked.error);
  if (checked.unchecked !== undefined) {
    log.warn({ ...facts, reason: checked.unchecked }, "A tool's schema is unusable: arguments go unchecked");
  }
  signal.throwIfAborted();
  const idempotencyKey = `${chat.chatId}:${messageId}:${call.toolCallId}`;
  return runWithin(
    { clock, timeoutMs: tool.timeoutMs ?? DEFAULT_TOOL_TIMEOUT_MS, signal },
    (own) => tool.run(checked.args, { workspace, output, idempotencyKey, signal: own }),
    (error) => log.error({ ...facts, err: error }, "A tool failed after its time was over"),
  );
}

function refusal(message: string): ToolOutcome {
  return { result: { error: message }, isError: true };
}
