/** Waits for a process's end; when the wait itself fails, determines the state of the process. */
import { systemClock, type Clock } from "../../../lib/clock.js";
import {
  AgentError,
  type AgentConnection,
  type ProcessOutput,
} from "../../../workspaces/agent-client/agent-connection.js";
import { whileFollowing } from "./live-output.js";
import type { ToolContext } from "../tool.js";
import { describeAgentFailure, isAgentFailure } from "../workspace-call.js";

/** Longest wait that a model may ask for. */
export const MAX_WAIT_MS = 4 * 60 * 60_000;

/** For tools that wait: the longest wait, and time for the start, a second request, and a lost agent. */
export const WAITING_TOOL_TIMEOUT_MS = MAX_WAIT_MS + 5 * 60_000;

/** A broken connection may work the next time; one that breaks each time must not be retried forever. */
const MAX_WAITS = 3;

type SeenAfterBreak = {
  kind: "seen";
  output: ProcessOutput;
  /** Why the wait ended early. */
  brokenBy: string;
  /** The connection that answered after that. */
  agent: AgentConnection;
};

/**
 * `seen`: the output, of an ended process or a running one; `brokenBy` when it comes from a second request. `lost`: the
 * agent no longer knows the process, whose outcome is unknown. `unknown`: neither the wait nor the second request was
 * answered.
 */
export type WaitOutcome =
  | { kind: "seen"; output: ProcessOutput; brokenBy?: undefined }
  | SeenAfterBreak
  | { kind: "lost" }
  | { kind: "unknown"; reason: string };

/**
 * `timeoutMs` 0 does not wait; live output is shown meanwhile. Rejects only with the reason of an aborted signal.
 */
export function waitForProcess(
  context: ToolContext,
  agent: AgentConnection,
  wanted: { id: string; timeoutMs: number },
  clock: Clock = systemClock,
): Promise<WaitOutcome> {
  const wait = () => waitWithRetries(context, agent, wanted, clock);
  return wanted.timeoutMs > 0 ? whileFollowing(context, agent, wanted.id, wait) : wait();
}

async function waitWithRetries(
  context: ToolContext,
  agent: AgentConnection,
  wanted: { id: string; timeoutMs: number },
  clock: Clock,
): Promise<WaitOutcome> {
  const deadlineMs = clock.now() + wanted.timeoutMs;
  let outcome = await waitOnce(context, agent, wanted);
  for (let waits = 1; waits < MAX_WAITS && isBroken(outcome) && clock.now() < deadlineMs; waits += 1) {
    const timeoutMs = deadlineMs - clock.now();
    outcome = await waitOnce(context, outcome.agent, { id: wanted.id, timeoutMs });
  }
  return outcome;
}

/** A wait that ended early, for a command that is still running. */
function isBroken(outcome: WaitOutcome): outcome is SeenAfterBreak {
  return outcome.kind === "seen" && outcome.output.running && outcome.brokenBy !== undefined;
}

async function waitOnce(
  context: ToolContext,
  agent: AgentConnection,
  { id, timeoutMs }: { id: string; timeoutMs: number },
): Promise<WaitOutcome> {
  try {
    const output = await agent.processOutput({ id, wait: timeoutMs > 0, timeoutMs, signal: context.signal });
    return { kind: "seen", output };
  } catch (error) {
    if (context.signal.aborted || !isAgentFailure(error)) throw error;
    if (isUnknownProcess(error)) return { kind: "lost" };
    return readAgain(context, id, describeAgentFailure(error));
  }
}

/** The connection may have broken while the process went on; asks on a new one. Bounded as every request is, 30 s. */
async function readAgain(context: ToolContext, id: string, reason: string): Promise<WaitOutcome> {
  try {
    const agent = await context.workspace();
    const output = await agent.processOutput({ id, signal: context.signal });
    return { kind: "seen", output, brokenBy: reason, agent };
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
