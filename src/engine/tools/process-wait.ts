/** Waits for a process's end for a tool; when the wait itself fails, finds out what became of the process. */
import { AgentError, type AgentConnection, type ProcessOutput } from "../../workspaces/agent-connection.js";
import type { ToolContext } from "./tool.js";
import { describeAgentFailure, isAgentFailure } from "./workspace-call.js";

/** Longest wait that a model may ask for. */
export const MAX_WAIT_MS = 4 * 60 * 60_000;

/** For tools that wait: the longest wait, and room for starting, for a look afterwards, and for a lost agent. */
export const WAITING_TOOL_TIMEOUT_MS = MAX_WAIT_MS + 5 * 60_000;

/**
 * `seen`: the output, ended or not. `lost`: the agent no longer knows the process, whose outcome is unknown.
 * `unknown`: neither the wait nor a look afterwards was answered.
 */
export type WaitOutcome =
  { kind: "seen"; output: ProcessOutput } | { kind: "lost" } | { kind: "unknown"; reason: string };

/** `timeoutMs` 0 is a look without waiting. Rejects only with the reason of an aborted signal. */
export async function waitForProcess(
  context: ToolContext,
  agent: AgentConnection,
  wanted: { id: string; timeoutMs: number },
): Promise<WaitOutcome> {
  const { id, timeoutMs } = wanted;
  try {
    const output = await agent.processOutput({ id, wait: timeoutMs > 0, timeoutMs, signal: context.signal });
    return { kind: "seen", output };
  } catch (error) {
    if (context.signal.aborted || !isAgentFailure(error)) throw error;
    if (isUnknownProcess(error)) return { kind: "lost" };
    return lookAgain(context, id, describeAgentFailure(error));
  }
}

/** The connection may have broken while the process went on; a fresh one tells. Bounded as every request is, 30 s. */
async function lookAgain(context: ToolContext, id: string, reason: string): Promise<WaitOutcome> {
  try {
    const agent = await context.workspace();
    return { kind: "seen", output: await agent.processOutput({ id, signal: context.signal }) };
  } catch (error) {
    if (context.signal.aborted) throw error;
    if (isUnknownProcess(error)) return { kind: "lost" };
    if (isAgentFailure(error)) return { kind: "unknown", reason };
    return { kind: "unknown", reason: error instanceof Error ? `${reason} ${error.message}` : reason };
  }
}

function isUnknownProcess(error: unknown): boolean {
  return error instanceof AgentError && error.status === 404;
}
