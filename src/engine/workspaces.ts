/** From a chat's workspace to the agent that works in it; every way that can fail is worded for the model. */
import { LRUCache } from "lru-cache";
import type { Clock } from "../lib/clock.js";
import type { Log } from "../lib/log.js";
import type { Database } from "../store/database.js";
import { readWorkspace, touchWorkspace, type WorkspaceRecord } from "../store/workspaces.js";
import { AgentUnreachable, type AgentConnection } from "../workspaces/agent-connection.js";
import type { LocalAgents } from "../workspaces/local-agents.js";
import type { ServerLines } from "../workspaces/server-lines.js";
import type { ExternalAgents } from "../workspaces/tunnels/external-agents.js";
import { ToolError } from "./tools/tool.js";

/** A workspace's place never changes, its row may vanish; the last use is written at most this often. */
const REMEMBER_MS = 60_000;
const MAX_REMEMBERED = 1_000;

export class Workspaces {
  readonly #recent = new LRUCache<string, { record: WorkspaceRecord; at: number }>({ max: MAX_REMEMBERED });

  constructor(
    private readonly parts: {
      database: Database;
      agents: LocalAgents;
      external: ExternalAgents;
      /** On which agents ask back. */
      lines: ServerLines;
      clock: Clock;
      log: Log;
    },
  ) {}

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

  /**
   * The agent that is there now, on behalf of no chat; null when the workspace or its agent is not. Starts none, and
   * waits only for one that is being started again. Rejects with `AgentUnreachable` when it is there and cannot be reached.
   */
  async present(workspaceId: string): Promise<AgentConnection | null> {
    const record = await readWorkspace(this.parts.database, workspaceId);
    if (record === null) return null;
    const { provisioner, directory, agent } = record;
    if (provisioner === "external") return agent && this.parts.external.find(workspaceId);
    return directory !== null && this.parts.agents.isStarted(directory)
      ? this.parts.agents.connection(directory)
      : null;
  }

  async #dial(workspaceId: string, chatId: string): Promise<AgentConnection> {
    const record = await this.#find(workspaceId);
    const connection = await this.#agentOf(record);
    this.parts.lines.keep(workspaceId, () => this.#agentOf(record));
    return connection.forChat(chatId);
  }

  #agentOf({ id, provisioner, directory }: WorkspaceRecord): Promise<AgentConnection> {
    if (provisioner === "external") return this.parts.external.connection(id);
    if (directory === null) throw new Error(`The local workspace ${id} has no directory.`);
    return this.parts.agents.connection(directory);
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
