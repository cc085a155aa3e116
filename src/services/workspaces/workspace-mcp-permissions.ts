/**
 * Permissions of workspaces' own MCP servers: tells agents what they may start, and records what asks for permission.
 * Every list of an agent's tools goes through here, so that an agent is never without the current decision for long.
 */
import { entryText, type McpPermissions } from "../../domain/mcp/workspace-entry.js";
import { hashOf } from "../../lib/hash.js";
import type { Log } from "../../lib/log.js";
import type { Database } from "../../store/common/database.js";
import {
  readKnownMcpEntries,
  replaceMcpRequests,
  type KnownMcpEntries,
  type McpRequestReport,
} from "../../store/workspaces/workspace-mcp-entries.js";
import type { AgentConnection, McpToolsAnswer } from "../../workspaces/agent-client/agent-connection.js";

export type WorkspaceMcpPermissionsDependencies = {
  database: Database;
  /** The deployment's own rules. */
  rules: Pick<McpPermissions, "isEverything" | "hashes" | "hosts">;
  /** The running agent; null when there is none. Never starts one. */
  findAgent(workspaceId: string): Promise<AgentConnection | null>;
  log: Log;
};

/** As of `AgentConnection.mcpTools`. */
type ListOptions = { isWaiting?: boolean; signal?: AbortSignal };

/** Longest name of a file, in characters, that is recorded. */
const MAX_PATH_CHARACTERS = 1_000;
/** As long as a page waits for what an agent says about itself. */
const PATIENCE_MS = 5_000;

export class WorkspaceMcpPermissions {
  readonly #applying = new Set<Promise<void>>();

  constructor(private readonly dependencies: WorkspaceMcpPermissionsDependencies) {}

  /** The agent's servers and tools, after it was told what may run. Rejects as the agent's connection does. */
  async listTools(
    workspaceId: string,
    agent: AgentConnection,
    options: ListOptions = {},
  ): Promise<McpToolsAnswer> {
    const { database, rules } = this.dependencies;
    const known = (await readKnownMcpEntries(database, workspaceId)) ?? {
      revision: 0,
      allowed: [],
      requested: [],
    };
    const hashes = [...known.allowed, ...rules.hashes];
    const permissions = { ...rules, revision: known.revision, hashes };
    const answer = await agent.mcpTools({ permissions, ...options });
    await this.#saveRequests(workspaceId, known, answer);
    return answer;
  }

  /** Tells the running agent at once, in the background; without one its next list does. */
  apply(workspaceId: string): void {
    const applying = this.#apply(workspaceId).finally(() => this.#applying.delete(applying));
    this.#applying.add(applying);
  }

  /** Asks the running agent what it wants to start now, and waits for it a few seconds. Never rejects. */
  async refresh(workspaceId: string): Promise<void> {
    await this.#apply(workspaceId, { isWaiting: false, signal: AbortSignal.timeout(PATIENCE_MS) });
  }

  /** Resolves when no agent is being told. Close the agents first, or it waits for their answers. */
  async close(): Promise<void> {
    await Promise.all(this.#applying);
  }

  async #apply(workspaceId: string, options: ListOptions = {}): Promise<void> {
    const { findAgent, log } = this.dependencies;
    try {
      const agent = await findAgent(workspaceId);
      if (agent !== null) await this.listTools(workspaceId, agent, options);
    } catch (error) {
      log.info({ err: error, workspaceId }, "workspace agent did not hear of its MCP permissions");
    }
  }

  /** Writes only when something else is requested than before. */
  async #saveRequests(
    workspaceId: string,
    { allowed, requested }: KnownMcpEntries,
    answer: McpToolsAnswer,
  ): Promise<void> {
    const reports = new Map(answer.requests.map((request) => [hashOf(entryText(request.entry)), request]));
    for (const hash of allowed) reports.delete(hash);
    const isSame = reports.size === requested.length && requested.every((hash) => reports.has(hash));
    if (isSame) return;
    const { database, log } = this.dependencies;
    const requests = [...reports].map(([hash, { entry, configFile, linkTarget }]): McpRequestReport => {
      const cut = (path: string) => path.slice(0, MAX_PATH_CHARACTERS);
      return {
        hash,
        entry,
        configFile: cut(configFile),
        linkTarget: linkTarget === undefined ? null : cut(linkTarget),
      };
    });
    await database.transaction((transaction) => replaceMcpRequests(transaction, workspaceId, requests));
    log.info({ workspaceId, requests: requests.length }, "MCP servers of a workspace ask for permission");
  }
}
