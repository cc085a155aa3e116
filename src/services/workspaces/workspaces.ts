/** Connects chats to the agents of their workspaces; failures are `ToolError`s that the model reads. */
import { LRUCache } from "lru-cache";
import { whyUnusable } from "../../domain/workspaces/workspace-lifecycle.js";
import type { Bus } from "../../events/bus/bus.js";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import type { Database } from "../../store/common/database.js";
import { readManagedWorkspace } from "../../store/workspaces/managed-workspaces.js";
import { readWorkspace, type WorkspaceRecord } from "../../store/workspaces/workspaces.js";
import { AgentUnreachable, type AgentConnection } from "../../workspaces/agent-client/agent-connection.js";
import type { LocalAgents } from "../../workspaces/local-agents.js";
import type { LocalWorkspaces } from "../../workspaces/provisioners/local-workspaces.js";
import { ProvisionerError } from "../../workspaces/provisioners/provisioner.js";
import type { ControlChannels } from "../../workspaces/control-channels.js";
import type { ExternalAgents } from "../../workspaces/tunnels/external-agents.js";
import { ToolError } from "../../engine/tools/tool.js";
import type { WorkspaceUse } from "./workspace-use.js";

/** A workspace's location never changes, but its row may be deleted. */
const CACHE_MS = 60_000;
/** Managed workspaces change their status, which is announced; this covers lost announcements. */
const MANAGED_CACHE_MS = 10_000;
const MAX_CACHED = 1_000;

type DialledChat = { chatId: string; ancestorChatIds: readonly string[]; ownerId: string | undefined };

export type WorkspacesDependencies = {
  database: Database;
  bus: Pick<Bus, "onConfigChange">;
  agents: LocalAgents;
  /** Local workspaces that were created from templates. */
  local: LocalWorkspaces;
  external: ExternalAgents;
  /** On which agents send requests to this server. */
  controlChannels: ControlChannels;
  use: WorkspaceUse;
  clock: Clock;
  log: Log;
};

export class Workspaces {
  readonly #recent = new LRUCache<string, { record: WorkspaceRecord; at: number }>({ max: MAX_CACHED });
  readonly #stopListening: () => void;

  constructor(private readonly dependencies: WorkspacesDependencies) {
    this.#stopListening = dependencies.bus.onConfigChange((topic) => {
      if (topic === "workspaces") this.#recent.clear();
    });
  }

  close(): void {
    this.#stopListening();
  }

  /**
   * Rejects with a `ToolError`. The connection sees the processes of the chat and of its subagents; `ancestorChatIds`
   * are its ancestors, nearest first; `ownerId` is the chat's owner, for what all chats of a user share.
   */
  async open(
    workspaceId: string,
    chatId: string,
    ancestorChatIds: readonly string[] = [],
    ownerId?: string,
  ): Promise<AgentConnection> {
    const chat = { chatId, ancestorChatIds, ownerId };
    try {
      return await this.#dial(workspaceId, chat);
    } catch (error) {
      if (!(error instanceof AgentUnreachable)) throw error;
      this.dependencies.log.warn({ err: error, workspaceId }, "workspace agent cannot be reached; retrying");
    }
    // The cached workspace may be outdated.
    this.#recent.delete(workspaceId);
    try {
      return await this.#dial(workspaceId, chat);
    } catch (error) {
      if (!(error instanceof AgentUnreachable)) throw error;
      this.dependencies.log.warn({ err: error, workspaceId }, "workspace agent cannot be reached");
      throw new ToolError("The workspace cannot be reached right now. Try again in a moment.");
    }
  }

  /**
   * The running agent, on behalf of no chat; null when the workspace or its agent is not running. Starts none, and
   * waits only for a restart in progress. Rejects with `AgentUnreachable` when it is running and cannot be reached.
   */
  async present(workspaceId: string): Promise<AgentConnection | null> {
    const record = await readWorkspace(this.dependencies.database, workspaceId);
    if (record?.status !== "running" && record?.templateId !== null) return null;
    const { provisioner, directory, agent } = record;
    if (provisioner !== "local") return agent && this.dependencies.external.find(workspaceId);
    return directory !== null && this.dependencies.agents.isStarted(directory)
      ? this.dependencies.agents.connection(directory)
      : null;
  }

  /** Why the workspace cannot be used now, for the model; null when it can, as far as is known. */
  async whyUnusable(workspaceId: string): Promise<string | null> {
    try {
      const { templateId, status, failure } = await this.#find(workspaceId);
      return templateId === null ? null : whyUnusable(status, failure);
    } catch (error) {
      if (error instanceof ToolError) return error.message;
      throw error;
    }
  }

  /** Whether its agent answers, on behalf of no chat. */
  async isReachable(workspaceId: string): Promise<boolean> {
    try {
      await (await this.#agentOf(await this.#find(workspaceId))).health();
      return true;
    } catch (error) {
      this.dependencies.log.info({ err: error, workspaceId }, "workspace agent does not answer");
      return false;
    }
  }

  async #dial(
    workspaceId: string,
    { chatId, ancestorChatIds, ownerId }: DialledChat,
  ): Promise<AgentConnection> {
    const record = await this.#find(workspaceId);
    const connection = await this.#agentOf(record);
    this.dependencies.use.note([workspaceId]);
    // The channel outlives what is cached of the workspace.
    this.dependencies.controlChannels.ensure(workspaceId, async () =>
      this.#agentOf(await this.#find(workspaceId)),
    );
    return connection.forChat(chatId, ancestorChatIds, ownerId);
  }

  async #agentOf(record: WorkspaceRecord): Promise<AgentConnection> {
    const { id, provisioner, directory, templateId } = record;
    if (templateId !== null) {
      const why = whyUnusable(record.status, record.failure);
      if (why !== null) throw new ToolError(why);
    }
    if (provisioner !== "local") return this.dependencies.external.connection(id);
    if (templateId !== null) return this.#ownDirectory(id);
    if (directory === null) throw new Error(`The local workspace ${id} has no directory.`);
    return this.dependencies.agents.connection(directory);
  }

  async #ownDirectory(id: string): Promise<AgentConnection> {
    const workspace = await readManagedWorkspace(this.dependencies.database, id);
    if (workspace === null) throw new ToolError("The chat's workspace no longer exists.");
    try {
      return await this.dependencies.local.connection(workspace);
    } catch (error) {
      if (error instanceof ProvisionerError) throw new ToolError(error.message, { cause: error });
      throw error;
    }
  }

  async #find(workspaceId: string): Promise<WorkspaceRecord> {
    const { database, clock } = this.dependencies;
    const known = this.#recent.get(workspaceId);
    if (known && clock.now() - known.at < cacheTimeOf(known.record)) return known.record;
    const at = clock.now();
    const record = await readWorkspace(database, workspaceId);
    if (!record) throw new ToolError("The chat's workspace no longer exists.");
    this.#recent.set(workspaceId, { record, at });
    return record;
  }
}

/** An unusable workspace may become usable at any moment, and is read rarely, so it is not cached. */
function cacheTimeOf({ templateId, status }: WorkspaceRecord): number {
  if (templateId === null) return CACHE_MS;
  return status === "running" ? MANAGED_CACHE_MS : 0;
}
