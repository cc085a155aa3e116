/**
 * How a runner runs one tool: finds it, checks what the model wrote, gives it the chat's workspace and its time, and
 * makes what it returns fit to be stored, shown and sent. A tool's bug never becomes the turn's.
 */
import type { StoredFile } from "../../domain/chats/message-parts.js";
import type { ToolFile, ToolOutcome } from "../../domain/chats/tool-outcome.js";
import { isDeeperThan, MAX_ARGUMENT_DEPTH } from "../../domain/common/json-depth.js";
import { storageLimitText } from "../../domain/files/storage-limits.js";
import { errorText } from "../../lib/text/error-text.js";
import type { ClaimedChat } from "../../store/chats/leases.js";
import type { AgentConnection } from "../../workspaces/agent-client/agent-connection.js";
import { capResult } from "../tools/cap-result.js";
import { plainJson } from "../../domain/common/plain-json.js";
import { findTool } from "../tools/registry.js";
import { sortFiles, withWords } from "../tools/files/result-files.js";
import type { Agents } from "../subagents/ports.js";
import { inOrder } from "../turn/ordered-calls.js";
import { StorageFull, StorageLimitExceeded } from "../../store/files/storage.js";
import { runWithin } from "../tools/processes/time-limit.js";
import { DEFAULT_TOOL_TIMEOUT_MS, ToolTimedOut, type Tool } from "../tools/tool.js";
import type { WorkspaceProvisioning } from "../tools/workspaces/workspace-provisioning.js";
import { describeUnknownTool } from "../tools/unknown-tool.js";
import { validateArguments } from "../tools/validate-arguments.js";
import type { RunTool, ShowOutput } from "../turn/ports.js";
import type { RunnerDependencies } from "./runner-dependencies.js";

type CallContext = {
  chat: ClaimedChat;
  messageId: string;
  workspace(): Promise<AgentConnection>;
  /** See `ToolContext.desk`. */
  desk(): Promise<WorkspaceProvisioning | undefined>;
  /** The chat's subagents. */
  agents: Agents;
  /** From `resultLimitBytes` for the turn's model. */
  resultLimitBytes: number;
  /** The tool of that name, ours or the workspace's own; undefined when the model made it up. */
  findTool(name: string): Promise<Tool | undefined>;
  /** As the model knows them. */
  toolNames(): Promise<string[]>;
};

/** In figures: those of workspaces and tool servers, and those that models made up. Their names have no end. */
const OTHER_TOOLS = "other";

const TOO_DEEP = `Invalid arguments. They are nested more than ${MAX_ARGUMENT_DEPTH} levels deep: write them flatter.`;

type ToolCall = Parameters<RunTool>[0];

/** The port never rejects, and its results are plain JSON within the limit. */
export function runToolOf(parts: RunnerDependencies, context: CallContext): RunTool {
  const limitBytes = context.resultLimitBytes;
  const run: RunTool = async (call, signal, output) => {
    try {
      const { result, isError, files: given } = await answer(parts, context, call, { signal, output });
      const { files, words } = await keepFiles(parts, context, call, given ?? []);
      const told = withWords(plainJson(result), words);
      return {
        result: capResult(told, limitBytes),
        isError: Boolean(isError),
        ...(files.length > 0 && { files }),
      };
    } catch (error) {
      const facts = { err: error, chatId: context.chat.chatId, tool: call.toolName };
      if (error instanceof ToolTimedOut) parts.log.warn(facts, "A tool was left behind: its time was over");
      else if (!signal.aborted) parts.log.error(facts, "A tool failed with an exception");
      const text = error instanceof ToolTimedOut ? error.message : `The tool failed: ${errorText(error)}`;
      return { result: capResult({ error: plainJson(text) }, limitBytes), isError: true };
    }
  };
  const measured: RunTool = async (call, signal, output) => {
    const startedAt = parts.clock.now();
    const outcome = await run(call, signal, output);
    parts.meter.toolCall({
      tool: parts.tools.some(({ name }) => name === call.toolName) ? call.toolName : OTHER_TOOLS,
      outcome: outcome.isError ? "error" : "ok",
      seconds: (parts.clock.now() - startedAt) / 1_000,
    });
    return outcome;
  };
  const traced: RunTool = (call, signal, output) => {
    const { toolName, toolCallId } = call;
    const facts = {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": toolName,
      "gen_ai.tool.call.id": toolCallId,
    };
    return parts.traces.within({ name: `execute_tool ${toolName}`, facts }, async (span) => {
      const outcome = await measured(call, signal, output);
      if (outcome.isError) span.fail("tool");
      return outcome;
    });
  };
  return inOrder(traced, (name) => findTool(parts.tools, name)?.startsAfter ?? []);
}

/** Rejects with a `ToolTimedOut`, the reason of the signal, or whatever the tool throws. */
async function answer(
  parts: RunnerDependencies,
  context: CallContext,
  call: ToolCall,
  { signal, output }: { signal: AbortSignal; output: ShowOutput },
): Promise<ToolOutcome> {
  const { clock, log } = parts;
  const { chat, messageId, workspace, agents } = context;
  if (isDeeperThan(call.arguments, MAX_ARGUMENT_DEPTH)) return refusal(TOO_DEEP);
  if (call.isCut) return refusal(CUT_CALL_TEXT);
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
  const desk = await context.desk();
  signal.throwIfAborted();
  const idempotencyKey = `${chat.chatId}:${messageId}:${call.toolCallId}`;
  return runWithin(
    { clock, timeoutMs: tool.timeoutMs ?? DEFAULT_TOOL_TIMEOUT_MS, signal },
    (own) =>
      tool.run(checked.args, {
        ...{ workspace, agents, output, idempotencyKey, signal: own },
        ...(desk && { desk }),
      }),
    (error) => log.error({ ...facts, err: error }, "A tool failed after its time was over"),
  );
}

/** `words` tell of those that are not kept. Never rejects: what the tool did is worth more than its pictures. */
async function keepFiles(
  parts: RunnerDependencies,
  { chat }: CallContext,
  { toolName }: ToolCall,
  given: readonly ToolFile[],
): Promise<{ files: StoredFile[]; words: string[] }> {
  if (given.length === 0) return { files: [], words: [] };
  const { kept, words } = sortFiles(given);
  try {
    return { files: await parts.keepFiles(chat, kept), words };
  } catch (error) {
    const files = kept.length;
    if (error instanceof StorageLimitExceeded || error instanceof StorageFull) {
      const why = error instanceof StorageFull ? error.message : storageLimitText(error.status);
      return { files: [], words: [...words, `[${files} of the tool's files could not be kept: ${why}]`] };
    }
    parts.log.error({ err: error, chatId: chat.chatId, tool: toolName, files }, "A tool's files are lost");
    return { files: [], words: [...words, `[${files} of the tool's files could not be kept]`] };
  }
}

/** What a model learns of a call that the output limit cut: else it would wait for what never ran, or do it again. */
const CUT_CALL_TEXT =
  "Your call was cut off by the output limit, so it was not run. Make it again with shorter arguments: write a large file in several smaller calls.";

function refusal(message: string): ToolOutcome {
  return { result: { error: message }, isError: true };
}
