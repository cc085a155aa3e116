/** The shape of a tool, and what it is given when the model calls it. A tool knows nothing of chats or stores. */
import { z } from "zod";
import type { JsonObject, JsonValue } from "../../domain/json.js";
import type { ToolOutcome } from "../../domain/tool-outcome.js";
import type { AgentConnection } from "../../workspaces/agent-connection.js";

/** What a tool may use while it runs. */
export type ToolContext = {
  /**
   * The chat's workspace agent. Rejects with a `ToolError` that tells the model what to do instead when the
   * chat has no workspace or it cannot be reached.
   */
  workspace(): Promise<AgentConnection>;
  /** Names this very call for ever (`chatId:messageId:callId`): a re-run attaches instead of starting twice. */
  idempotencyKey: string;
  /** Aborted on interrupt, shutdown and loss of the chat; the reason is a `StopReason`. */
  signal: AbortSignal;
};

/** Throw it inside a tool for anything the model can react to; its message is all that the model sees. */
export class ToolError extends Error {
  override readonly name = "ToolError";
}

export type Tool = {
  name: string;
  /** Prose for the model, from the `.md` file beside the tool. */
  description: string;
  /** JSON Schema of the arguments, each field described. */
  inputSchema: JsonObject;
  run(args: JsonObject, context: ToolContext): Promise<ToolOutcome>;
};

/** Builds a tool whose arguments are parsed before `run` sees them; bad ones become an error naming the field. */
export function defineTool<Args extends z.ZodObject>(definition: {
  name: string;
  description: string;
  parameters: Args;
  run(args: z.infer<Args>, context: ToolContext): Promise<JsonValue>;
}): Tool {
  const { $schema: _, ...inputSchema } = z.toJSONSchema(definition.parameters, { io: "input" }) as JsonObject;
  return {
    name: definition.name,
    description: definition.description,
    inputSchema,
    async run(rawArgs, context) {
      const parsed = definition.parameters.safeParse(rawArgs);
      if (!parsed.success) {
        return { result: { error: `Invalid arguments.\n${z.prettifyError(parsed.error)}` }, isError: true };
      }
      try {
        return { result: await definition.run(parsed.data, context), isError: false };
      } catch (error) {
        if (error instanceof ToolError) return { result: { error: error.message }, isError: true };
        throw error;
      }
    },
  };
}
