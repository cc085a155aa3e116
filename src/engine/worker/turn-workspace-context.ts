/** Workspace of one turn: the connection to its agent, its instructions and tools, and provisioning. */
import type { ClaimedChat } from "../../store/chats/leases.js";
import type { AgentConnection } from "../../workspaces/agent-client/agent-connection.js";
import { onDisconnect } from "../../workspaces/on-disconnect.js";
import type { WorkspaceContext } from "../../services/workspaces/workspace-contexts.js";
import type { WorkspaceStatus } from "../prompt/system.js";
import { ToolError, type Tool } from "../tools/tool.js";
import type { WorkspaceProvisioning } from "../tools/workspaces/workspace-provisioning.js";
import { PromiseMemo } from "./promise-memo.js";
import type { RunnerDependencies } from "./runner-dependencies.js";

type Lookups = {
  connection: AgentConnection;
  context: WorkspaceContext | null;
  tools: readonly Tool[];
  mayProvision: boolean;
};

export class TurnWorkspaceContext {
  readonly #memo = new PromiseMemo<Lookups>();

  /** `onRebind` is called when the turn continues in another workspace, or in one that has only now come up. */
  constructor(
    private readonly dependencies: RunnerDependencies,
    private readonly chat: ClaimedChat,
    private readonly onRebind: () => void,
  ) {}

  /** Connection to the workspace's agent. Once it fails, the next call connects again. */
  connection(): Promise<AgentConnection> {
    const { workspaceId } = this.chat;
    if (workspaceId !== null) this.dependencies.workspaces.noteUse([workspaceId]);
    return this.#memo.get("connection", async () =>
      onDisconnect(await this.#connect(), () => this.#memo.forget("connection")),
    );
  }

  /** What the workspace's agent reports for the prompt; null when there is no workspace or it cannot be reached. */
  context(): Promise<WorkspaceContext | null> {
    return this.#memo.get("context", async () => {
      const { workspaceId } = this.chat;
      if (workspaceId === null) return null;
      return this.dependencies.workspaces.readContext(workspaceId, () => this.connection());
    });
  }

  /** Tools of the workspace's own MCP servers. */
  tools(): Promise<readonly Tool[]> {
    return this.#memo.get("tools", async () => {
      const { workspaceId } = this.chat;
      if (workspaceId === null) return [];
      return this.dependencies.workspaces.listTools(workspaceId, () => this.connection());
    });
  }

  /** Creates, starts and stops the chat's workspace; undefined where the chat may not. */
  async provisioning(): Promise<WorkspaceProvisioning | undefined> {
    if (!(await this.mayProvision())) return undefined;
    return this.dependencies.workspaces.provisioningFor(this.chat, (workspaceId) => this.#bind(workspaceId));
  }

  /** Always false for a subagent: it works in the workspace of the chat that started it, and leaves that to its parent. */
  mayProvision(): Promise<boolean> {
    const { subagentKind, parentChatId } = this.chat;
    if (subagentKind !== null || parentChatId !== null) return Promise.resolve(false);
    return this.#memo.get("mayProvision", () => this.dependencies.workspaces.canProvision());
  }

  async status(): Promise<WorkspaceStatus> {
    const { workspaceId } = this.chat;
    const mayProvision = await this.mayProvision();
    if (workspaceId === null) return { kind: "none", mayProvision };
    const why = await this.dependencies.workspaces.whyUnusable(workspaceId);
    if (why === null) return { kind: "usable" };
    // The parent has the tools that start workspaces; a subagent can only report what it lacks.
    const advice = mayProvision ? "" : " You have no tools for that: say in your answer that it is needed.";
    return { kind: "unusable", why: why + advice };
  }

  async #connect(): Promise<AgentConnection> {
    const { workspaceId, chatId, ownerId } = this.chat;
    if (workspaceId === null) {
      const instead = (await this.mayProvision()) ? " Call list_templates, then create_workspace." : "";
      throw new ToolError(`This chat has no workspace, so there is nothing to run this in.${instead}`);
    }
    const { tools, workspaces } = this.dependencies;
    const ancestorChatIds = await tools.subagents.ancestorsOf(this.chat);
    return workspaces.open(workspaceId, { chatId, ancestorChatIds, ownerId });
  }

  #bind(workspaceId: string): void {
    this.chat.workspaceId = workspaceId;
    this.#memo.forget("connection", "context", "tools");
    this.onRebind();
  }
}
