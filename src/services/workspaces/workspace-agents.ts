/** Describes a workspace's agent to users, on demand. Never starts an agent. */
import type { WorkspaceAgentFacts } from "../../domain/workspaces/workspace.js";
import { sleep, type Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import type { AgentConnection } from "../../workspaces/agent-client/agent-connection.js";
import type { WorkspaceMcpPermissions } from "./workspace-mcp-permissions.js";
import type { WorkspaceContexts } from "./workspace-contexts.js";

/** Bounds each of the two steps, so that a page waits at most twice this for a workspace that does not answer. */
const PATIENCE_MS = 5_000;

export type WorkspaceAgentsDependencies = {
  /** The running agent; null when there is none. Rejects when it cannot be reached. */
  findAgent: (workspaceId: string) => Promise<AgentConnection | null>;
  contexts: WorkspaceContexts;
  mcpPermissions: WorkspaceMcpPermissions;
  clock: Clock;
  log: Log;
};

/** Null when the agent is not running or does not answer. The caller checks that the viewer may see it. */
export async function describeAgent(
  dependencies: WorkspaceAgentsDependencies,
  workspaceId: string,
): Promise<WorkspaceAgentFacts | null> {
  const { findAgent, contexts, clock, log } = dependencies;
  const isFound = new AbortController();
  try {
    const tooLate = sleep(clock, PATIENCE_MS, isFound.signal).then(() => null);
    const agent = await Promise.race([findAgent(workspaceId), tooLate]);
    if (agent === null) return null;
    const [health, context, mcpTools] = await Promise.all([
      agent.health({ signal: AbortSignal.timeout(PATIENCE_MS) }),
      contexts.read(workspaceId, () => Promise.resolve(agent)),
      listTools(agent, workspaceId, dependencies),
    ]);
    return {
      version: health.programVersion,
      workingDirectory: health.workingDirectory,
      contextFiles: (context?.instructionFiles ?? []).map(({ path, isTruncated }) => ({ path, isTruncated })),
      skills: (context?.skills ?? []).map(({ name, description }) => ({ name, description })),
      mcpTools,
    };
  } catch (error) {
    log.info({ err: error, workspaceId }, "workspace agent did not answer");
    return null;
  } finally {
    isFound.abort();
  }
}

async function listTools(
  agent: AgentConnection,
  workspaceId: string,
  { mcpPermissions, log }: WorkspaceAgentsDependencies,
): Promise<WorkspaceAgentFacts["mcpTools"]> {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const { tools } = await mcpPermissions.listTools(workspaceId, agent, { signal });
    return tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  } catch (error) {
    log.info({ err: error, workspaceId }, "listing a workspace's tools failed");
    return null;
  }
}
