/** The second half of a step: the tools that the model asked for run side by side; their results are one commit. */
import type { MessageDraft } from "../../domain/chats/chat-state.js";
import type { ToolCallPart } from "../../domain/chats/message-parts.js";
import { nextAction } from "../../domain/chats/next-action.js";
import type { Command } from "../../domain/chats/transition.js";
import { executeTools } from "../turn/execute-tools.js";
import { asHistory, type ChatRun } from "./chat-run.js";
import { runToolOf } from "./run-tool.js";
import type { TurnContext } from "./turn-context.js";

/** `messageId` is the assistant message that asks for `calls`. */
export async function takeToolStep(
  hold: ChatRun,
  context: TurnContext,
  { calls, messageId }: { calls: ToolCallPart[]; messageId: string },
): Promise<void> {
  const startedAt = hold.parts.clock.now();
  const run = runToolOf(hold.parts, {
    chat: hold.chat,
    messageId,
    workspace: () => context.workspace(),
    desk: () => context.desk(),
    agents: context.agents(hold.history),
    resultLimitBytes: await context.resultLimitBytes(hold.history),
    findTool: (name) => context.findTool(name, hold.moment),
    toolNames: () => context.toolNames(hold.moment),
  });
  const results = await executeTools(begun(hold, calls, startedAt), run, hold.switch.signal, hold.ports());
  const answered = new Set(results.map((result) => result.toolCallId));
  const openCalls = hold.state.openCalls.filter((call) => !answered.has(call.toolCallId));
  const draft: MessageDraft = {
    role: "tool",
    visibility: "both",
    parts: results,
    generation: hold.generationId,
  };
  const kept = {
    messages: results.length > 0 ? [draft] : [],
    openCalls,
    addRuntime: { messageId, runtimeMs: hold.parts.clock.now() - startedAt },
  };
  if (hold.switch.reason !== null) return hold.releaseOrPersistPartial(kept);
  const fence = hold.fence();
  const commands: Command[] = [{ type: "commit-step", fence, ...kept }];
  const after = { openCalls, compactionRequestedAt: null };
  const next = nextAction(asHistory(hold.history, draft), after, await context.rules(hold.history));
  // The next attempt begins in the same transaction: that saves one in every step.
  if (next.type === "call-model" || next.type === "compact") commands.push({ type: "begin-attempt", fence });
  if (!(await hold.commit(commands))) await hold.finishInterrupt(kept);
}

/** The calls as they begin now; those that an earlier worker had begun go on from where they were asked for. */
function begun({ chat }: ChatRun, calls: ToolCallPart[], now: number): ToolCallPart[] {
  const earlier = new Set(chat.state.openCalls.map(({ toolCallId }) => toolCallId));
  return calls.map((call) => (earlier.has(call.toolCallId) ? call : { ...call, startedAt: now }));
}
