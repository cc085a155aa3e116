/**
 * Workspace provisioning for models: list templates, create one workspace, start and stop it. Uses the same commands as
 * users, in the name of the chat's owner.
 */
import { whyUnusable } from "../../domain/workspaces/workspace-lifecycle.js";
import type { JsonObject } from "../../domain/common/json.js";
import type { Viewer } from "../../domain/users/viewer.js";
import type { Bus } from "../../events/bus/bus.js";
import { sleep, type Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import { type Memoized, memoizeWithTtl } from "../../lib/concurrency/memoize.js";
import type { Database } from "../../store/common/database.js";
import { findCreated } from "../../store/workspaces/managed-workspaces.js";
import type { ClaimedChat } from "../../store/chats/leases.js";
import { hasTemplates, listTemplates } from "../../store/workspaces/workspace-templates.js";
import { readWorkspace, type WorkspaceRecord } from "../../store/workspaces/workspaces.js";
import type { CommandRefusal } from "../../commands/common/command-result.js";
import type { WorkspaceCommands } from "../../commands/workspaces/workspace-commands.js";
import { ToolError } from "../../engine/tools/tool.js";
import type {
  ProvisioningCall,
  WorkspaceRequest,
  WorkspaceProvisioning,
} from "../../engine/tools/workspaces/workspace-provisioning.js";

/** Delay of a change whose announcement was lost. */
const POLL_MS = 2_000;

export type WorkspaceProvisioningDependencies = {
  database: Database;
  bus: Pick<Bus, "onConfigChange">;
  commands: Pick<WorkspaceCommands, "createWorkspace" | "setDesiredState">;
  /** Whether the agent of a workspace that should run can be reached. */
  isReachable(workspaceId: string): Promise<boolean>;
  clock: Clock;
  log: Log;
};

/** Switches the turn to another workspace. */
type Bind = (workspaceId: string) => void;

export class ChatProvisioning {
  readonly #hasTemplates: Memoized<boolean>;
  readonly #stopListening: () => void;
  readonly #wakes = new Set<() => void>();
  /** Serializes calls per chat, so that parallel ones do not create two workspaces. A chat has one worker. */
  readonly #busy = new Map<string, Promise<unknown>>();

  constructor(private readonly dependencies: WorkspaceProvisioningDependencies) {
    this.#hasTemplates = memoizeWithTtl(
      () => dependencies.clock.now(),
      () => hasTemplates(dependencies.database),
    );
    this.#stopListening = dependencies.bus.onConfigChange((topic) => {
      if (topic !== "workspaces") return;
      this.#hasTemplates.invalidate();
      for (const wake of this.#wakes) wake();
    });
  }

  /** Whether there are any templates. */
  isAvailable(): Promise<boolean> {
    return this.#hasTemplates();
  }

  forChat(chat: ClaimedChat, bind: Bind): WorkspaceProvisioning {
    const { database } = this.dependencies;
    const enabled = () => listTemplates(database, { includeDisabled: false });
    const serialized = <T>(work: () => Promise<T>) => this.#serialized(chat.chatId, work);
    return {
      listTemplates: enabled,
      readTemplate: async (name) => (await enabled()).find((it) => it.name === name) ?? null,
      create: (wanted, call) => serialized(() => this.#create({ chat, bind, call }, wanted)),
      start: (call) => serialized(() => this.#start({ chat, bind, call })),
      stop: (call) => serialized(() => this.#stop({ chat, bind, call })),
    };
  }

  close(): void {
    this.#stopListening();
  }

  async #create(request: ProvisioningRequest, wanted: WorkspaceRequest): Promise<JsonObject> {
    const { chat, bind, call } = request;
    const before = await findCreated(this.dependencies.database, call.key, chat.ownerId);
    if (before !== null) {
      // Created by an earlier attempt of this call, which was interrupted before its result was saved.
      bind(before);
      return { created: true, ...(await this.#whenReady(request, before)) };
    }
    const existing = await this.#existing(request);
    if (existing !== null) return { created: false, status: "already_exists", ...existing };
    const template = (await listTemplates(this.dependencies.database, { includeDisabled: false })).find(
      ({ name }) => name === wanted.template,
    );
    if (!template)
      throw new ToolError("There is no such template. Call list_templates to see which there are.");
    const parameters = Object.entries(wanted.parameters).map(([name, value]) => ({ name, value }));
    const created = await this.dependencies.commands.createWorkspace(ownerOf(chat), {
      ...{ templateId: template.id, name: wanted.name, parameters },
      ...{ creationKey: call.key, chatId: chat.chatId },
    });
    if (!created.ok) throw refused(created.refusal);
    bind(created.workspaceId);
    call.report(`Creating a workspace from the template ${template.displayName}.`);
    return { created: true, ...(await this.#whenReady(request, created.workspaceId)) };
  }

  /** The chat's current workspace; null when it has no usable one. */
  async #existing(request: ProvisioningRequest): Promise<JsonObject | null> {
    const { workspaceId } = request.chat;
    const workspace = workspaceId && (await readWorkspace(this.dependencies.database, workspaceId));
    if (!workspace) return null;
    const { id, name, status } = workspace;
    switch (status) {
      case "creating":
      case "starting":
        return this.#whenReady(request, id);
      case "running":
        return (await this.dependencies.isReachable(id))
          ? { workspace_name: name, agent_status: "ready" }
          : null;
      case "stopping":
      case "stopped":
        throw new ToolError(`This chat has a workspace, ${name}, which is stopped. Call start_workspace.`);
      case "failed":
      case "deleting":
        return null;
    }
  }

  async #start(request: ProvisioningRequest): Promise<JsonObject> {
    const { chat, call } = request;
    const workspace = await this.#own(chat);
    const { id, name, status } = workspace;
    if (workspace.templateId === null) {
      const isReady = status === "running" && (await this.dependencies.isReachable(id));
      if (isReady) return { started: true, workspace_name: name, agent_status: "ready" };
      throw new ToolError(
        `The workspace ${name} cannot be started from here, only where its agent runs. Tell the user.`,
      );
    }
    const changed = await this.dependencies.commands.setDesiredState(ownerOf(chat), {
      workspaceId: id,
      action: "start",
    });
    if (!changed.ok) throw refused(changed.refusal);
    if (status !== "running") call.report(`The workspace ${name} is started.`);
    return { started: true, ...(await this.#whenReady(request, id)) };
  }

  async #stop({ chat, bind, call }: ProvisioningRequest): Promise<JsonObject> {
    const { id, name } = await this.#own(chat);
    const changed = await this.dependencies.commands.setDesiredState(ownerOf(chat), {
      workspaceId: id,
      action: "stop",
    });
    if (!changed.ok) throw refused(changed.refusal);
    call.report(`The workspace ${name} is stopped.`);
    const after = await this.#settled(id, call);
    bind(id);
    if (after?.status === "failed") throw new ToolError(failureText(after));
    return { stopped: true, workspace_name: name };
  }

  async #own({ workspaceId }: ClaimedChat): Promise<WorkspaceRecord> {
    const workspace = workspaceId && (await readWorkspace(this.dependencies.database, workspaceId));
    if (workspace) return workspace;
    throw new ToolError("This chat has no workspace. Call list_templates, then create_workspace.");
  }

  /** Waits until the workspace is running, and returns the tool's result. */
  async #whenReady({ bind, call }: ProvisioningRequest, id: string): Promise<JsonObject> {
    const workspace = await this.#settled(id, call);
    if (workspace === null) throw new ToolError("The workspace was deleted while it was started.");
    if (workspace.status === "failed") throw new ToolError(failureText(workspace));
    const why = whyUnusable(workspace.status, workspace.failure);
    if (why !== null) throw new ToolError(why);
    // Also when it was bound before: results cached while it was not running are outdated.
    bind(id);
    call.report(`The workspace ${workspace.name} is ready.`);
    return { workspace_name: workspace.name, agent_status: "ready" };
  }

  /** The workspace after its current step; null when it was deleted. Rejects when the call is aborted. */
  async #settled(id: string, call: ProvisioningCall): Promise<WorkspaceRecord | null> {
    let lastStatus: string | null = null;
    for (;;) {
      const woken = new AbortController();
      const wake = () => woken.abort();
      // Registered before the read, so that no later change is missed.
      this.#wakes.add(wake);
      call.signal.addEventListener("abort", wake, { once: true });
      try {
        const workspace = await readWorkspace(this.dependencies.database, id);
        call.signal.throwIfAborted();
        if (workspace === null || !IN_PROGRESS.has(workspace.status)) return workspace;
        if (workspace.status !== lastStatus) call.report(`${workspace.name}: ${workspace.status}…`);
        lastStatus = workspace.status;
        await sleep(this.dependencies.clock, POLL_MS, woken.signal);
        call.signal.throwIfAborted();
      } finally {
        this.#wakes.delete(wake);
        call.signal.removeEventListener("abort", wake);
      }
    }
  }

  async #serialized<T>(chatId: string, work: () => Promise<T>): Promise<T> {
    const before = this.#busy.get(chatId) ?? Promise.resolve();
    const own = before.then(work, work);
    this.#busy.set(chatId, own);
    try {
      return await own;
    } finally {
      if (this.#busy.get(chatId) === own) this.#busy.delete(chatId);
    }
  }
}

type ProvisioningRequest = { chat: ClaimedChat; bind: Bind; call: ProvisioningCall };

const IN_PROGRESS: ReadonlySet<string> = new Set(["creating", "starting", "stopping", "deleting"]);

/** A model has the rights of the chat's owner as a member, never as an admin. */
function ownerOf({ ownerId }: ClaimedChat): Viewer {
  return { userId: ownerId, username: "", name: "", role: "member", expiresAt: null };
}

function refused({ message, others = [] }: CommandRefusal): ToolError {
  return new ToolError([message, ...others.map((it) => it.message)].join(" "));
}

function failureText({ name, failure }: WorkspaceRecord): string {
  return `The workspace ${name} failed: ${failure ?? "the reason is unknown."} Call start_workspace to try again, or tell the user.`;
}
