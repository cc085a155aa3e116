/** The `execute` tool: runs a shell command in the workspace and waits for it, or leaves it in the background. */
import { z } from "zod";
import type { JsonObject } from "../../../domain/common/json.js";
import { systemClock, type Clock } from "../../../lib/clock.js";
import {
  AgentError,
  AgentUnreachable,
  type AgentConnection,
} from "../../../workspaces/agent-client/agent-connection.js";
import { fileDumpNote, promoteBackground } from "./command-text.js";
import { DURATION_FORMAT, formatDuration, parseDuration } from "./duration.js";
import { exitFields, outputFields } from "../model-output.js";
import { MAX_WAIT_MS, WAITING_TOOL_TIMEOUT_MS, waitForProcess, type WaitOutcome } from "./process-wait.js";
import { readDescription } from "../read-description.js";
import { defineTool, ToolError, type ToolContext } from "../tool.js";
import { describeAgentFailure, isAgentFailure } from "../workspace-call.js";

/** Long enough for most commands, short enough that a server started by mistake does not block the chat. */
const DEFAULT_TIMEOUT_MS = 10_000;

/** Disables editors, pagers and password prompts, which no one could answer. */
const COMMAND_ENVIRONMENT: Readonly<Record<string, string>> = {
  PARLEY_CHAT_AGENT: "true",
  GIT_EDITOR: "true",
  GIT_SEQUENCE_EDITOR: "true",
  EDITOR: "true",
  VISUAL: "true",
  GIT_TERMINAL_PROMPT: "0",
  NO_COLOR: "1",
  TERM: "dumb",
  PAGER: "cat",
  GIT_PAGER: "cat",
};

const parameters = z.object({
  command: z
    .string()
    .describe("The shell command, run by `sh -c`. Do not end it with `&`; use run_in_background instead."),
  // Shown to users by clients; it does not affect the command or its result.
  model_intent: z
    .string()
    .optional()
    .describe(
      'What the command is for, in a few words for the user who watches, such as "Running the unit tests".',
    ),
  timeout: z
    .string()
    .optional()
    .describe(
      `How long to wait for the command: ${DURATION_FORMAT}. Default "10s", at most "4h". The command goes on after it.`,
    ),
  workdir: z
    .string()
    .optional()
    .describe(
      "Directory to run in, absolute or relative to the workspace's directory, which is the default.",
    ),
  run_in_background: z
    .boolean()
    .optional()
    .describe(
      "Return at once and leave the command running: for servers, watchers and long builds. Do not use a shell `&` for this.",
    ),
});

/** A parsed command; `timeoutMs` is undefined for the background. */
type Plan = { command: string; workdir: string | undefined; timeoutMs: number | undefined };

function planCommand(args: z.infer<typeof parameters>): Plan {
  const promoted = promoteBackground(args.command);
  const command = promoted.command;
  const isBackground = promoted.isBackground || args.run_in_background === true;
  if (command.trim() === "") throw new ToolError("command is required.");
  return { command, workdir: args.workdir, timeoutMs: isBackground ? undefined : readTimeout(args.timeout) };
}

function readTimeout(text: string | undefined): number {
  if (text === undefined || text.trim() === "") return DEFAULT_TIMEOUT_MS;
  const timeoutMs = parseDuration(text);
  if (timeoutMs === undefined)
    throw new ToolError(`timeout "${text}" is not a duration; write ${DURATION_FORMAT}.`);
  if (timeoutMs <= 0) throw new ToolError("timeout must be more than zero.");
  return Math.min(timeoutMs, MAX_WAIT_MS);
}

export const executeTool = defineTool({
  name: "execute",
  description: readDescription(import.meta.url),
  parameters,
  timeoutMs: WAITING_TOOL_TIMEOUT_MS,
  run: (args, context) => runCommand(planCommand(args), context, systemClock),
});

async function runCommand(plan: Plan, context: ToolContext, clock: Clock): Promise<JsonObject> {
  const startedAtMs = clock.now();
  context.signal.throwIfAborted();
  const agent = await context.workspace();
  const started = await startCommand(plan, context, agent);
  if ("error" in started) {
    return {
      success: false,
      exit_code: -1,
      wall_duration_ms: clock.now() - startedAtMs,
      error: started.error,
    };
  }
  if (plan.timeoutMs === undefined) {
    return { success: true, exit_code: 0, wall_duration_ms: 0, background_process_id: started.id };
  }
  const remainingMs = Math.max(1, plan.timeoutMs - (clock.now() - startedAtMs));
  const outcome = await waitOrInterrupt(context, agent, { id: started.id, timeoutMs: remainingMs }, clock);
  const note = fileDumpNote(plan.command);
  return {
    ...describeOutcome(outcome, started.id, plan.timeoutMs),
    wall_duration_ms: clock.now() - startedAtMs,
    ...(note !== undefined && { note }),
  };
}

