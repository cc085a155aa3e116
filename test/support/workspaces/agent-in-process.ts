// The workspace agent in this process, for servers to attach to: one for all servers of a test environment, where a
// server would start a program of its own, at three times the CPU time of its own start.
import { randomBytes } from "node:crypto";
import { createAgent } from "../../../src/agent/agent.js";
import { DEFAULT_CONTEXT_PATHS } from "../../../src/agent/context/paths.js";
import { createAgentServer } from "../../../src/agent/http.js";
import { inheritedEnvironment } from "../../../src/agent/process/environment.js";
import { systemClock } from "../../../src/lib/clock.js";
import { createLog } from "../../../src/lib/log.js";

export type AgentInProcess = {
  /** Attach a server to it. */
  settings: Record<"PARLEY_WORKSPACE_AGENT_URL" | "PARLEY_WORKSPACE_AGENT_TOKEN", string>;
  /** Ends its commands, too. */
  close(): Promise<void>;
};

/** The agent of a directory; close it after its servers. */
export async function startAgentInProcess(directory: string): Promise<AgentInProcess> {
  const token = randomBytes(32).toString("hex");
  const log = createLog(process.env["PARLEY_TEST_LOG_LEVEL"] ?? "silent", "parley-agent");
  const agent = createAgent({
    directory,
    homeDirectory: directory,
    contextPaths: DEFAULT_CONTEXT_PATHS,
    environment: inheritedEnvironment(),
    clock: systemClock,
    log,
  });
  const server = createAgentServer({ agent, token, log });
  const url = await server.listen({ host: "127.0.0.1", port: 0 });
  agent.mcpServers.start();
  return {
    settings: { PARLEY_WORKSPACE_AGENT_URL: url, PARLEY_WORKSPACE_AGENT_TOKEN: token },
    async close() {
      await agent.close();
      await server.close();
    },
  };
}
