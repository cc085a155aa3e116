/** Second half of a step: runs the tools that the model called, concurrently, and commits their results together. */
import type { MessageDraft } from "../../domain/chats/chat-state.js";
import type { ToolCallPart } from "../../domain/chats/message-parts.js";
import { nextAction } from "../../domain/chats/next-action.js";
import type { Command } from "../../domain/chats/transition.js";
import { executeTools } from "../turn/execute-tools.js";
import { asHistory, type ChatRun } from "./chat-run.js";
import { createRunTool } from "./run-tool.js";
import type { TurnContext } from "./turn-context.js";

/** `messageId`: the assistant message that contains `calls`. */
export async function takeToolStep(
  run: ChatRun,
  context: TurnContext,
  { calls, messageId }: { calls: ToolCallPart[]; messageId: string },
): Promise<void> {
  const startedAt = run.dependencies.clock.now();
  const runTool = createRunTool(run.dependencies, {
    chat: run.chat,
    messageId,
    workspace: () => context.workspace.connection(),
    provisioning: () => context.workspace.provisioning(),
    agents: context.tools.subagents(run.history),
    resultLimitBytes: await context.model.resultLimitBytes(run.history),
    findTool: (name) => context.tools.find(name, run.promptInput),
    toolNames: () => context.tools.names(run.promptInput),
  });
  const stamped = withStartTimes(run, calls, startedAt);
  const results = await executeTools(stamped, runTool, run.abort.signal, run.ports());
  const answered = new Set(results.map((result) => result.toolCallId));
  const openCalls = run.state.openCalls.filter((call) => !answered.has(call.toolCallId));
  const draft: MessageDraft = {
    role: "tool",
    visibility: "both",
    parts: results,
    generation: run.generationId,
  };
  const partial = {
    messages: results.length > 0 ? [draft] : [],
    openCalls,
    addRuntime: { messageId, runtimeMs: run.dependencies.clock.now() - startedAt },
  };
  if (run.abort.reason !== null) return run.releaseOrPersistPartial(partial);
  const fence = run.fence();
  const commands: Command[] = [{ type: "commit-step", fence, ...partial }];
  const after = { openCalls, compactionRequestedAt: null };
  const rules = await context.model.rules(run.history);
  const next = nextAction(asHistory(run.history, draft), after, rules);
  // The next attempt begins in the same transaction, which saves one in every step.
  if (next.type === "call-model" || next.type === "compact") commands.push({ type: "begin-attempt", fence });
  if (!(await run.commit(commands))) await run.finishInterrupt(partial);
}

/** Stamps the calls that begin now; those that an earlier worker began keep the time of their request. */
function withStartTimes({ chat }: ChatRun, calls: ToolCallPart[], now: number): ToolCallPart[] {
  const earlier = new Set(chat.state.openCalls.map(({ toolCallId }) => toolCallId));
  return calls.map((call) => (earlier.has(call.toolCallId) ? call : { ...call, startedAt: now }));
}
