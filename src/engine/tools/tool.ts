/** Interface of a tool, and the context of its calls. A tool knows nothing of chats or stores. */
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
   * Connection to the chat's workspace agent. Rejects with a `ToolError` that advises the model when the chat has no
   * workspace or it cannot be reached.
   */
  workspace(): Promise<AgentConnection>;
  /** Creates and changes the chat's workspace; absent where the chat may not. */
  provisioning?: WorkspaceProvisioning;
  /**
   * Shows live output to users; rate-limited, and discarded when the result is there. `missedBytes`: lost output before
   * `text`. Never throws.
   */
  output(text: string, missedBytes?: number): void;
  /** Identifies the call (`chatId:messageId:callId`): a repeated call attaches to the first instead of starting twice. */
  idempotencyKey: string;
  /**
   * Aborted on interrupt, shutdown and loss of the lease, with a `StopReason`, and on the tool's timeout, with a
   * `ToolTimedOut`. A tool that has not ended some seconds later is abandoned.
   */
  signal: AbortSignal;
};

/** Thrown inside a tool for anything the model can react to; the model sees only its message. */
export class ToolError extends Error {
  override readonly name = "ToolError";
}

/** Result of a tool that also returns files. */
export class ToolAnswer {
  constructor(
    readonly result: JsonValue,
    readonly files: readonly ToolFile[],
  ) {}
}

/** Facts about a chat that decide which tools the model is offered. */
export type ToolFacts = {
  hasWorkspace: boolean;
  /** The chat may create, start and stop its workspace. */
  mayProvision: boolean;
  /** The workspace has at least one skill. */
  hasSkills: boolean;
};

export type Tool = {
  name: string;
  /** For the model, from the `.md` file beside the tool. */
  description: string;
  /** JSON Schema of the arguments, each field described. Arguments are checked against it before `run`. */
  inputSchema: JsonObject;
  /**
   * Timeout; `DEFAULT_TOOL_TIMEOUT_MS` when absent. A tool that waits needs more than its longest wait, or its own
   * answer, with advice on how to continue, never comes.
   */
  timeoutMs?: number;
  /** Converts argument shapes that models fall back to into those of the schema, before validation. */
  prepareArguments?(args: JsonObject): JsonObject;
  /** The tool validates its arguments itself: it gets what the model wrote. */
  checksArguments?: boolean;
  /** What it works on; absent = a workspace. A chat that may have no subagents does not get their tools. */
  worksOn?: "subagents";
  /** It changes nothing: read-only agents get it too. */
  isReadOnly?: true;
  /** Within a step, it starts after earlier calls of these tools have ended. */
  startsAfter?: readonly string[];
  /** Absent = wherever there is what it works on. */
  isAvailable?(facts: ToolFacts): boolean;
  run(args: JsonObject, context: ToolContext): Promise<ToolOutcome>;
};

/**
 * Most work in a workspace is one request of at most 30 seconds, after at most 15 for a connection; a tool that takes ten
 * minutes hangs.
 */
export const DEFAULT_TOOL_TIMEOUT_MS = 10 * 60_000;

/** Reason of a tool's signal on its timeout. */
export class ToolTimedOut extends Error {
  override readonly name = "ToolTimedOut";
}

/** Builds a tool whose arguments are parsed before `run`; invalid ones become an error that names the field. */
export function defineTool<Args extends z.ZodObject>(definition: {
  name: string;
  description: string;
  parameters: Args;
  /** See `Tool.timeoutMs`. */
  timeoutMs?: number;
  worksOn?: "subagents";
  isReadOnly?: true;
  startsAfter?: readonly string[];
  isAvailable?(facts: ToolFacts): boolean;
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
    ...(definition.isAvailable && { isAvailable: definition.isAvailable }),
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
