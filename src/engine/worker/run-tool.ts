/**
 * Execution of one tool call: finds the tool, validates its arguments, runs it within its time limit, and makes the
 * result fit to be stored, shown and sent. A tool's bug never fails the turn.
 */
import type { StoredFile } from "../../domain/chats/message-parts.js";
import type { StoredToolOutcome, ToolFile, ToolOutcome } from "../../domain/chats/tool-outcome.js";
import { isDeeperThan, MAX_ARGUMENT_DEPTH } from "../../domain/common/json-depth.js";
import { plainJson } from "../../domain/common/plain-json.js";
import { storageLimitText } from "../../domain/files/storage-limits.js";
import { errorText } from "../../lib/text/error-text.js";
import type { ClaimedChat } from "../../store/chats/leases.js";
import { StorageFull, StorageLimitExceeded } from "../../store/files/storage.js";
import type { AgentConnection } from "../../workspaces/agent-client/agent-connection.js";
import type { Agents } from "../subagents/ports.js";
import { capResult } from "../tools/cap-result.js";
import { selectFiles, withNotes } from "../tools/files/result-files.js";
import { runWithin } from "../tools/processes/time-limit.js";
import { findTool } from "../tools/registry.js";
import { DEFAULT_TOOL_TIMEOUT_MS, ToolTimedOut, type Tool } from "../tools/tool.js";
import { describeUnknownTool } from "../tools/unknown-tool.js";
import { validateArguments } from "../tools/validate-arguments.js";
import type { WorkspaceProvisioning } from "../tools/workspaces/workspace-provisioning.js";
import { inOrder } from "../turn/ordered-calls.js";
import type { RunTool, ShowOutput } from "../turn/ports.js";
import type { RunnerDependencies } from "./runner-dependencies.js";

type CallContext = {
  chat: ClaimedChat;
  messageId: string;
  workspace(): Promise<AgentConnection>;
  /** See `ToolContext.provisioning`. */
  provisioning(): Promise<WorkspaceProvisioning | undefined>;
  /** The chat's subagents. */
  agents: Agents;
  /** From `resultLimitBytes` for the turn's model. */
  resultLimitBytes: number;
  /** Undefined when there is no tool of that name. */
  findTool(name: string): Promise<Tool | undefined>;
  /** Names of all tools that the model was offered. */
  toolNames(): Promise<string[]>;
};

/** Metrics label of tools from workspaces and MCP servers, and of unknown ones: their names are unbounded. */
const OTHER_TOOLS = "other";

type ToolCall = Parameters<RunTool>[0];

/** The returned port never rejects; its results are plain JSON within the limit. */
export function createRunTool(dependencies: RunnerDependencies, context: CallContext): RunTool {
  const run = withTracing(dependencies, withMetrics(dependencies, withSafeResult(dependencies, context)));
  return inOrder(run, (name) => findTool(dependencies.tools.builtIn, name)?.startsAfter ?? []);
}

function withSafeResult(dependencies: RunnerDependencies, context: CallContext): RunTool {
  const { log } = dependencies;
  const limitBytes = context.resultLimitBytes;
  return async (call, signal, output) => {
    try {
      const outcome = await callTool(dependencies, context, call, { signal, output });
      return await storeOutcome(dependencies, context, call, outcome);
    } catch (error) {
      const facts = { err: error, chatId: context.chat.chatId, tool: call.toolName };
      if (error instanceof ToolTimedOut) log.warn(facts, "tool timed out");
      else if (!signal.aborted) log.error(facts, "tool failed with an exception");
      const text = error instanceof ToolTimedOut ? error.message : `The tool failed: ${errorText(error)}`;
      return { result: capResult({ error: plainJson(text) }, limitBytes), isError: true };
    }
  };
}

function withMetrics({ clock, telemetry, tools }: RunnerDependencies, run: RunTool): RunTool {
  return async (call, signal, output) => {
    const startedAt = clock.now();
    const outcome = await run(call, signal, output);
    telemetry.meter.toolCall({
      tool: tools.builtIn.some(({ name }) => name === call.toolName) ? call.toolName : OTHER_TOOLS,
      outcome: outcome.isError ? "error" : "ok",
      seconds: (clock.now() - startedAt) / 1_000,
    });
    return outcome;
  };
}