/**
 * Repeats a start whose answer was lost, once, on a new connection: the key finds the process of the first one. Only with
 * the same agent: on another one the command may have run without a trace, and must not run twice.
 */
async function startCommand(
  plan: Plan,
  context: ToolContext,
  agent: AgentConnection,
): Promise<{ id: string } | { error: string }> {
  const started = await startOnce(plan, context, agent);
  if (!("error" in started) || !started.isLost) return started;
  const next = await context.workspace().catch(() => null);
  return next?.instance === agent.instance ? startOnce(plan, context, next) : started;
}

/** The agent's status code at its maximum of running processes. */
const TOO_MANY = 429;
const TOO_MANY_ADVICE =
  "Nothing was started. Stop one that is not needed any more with process_signal (process_list shows all of this " +
  "chat), or wait for one to end with process_output, and try again.";

/**
 * Not aborted by the signal: a start whose answer is lost would leave a process with an unknown id. It takes milliseconds,
 * and at most the agent's request timeout.
 */
async function startOnce(
  plan: Plan,
  context: ToolContext,
  agent: AgentConnection,
): Promise<{ id: string } | { error: string; isLost: boolean }> {
  try {
    const { id } = await agent.startProcess({
      command: plan.command,
      workdir: plan.workdir,
      env: { ...COMMAND_ENVIRONMENT },
      background: plan.timeoutMs === undefined,
      idempotencyKey: context.idempotencyKey,
    });
    return { id };
  } catch (error) {
    if (!isAgentFailure(error)) throw error;
    const advice = error instanceof AgentError && error.status === TOO_MANY ? ` ${TOO_MANY_ADVICE}` : "";
    return { error: describeAgentFailure(error) + advice, isLost: error instanceof AgentUnreachable };
  }
}

/** Between SIGTERM and SIGKILL; shorter than a turn waits for a stopped tool. */
const TERMINATION_GRACE_MS = 1_000;

/** An interrupt ends the command; a shutdown leaves it running, for the next worker to find. */
async function waitOrInterrupt(
  context: ToolContext,
  agent: AgentConnection,
  wanted: { id: string; timeoutMs: number },
  clock: Clock,
): Promise<WaitOutcome> {
  try {
    return await waitForProcess(context, agent, wanted, clock);
  } catch (error) {
    if (endsCommands(context.signal)) await terminate(agent, wanted.id);
    throw error;
  }
}

/** A user stopped the turn, or edited the message it answers: no worker will look for its commands. */
const ENDING: ReadonlySet<unknown> = new Set(["interrupt", "history-rewritten"]);

function endsCommands(signal: AbortSignal): boolean {
  const reason: unknown = signal.aborted ? signal.reason : undefined;
  return typeof reason === "object" && reason !== null && "kind" in reason && ENDING.has(reason.kind);
}

/**
 * Terminates the command, and kills it if it does not react. A refusal (the process has just ended) or an unreachable
 * agent leaves nothing to do.
 */
async function terminate(agent: AgentConnection, id: string): Promise<void> {
  try {
    await agent.signalProcess(id, "terminate");
    const { running } = await agent.processOutput({ id, wait: true, timeoutMs: TERMINATION_GRACE_MS });
    if (running) await agent.signalProcess(id, "kill");
  } catch (error) {
    if (!isAgentFailure(error)) throw error;
  }
}

function describeOutcome(outcome: WaitOutcome, id: string, timeoutMs: number): JsonObject {
  switch (outcome.kind) {
    case "lost":
      return { success: false, exit_code: -1, error: "The process was lost; its outcome is unknown." };
    case "unknown":
      return {
        success: false,
        exit_code: -1,
        error: `${outcome.reason} The command may still be running; use process_output with this process id to find out.`,
        background_process_id: id,
      };
    case "seen":
      if (!outcome.output.running) return exitFields(outcome.output);
      return {
        success: false,
        ...outputFields(outcome.output),
        exit_code: -1,
        error:
          `${whyStillRunning(outcome.brokenBy, timeoutMs)} Use process_output with this process id to wait for it, or ` +
          "process_signal to stop it.",
        background_process_id: id,
      };
  }
}

function whyStillRunning(brokenBy: string | undefined, timeoutMs: number): string {
  return brokenBy === undefined
    ? `The command timed out after ${formatDuration(timeoutMs)} and is still running.`
    : `Waiting for the command failed: ${brokenBy} It is still running.`;
}
