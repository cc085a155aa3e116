/** The shape of a tool, and what it is given when the model calls it. A tool knows nothing of chats or stores. */
import { z } from "zod";
import type { JsonObject, JsonValue } from "../../domain/common/json.js";
import type { ToolFile, ToolOutcome } from "../../domain/chats/tool-outcome.js";
import type { AgentConnection } from "../../workspaces/agent-client/agent-connection.js";
import type { Agents } from "../subagents/ports.js";
import type { WorkspaceProvisioning } from "./workspaces/workspace-provisioning.js";

/** What a tool may use while it runs. */
export type ToolContext = {
  /** The subagents of the chat. */
  agents: Agents;
  /**
   * The chat's workspace agent. Rejects with a `ToolError` that tells the model what to do instead when the
   * chat has no workspace or it cannot be reached.
   */
  workspace(): Promise<AgentConnection>;
  /** For the tools that make and change the chat's workspace itself; absent where they may not. */
  provisioning?: WorkspaceProvisioning;
  /**
   * Shows what the tool says while it runs to those who watch; bounded on its way, thrown away when the result is
   * there. `missedBytes` were said before `text` and are lost. Never throws.
   */
  output(text: string, missedBytes?: number): void;
  /** Names this very call for ever (`chatId:messageId:callId`): a re-run attaches instead of starting twice. */
  idempotencyKey: string;
  /**
   * Aborted on interrupt, shutdown and loss of the chat, with a `StopReason`, and when the tool's own time is over,
   * with a `ToolTimedOut`. What is not done some seconds later is left behind.
   */
  signal: AbortSignal;
};

/** Throw it inside a tool for anything the model can react to; its message is all that the model sees. */
export class ToolError extends Error {
  override readonly name = "ToolError";
}

/** What a tool returns that gives files besides its words. */
export class ToolAnswer {
  constructor(
    readonly result: JsonValue,
    readonly files: readonly ToolFile[],
  ) {}
}

/** What is known of a chat before its tools are offered to the model. */
export type ToolFacts = {
  hasWorkspace: boolean;
  /** The chat may make itself a workspace, and start and stop it. */
  mayProvision: boolean;
  /** The workspace told of at least one skill. */
  hasSkills: boolean;
};

export type Tool = {
  name: string;
  /** Prose for the model, from the `.md` file beside the tool. */
  description: string;
  /** JSON Schema of the arguments, each field described. Arguments are checked against it before `run`. */
  inputSchema: JsonObject;
  /**
   * Longest run; `DEFAULT_TOOL_TIMEOUT_MS` when absent. A tool that waits must allow more than its longest wait, or
   * its own answer, which knows how to go on, never comes.
   */
  timeoutMs?: number;
  /** Rewrites shapes that models fall back to into those of the schema, before the check. */
  prepareArguments?(args: JsonObject): JsonObject;
  /** The tool checks its arguments itself: it gets what the model wrote. */
  checksArguments?: boolean;
  /** What it needs; absent: a workspace. Where a chat may have no subagents, their tools are not there at all. */
  worksOn?: "subagents";
  /** It changes nothing: agents that are only to look have it. */
  isReadOnly?: true;
  /** Of the same step, it starts when earlier calls of these tools have ended. */
  startsAfter?: readonly string[];
  /** Absent: wherever there is what it works on. */
  isOffered?(facts: ToolFacts): boolean;
  run(args: JsonObject, context: ToolContext): Promise<ToolOutcome>;
};

/**
 * Most work in a workspace is one request of at most 30 seconds, after at most 15 for a connection; a tool beyond
 * ten minutes hangs.
 */
export const DEFAULT_TOOL_TIMEOUT_MS = 10 * 60_000;

/** The reason of a tool's signal when its time is over. */
export class ToolTimedOut extends Error {
  override readonly name = "ToolTimedOut";
}

/** Builds a tool whose arguments are parsed before `run` sees them; bad ones become an error naming the field. */
export function defineTool<Args extends z.ZodObject>(definition: {
  name: string;
  description: string;
  parameters: Args;
  /** See `Tool.timeoutMs`. */
  timeoutMs?: number;
  worksOn?: "subagents";
  isReadOnly?: true;
  startsAfter?: readonly string[];
  isOffered?(facts: ToolFacts): boolean;
  run(args: z.infer<Args>, context: ToolContext): Promise<JsonValue | ToolAnswer>;
}): Tool {
  const { $schema: _, ...inputSchema } = z.toJSONSchema(definition.parameters, { io: "input" }) as JsonObject;
  return {
    name: definition.name,
    description: definition.description,
    inputSchema,
    ...(definition.timeoutMs !== undefined && { timeoutMs: definition.timeoutMs }),
    ...(definition.worksOn && { worksOn: definition.worksOn }),
    ...(definition.isReadOnly && { isReadOnly: definition.isReadOnly }),
    ...(definition.startsAfter && { startsAfter: definition.startsAfter }),
    ...(definition.isOffered && { isOffered: definition.isOffered }),
    async run(rawArgs, context) {
      const parsed = definition.parameters.safeParse(rawArgs);
      if (!parsed.success) {
        return { result: { error: `Invalid arguments.\n${z.prettifyError(parsed.error)}` }, isError: true };
      }
      try {
        const answer = await definition.run(parsed.data, context);
        if (!(answer instanceof ToolAnswer)) return { result: answer, isError: false };
        return { result: answer.result, isError: false, files: answer.files };
      } catch (error) {
        if (error instanceof ToolError) return { result: { error: error.message }, isError: true };
        throw error;
      }
    },
  };
}
