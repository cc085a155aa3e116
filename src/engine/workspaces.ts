/** From a chat's workspace to the agent that works in it; every way that can fail is worded for the model. */
import { LRUCache } from "lru-cache";
import type { Clock } from "../lib/clock.js";
import type { Log } from "../lib/log.js";
import type { Database } from "../store/database.js";
import { readWorkspace, touchWorkspace, type WorkspaceRecord } from "../store/workspaces.js";
import { AgentUnreachable, type AgentConnection } from "../workspaces/agent-connection.js";
import type { LocalAgents } from "../workspaces/local-agents.js";
import { ToolError } from "./tools/tool.js";

/** A workspace's place never changes, its row may vanish; the last use is written at most this often. */
const REMEMBER_MS = 60_000;
const MAX_REMEMBERED = 1_000;

export class Workspaces {
  readonly #recent = new LRUCache<string, { record: WorkspaceRecord; at: number }>({ max: MAX_REMEMBERED });

  constructor(private readonly parts: { database: Database; agents: LocalAgents; clock: Clock; log: Log }) {}

  /** Rejects with a `ToolError`. The connection sees the chat's own processes only. */
  async open(workspaceId: string, chatId: string): Promise<AgentConnection> {
    try {
      return await this.#dial(workspaceId, chatId);
    } catch (error) {
      if (!(error instanceof AgentUnreachable)) throw error;
      this.parts.log.warn({ err: error, workspaceId }, "A workspace's agent cannot be reached; once more");
    }
    // What is remembered of the workspace may be what is wrong.
    this.#recent.delete(workspaceId);
    try {
      return await this.#dial(workspaceId, chatId);
    } catch (error) {
      if (!(error instanceof AgentUnreachable)) throw error;
      this.parts.log.warn({ err: error, workspaceId }, "A workspace's agent cannot be reached");
      throw new ToolError("The workspace cannot be reached right now. Try again in a moment.");
    }
  }

  async #dial(workspaceId: string, chatId: string): Promise<AgentConnection> {
    const { directory } = await this.#find(workspaceId);
    const connection = await this.parts.agents.connection(directory);
    return connection.forChat(chatId);
  }

  async #find(workspaceId: string): Promise<WorkspaceRecord> {
    const { database, clock, log } = this.parts;
    const known = this.#recent.get(workspaceId);
    if (known && clock.now() - known.at < REMEMBER_MS) return known.record;
    const record = await readWorkspace(database, workspaceId);
    if (!record) throw new ToolError("The chat's workspace no longer exists.");
    this.#recent.set(workspaceId, { record, at: clock.now() });
    touchWorkspace(database, workspaceId).catch((error: unknown) =>
      log.warn({ err: error, workspaceId }, "The workspace's last use was not written"),
    );
    return record;
  }
}