function withTracing({ telemetry }: RunnerDependencies, run: RunTool): RunTool {
  return (call, signal, output) => {
    const { toolName, toolCallId } = call;
    const attributes = {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": toolName,
      "gen_ai.tool.call.id": toolCallId,
    };
    return telemetry.traces.within({ name: `execute_tool ${toolName}`, attributes }, async (span) => {
      const outcome = await run(call, signal, output);
      if (outcome.isError) span.fail("tool");
      return outcome;
    });
  };
}

/** Rejects with a `ToolTimedOut`, the reason of the signal, or whatever the tool throws. */
async function callTool(
  dependencies: RunnerDependencies,
  context: CallContext,
  call: ToolCall,
  { signal, output }: { signal: AbortSignal; output: ShowOutput },
): Promise<ToolOutcome> {
  const { clock, log } = dependencies;
  const { chat, messageId, workspace, agents } = context;
  if (isDeeperThan(call.arguments, MAX_ARGUMENT_DEPTH)) return refusal(TOO_DEEP);
  if (call.isCut) return refusal(CUT_CALL);
  const tool = await context.findTool(call.toolName);
  if (!tool) return refusal(describeUnknownTool(call.toolName, await context.toolNames()));
  const facts = { chatId: chat.chatId, tool: tool.name };
  const prepared = tool.prepareArguments?.(call.arguments) ?? call.arguments;
  const checked = tool.checksArguments
    ? { isValid: true as const, args: prepared }
    : await validateArguments(tool.inputSchema, prepared);
  if (!checked.isValid) return refusal(checked.error);
  if (checked.unchecked !== undefined) {
    log.warn({ ...facts, reason: checked.unchecked }, "unusable tool schema; arguments are not validated");
  }
  const provisioning = await context.provisioning();
  signal.throwIfAborted();
  const idempotencyKey = `${chat.chatId}:${messageId}:${call.toolCallId}`;
  return runWithin(
    { clock, timeoutMs: tool.timeoutMs ?? DEFAULT_TOOL_TIMEOUT_MS, signal },
    (ownSignal) =>
      tool.run(checked.args, {
        ...{ workspace, agents, output, idempotencyKey, signal: ownSignal },
        ...(provisioning && { provisioning }),
      }),
    (error) => log.error({ ...facts, err: error }, "tool failed after it had timed out"),
  );
}

async function storeOutcome(
  dependencies: RunnerDependencies,
  context: CallContext,
  call: ToolCall,
  { result, isError, files = [] }: ToolOutcome,
): Promise<StoredToolOutcome> {
  const stored = await storeFiles(dependencies, context, call, files);
  return {
    result: capResult(withNotes(plainJson(result), stored.notes), context.resultLimitBytes),
    isError: Boolean(isError),
    ...(stored.files.length > 0 && { files: stored.files }),
  };
}

/** `notes` name the files that were not stored. Never rejects: the tool's work is worth more than its files. */
async function storeFiles(
  { store, log }: RunnerDependencies,
  { chat }: CallContext,
  { toolName }: ToolCall,
  files: readonly ToolFile[],
): Promise<{ files: StoredFile[]; notes: string[] }> {
  if (files.length === 0) return { files: [], notes: [] };
  const { selected, notes } = selectFiles(files);
  try {
    return { files: await store.saveFiles(chat, selected), notes };
  } catch (error) {
    const count = selected.length;
    if (error instanceof StorageLimitExceeded || error instanceof StorageFull) {
      const why = error instanceof StorageFull ? error.message : storageLimitText(error.status);
      return { files: [], notes: [...notes, `[${count} of the tool's files could not be kept: ${why}]`] };
    }
    log.error(
      { err: error, chatId: chat.chatId, tool: toolName, files: count },
      "tool files could not be stored",
    );
    return { files: [], notes: [...notes, `[${count} of the tool's files could not be kept]`] };
  }
}

const TOO_DEEP = `Invalid arguments. They are nested more than ${MAX_ARGUMENT_DEPTH} levels deep: write them flatter.`;

/** Without it the model would wait for a call that never ran, or repeat it unchanged. */
const CUT_CALL =
  "Your call was cut off by the output limit, so it was not run. Make it again with shorter arguments: write a large file in several smaller calls.";

function refusal(message: string): ToolOutcome {
  return { result: { error: message }, isError: true };
}
