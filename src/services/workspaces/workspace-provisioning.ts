/**
 * What models may do about their chats' workspaces: look at templates, make one workspace, start and stop it. It is
 * done in the name of the chat's owner, by the same commands as people's.
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

/** News of workspaces that nobody heard costs at most this much. */
const LOOK_EVERY_MS = 2_000;

export type WorkspaceProvisioningDependencies = {
  database: Database;
  bus: Pick<Bus, "onConfigChange">;
  commands: Pick<WorkspaceCommands, "createWorkspace" | "setDesiredState">;
  /** Whether the agent of a workspace that should run can be reached. */
  isReachable(workspaceId: string): Promise<boolean>;
  clock: Clock;
  log: Log;
};

/** The turn goes on in another workspace. */
export type Bind = (workspaceId: string) => void;

export class ChatProvisioning {
  readonly #hasTemplates: Memoized<boolean>;
  readonly #stopListening: () => void;
  readonly #wakes = new Set<() => void>();
  /** One thing at a time in each chat: calls side by side must not make two workspaces. A chat has one worker. */
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

  /** Whether there is anything that a workspace could be made from. */
  isOpen(): Promise<boolean> {
    return this.#hasTemplates();
  }

  of(chat: ClaimedChat, bind: Bind): WorkspaceProvisioning {
    const { database } = this.dependencies;
    const enabled = () => listTemplates(database, { includeDisabled: false });
    const inTurn = <T>(work: () => Promise<T>) => this.#inTurn(chat.chatId, work);
    return {
      listTemplates: enabled,
      readTemplate: async (name) => (await enabled()).find((it) => it.name === name) ?? null,
      create: (wanted, call) => inTurn(() => this.#create({ chat, bind, call }, wanted)),
      start: (call) => inTurn(() => this.#start({ chat, bind, call })),
      stop: (call) => inTurn(() => this.#stop({ chat, bind, call })),
    };
  }

  close(): void {
    this.#stopListening();
  }

  async #create(asked: Asked, wanted: WorkspaceRequest): Promise<JsonObject> {
    const { chat, bind, call } = asked;
    const before = await findCreated(this.dependencies.database, call.key, chat.ownerId);
    if (before !== null) {
      // This very call has made it, and was cut off before it could say so.
      bind(before);
      return { created: true, ...(await this.#whenReady(asked, before)) };
    }
    const existing = await this.#existing(asked);
    if (existing !== null) return { created: false, status: "already_exists", ...existing };
    const template = (await listTemplates(this.dependencies.database, { includeDisabled: false })).find(
      ({ name }) => name === wanted.template,
    );
    if (!template)
      throw new ToolError("There is no such template. Call list_templates to see which there are.");
    const parameters = Object.entries(wanted.parameters).map(([name, value]) => ({ name, value }));
    const made = await this.dependencies.commands.createWorkspace(ownerOf(chat), {
      ...{ templateId: template.id, name: wanted.name, parameters },
      ...{ creationKey: call.key, chatId: chat.chatId },
    });
    if (!made.ok) throw refused(made.refusal);
    bind(made.workspaceId);
    call.say(`A workspace is made from the template ${template.displayName}.`);
    return { created: true, ...(await this.#whenReady(asked, made.workspaceId)) };
  }

  /** What the chat has already; null when it has nothing that could be used. */
  async #existing(asked: Asked): Promise<JsonObject | null> {
    const { workspaceId } = asked.chat;
    const workspace = workspaceId && (await readWorkspace(this.dependencies.database, workspaceId));
    if (!workspace) return null;
    const { id, name, status } = workspace;
    switch (status) {
      case "creating":
      case "starting":
        return this.#whenReady(asked, id);
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

  async #start(asked: Asked): Promise<JsonObject> {
    const { chat, call } = asked;
    const workspace = await this.#own(chat);
    const { id, name, status } = workspace;
    if (workspace.templateId === null) {
      const isThere = status === "running" && (await this.dependencies.isReachable(id));
      if (isThere) return { started: true, workspace_name: name, agent_status: "ready" };
      throw new ToolError(
        `Nobody can start the workspace ${name} from here: whoever runs its agent has to. Tell the person.`,
      );
    }
    const changed = await this.dependencies.commands.setDesiredState(ownerOf(chat), {
      workspaceId: id,
      action: "start",
    });
    if (!changed.ok) throw refused(changed.refusal);
    if (status !== "running") call.say(`The workspace ${name} is started.`);
    return { started: true, ...(await this.#whenReady(asked, id)) };
  }

  async #stop({ chat, bind, call }: Asked): Promise<JsonObject> {
    const { id, name } = await this.#own(chat);
    const changed = await this.dependencies.commands.setDesiredState(ownerOf(chat), {
      workspaceId: id,
      action: "stop",
    });
    if (!changed.ok) throw refused(changed.refusal);
    call.say(`The workspace ${name} is stopped.`);
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

  /** The end of its way up, as the model is told. */
  async #whenReady({ bind, call }: Asked, id: string): Promise<JsonObject> {
    const workspace = await this.#settled(id, call);
    if (workspace === null) throw new ToolError("The workspace was deleted while it was started.");
    if (workspace.status === "failed") throw new ToolError(failureText(workspace));
    const why = whyUnusable(workspace.status, workspace.failure);
    if (why !== null) throw new ToolError(why);
    // Also of one that was bound before: what was found of it while it was away does not count any more.
    bind(id);
    call.say(`The workspace ${workspace.name} is ready.`);
    return { workspace_name: workspace.name, agent_status: "ready" };
  }

  /** As it is when nothing is done about it any more; null when it is gone. Rejects when the waiting is ended. */
  async #settled(id: string, call: ProvisioningCall): Promise<WorkspaceRecord | null> {
    let lastStatus: string | null = null;
    for (;;) {
      const woken = new AbortController();
      const wake = () => woken.abort();
      // Before the look: what happens after it is heard.
      this.#wakes.add(wake);
      call.signal.addEventListener("abort", wake, { once: true });
      try {
        const workspace = await readWorkspace(this.dependencies.database, id);
        call.signal.throwIfAborted();
        if (workspace === null || !UNDER_WAY.has(workspace.status)) return workspace;
        if (workspace.status !== lastStatus) call.say(`${workspace.name}: ${workspace.status}…`);
        lastStatus = workspace.status;
        await sleep(this.dependencies.clock, LOOK_EVERY_MS, woken.signal);
        call.signal.throwIfAborted();
      } finally {
        this.#wakes.delete(wake);
        call.signal.removeEventListener("abort", wake);
      }
    }
  }

  async #inTurn<T>(chatId: string, work: () => Promise<T>): Promise<T> {
    const before = this.#busy.get(chatId) ?? Promise.resolve();
    const mine = before.then(work, work);
    this.#busy.set(chatId, mine);
    try {
      return await mine;
    } finally {
      if (this.#busy.get(chatId) === mine) this.#busy.delete(chatId);
    }
  }
}

type Asked = { chat: ClaimedChat; bind: Bind; call: ProvisioningCall };

const UNDER_WAY: ReadonlySet<string> = new Set(["creating", "starting", "stopping", "deleting"]);

/** A model has its owner's rights over the owner's own things, and never an admin's. */
function ownerOf({ ownerId }: ClaimedChat): Viewer {
  return { userId: ownerId, username: "", name: "", role: "member", expiresAt: null };
}

function refused({ message, others = [] }: CommandRefusal): ToolError {
  return new ToolError([message, ...others.map((it) => it.message)].join(" "));
}

function failureText({ name, failure }: WorkspaceRecord): string {
  return `The workspace ${name} failed: ${failure ?? "nobody knows why."} Call start_workspace to try again, or tell the person.`;
}
