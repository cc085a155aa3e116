/** Calls the workspace agent for a tool. Its refusals become errors that the model can react to. */
import {
  AgentError,
  AgentUnreachable,
  type AgentConnection,
} from "../../workspaces/agent-client/agent-connection.js";
import { ToolError, type ToolContext } from "./tool.js";

/** Error text for the model: the message, with the operating system's detail if there is one. */
export function describeAgentFailure(error: AgentError | AgentUnreachable): string {
  const detail = error instanceof AgentError ? error.facts.detail : undefined;
  return detail === undefined ? error.message : `${error.message} (${detail})`;
}

export function isAgentFailure(error: unknown): error is AgentError | AgentUnreachable {
  return error instanceof AgentError || error instanceof AgentUnreachable;
}

/** Throws a `ToolError` when the agent refuses or cannot be reached, and the reason of the signal when that is aborted. */
export async function askWorkspace<Answer>(
  context: ToolContext,
  ask: (agent: AgentConnection) => Promise<Answer>,
): Promise<Answer> {
  context.signal.throwIfAborted();
  try {
    return await ask(await context.workspace());
  } catch (error) {
    if (isAgentFailure(error)) throw new ToolError(describeAgentFailure(error), { cause: error });
    throw error;
  }
}
