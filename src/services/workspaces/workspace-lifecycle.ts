/**
 * Fulfils what is wished of workspaces from templates. The work stands in the database; whichever replica claims a
 * piece of it does one step, and whoever comes next goes on: a replica that dies in the middle leaves nothing undone.
 * Looks when it hears of a wish, and every few seconds in case nobody told it.
 */
import { randomUUID } from "node:crypto";
import { afterWork, type WorkOutcome } from "../../domain/workspaces/workspace-lifecycle.js";
import type { WorkspaceProvisioner } from "../../domain/workspaces/workspace.js";
import type { Bus } from "../../events/bus/bus.js";
import type { Clock } from "../../lib/clock.js";
import { runDetached } from "../../lib/run-context.js";
import type { Log } from "../../lib/log.js";
import type { Database } from "../../store/common/database.js";
import { createAgentToken, isAgentExpected } from "../../store/workspaces/external-workspaces.js";
import {
  claimWork,
  failRunning,
  forgetWorkspace,
  listUnseen,
  listUsable,
  postponeWork,
  renewClaim,
  setAgentToken,
  settleWork,
  stopIdle,
  type ClaimedWork,
} from "../../store/workspaces/managed-workspaces.js";
import type { LocalWorkspaces } from "../../workspaces/provisioners/local-workspaces.js";
import { ProvisionerError, type Provisioner } from "../../workspaces/provisioners/provisioner.js";
import { hashAgentToken } from "../../workspaces/tunnels/requests.js";

/** A lost piece of news costs at most this much. */
const LOOK_EVERY_MS = 5_000;
/** Whether those that should run still do is asked of engines and clusters; that is not free. */
const CHECK_EVERY_MS = 60_000;
/** The work of a replica that died is taken up after this. Renewed three times in it. */
const CLAIM_LEASE_MS = 30_000;
/** Steps that one replica does at the same time. */
const MAX_AT_ONCE = 10;
/** Of those that should run, looked at in one round. */
const MAX_CHECKED = 100;

export type WorkspaceLifecycleDependencies = {
  database: Database;
  bus: Pick<Bus, "publishConfigChange" | "onConfigChange">;
  provisioners: Record<WorkspaceProvisioner, Provisioner>;
  local: Pick<LocalWorkspaces, "here" | "leave">;
  /** The deployment's idle time; null = each template's own. */
  deploymentTtlMs(): Promise<number | null>;
  /** A workspace is not to be used here any more. */
  onLeft(workspaceId: string): void;
  clock: Clock;
  log: Log;
};

export class WorkspaceLifecycle {
  readonly #working = new Set<Promise<void>>();
  #stops: (() => void)[] = [];
  #isLooking = false;
  #isCalled = false;
  #isClosed = false;
  #lastCheckAt: number;

  /** `drives`: it does the work; without, it only lets go of agents that are not to run any more. */
  constructor(
    private readonly dependencies: WorkspaceLifecycleDependencies,
    private readonly drives: boolean,
  ) {
    this.#lastCheckAt = dependencies.clock.now();
  }

  start(): void {
    const { bus, clock } = this.dependencies;
    this.#stops = [
      bus.onConfigChange((topic) => {
        if (topic === "workspaces") this.look();
      }),
      clock.every(LOOK_EVERY_MS, () => this.look()),
    ];
    this.look();
  }

  /** There may be something to do. Returns at once. */
  look(): void {
    this.#isCalled = true;
    if (!this.#isLooking && !this.#isClosed) runDetached(() => this.#keep(this.#lookAround()));
  }

  /** Steps under way come to their end; another replica does the next ones. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const stop of this.#stops) stop();
    while (this.#working.size > 0) await Promise.all(this.#working);
  }

  async #lookAround(): Promise<void> {
    this.#isLooking = true;
    try {
      while (this.#isCalled && !this.#isClosed) {
        this.#isCalled = false;
        await this.#letGo();
        if (!this.drives) continue;
        await this.#stopIdle();
        await this.#check();
        await this.#work();
      }
    } finally {
      this.#isLooking = false;
    }
  }

  /** Agents of this process whose workspaces were stopped or deleted, here or anywhere. */
  async #letGo(): Promise<void> {
    const { database, local, onLeft } = this.dependencies;
    const { here } = local;
    if (here.length === 0) return;
    const usable = await listUsable(database, here);
    for (const id of here.filter((it) => !usable.has(it))) {
      onLeft(id);
      this.#keep(local.leave(id));
    }
  }

  async #stopIdle(): Promise<void> {
    const { database, clock, log, bus } = this.dependencies;
    const idle = await stopIdle(database, await this.dependencies.deploymentTtlMs(), clock.now());
    if (idle.length === 0) return;
    log.info({ workspaceIds: idle }, "Workspaces that nobody has used for their time are stopped");
    bus.publishConfigChange("workspaces");
  }

  /** Containers and pods end, and machines vanish, without telling anybody. */
  async #check(): Promise<void> {
    const { database, provisioners, clock, log, bus } = this.dependencies;
    if (clock.now() - this.#lastCheckAt < CHECK_EVERY_MS) return;
    this.#lastCheckAt = clock.now();
    for (const workspace of await listUnseen(database, MAX_CHECKED)) {
      const { id, provisioner } = workspace;
      try {
        const standing = await provisioners[provisioner].status(workspace);
        if (standing.kind === "running" || !(await failRunning(database, id, standing.reason))) continue;
        log.warn({ workspaceId: id, reason: standing.reason }, "A workspace that should run does not");
        bus.publishConfigChange("workspaces");
      } catch (error) {
        log.warn({ err: error, workspaceId: id }, "How a workspace stands could not be asked");
      }
    }
  }

  async #work(): Promise<void> {
    const { database, clock } = this.dependencies;
    const limit = MAX_AT_ONCE - this.#working.size;
    if (limit <= 0) return;
    const claim = randomUUID();
    const claimed = await claimWork(database, { claim, now: clock.now(), leaseMs: CLAIM_LEASE_MS, limit });
    for (const work of claimed) this.#keep(this.#do(work));
  }

  /** One step; what it came to is written, and the next one is nobody's in particular. */
  async #do(work: ClaimedWork): Promise<void> {
    const { database, clock, log, bus } = this.dependencies;
    const { workspace, status, claim } = work;
    const mine = { id: workspace.id, claim };
    const facts = { workspaceId: workspace.id, name: workspace.name, status };
    const outcome = await this.#held(mine, () => this.#try(work));
    if (outcome.kind === "failed")
      log.warn({ ...facts, reason: outcome.reason }, "A workspace's step failed");
    const after = afterWork(work, outcome, clock.now());
    if (after.kind === "gone") await forgetWorkspace(database, mine);
    else if (after.kind === "rests")
      await settleWork(database, { ...mine, from: status, ...after }, clock.now());
    else await postponeWork(database, { ...mine, from: status, ...after });
    if (after.kind === "again") this.#again(after.dueAt - clock.now());
    else {
      log.info({ ...facts, ...after }, "What was wished of a workspace has come to its end");
      bus.publishConfigChange("workspaces");
    }
    // Another wish may have come meanwhile, which nobody could claim.
    this.look();
  }

  async #try({ workspace, status, beganAt }: ClaimedWork): Promise<WorkOutcome> {
    const { database, provisioners } = this.dependencies;
    const provisioner = provisioners[workspace.provisioner];
    try {
      switch (status) {
        case "creating":
        case "starting": {
          await provisioner.create(workspace);
          const issueToken = () => this.#issueToken(workspace.id);
          const started = await provisioner.start(workspace, { startId: String(beganAt), issueToken });
          const isThere = started === "ready" || (await isAgentExpected(database, workspace.id));
          return { kind: isThere ? "done" : "waiting" };
        }
        case "stopping":
          await this.#end(workspace.id);
          await provisioner.stop(workspace);
          return { kind: "done" };
        case "deleting":
          await this.#end(workspace.id);
          await provisioner.remove(workspace);
          return { kind: "done" };
      }
    } catch (error) {
      if (error instanceof ProvisionerError)
        return { kind: "failed", reason: error.message, isLasting: error.isLasting };
      this.dependencies.log.error(
        { err: error, workspaceId: workspace.id },
        "A provisioner failed unexpectedly",
      );
      return { kind: "failed", reason: "The server could not do it; its log says why.", isLasting: false };
    }
  }

  /** Nobody's agent is let in from here on, and nobody uses it. */
  async #end(id: string): Promise<void> {
    this.dependencies.onLeft(id);
    await setAgentToken(this.dependencies.database, id, null);
  }

  async #issueToken(id: string): Promise<string> {
    const token = createAgentToken();
    await setAgentToken(this.dependencies.database, id, hashAgentToken(token));
    return token;
  }

  /** The claim is renewed as long as the step takes. */
  async #held<T>(mine: { id: string; claim: string }, step: () => Promise<T>): Promise<T> {
    const { database, clock, log } = this.dependencies;
    const stop = clock.every(CLAIM_LEASE_MS / 3, () =>
      this.#keep(
        renewClaim(database, mine, clock.now(), CLAIM_LEASE_MS).catch((error: unknown) =>
          log.warn({ err: error, workspaceId: mine.id }, "The claim of a workspace's work was not renewed"),
        ),
      ),
    );
    try {
      return await step();
    } finally {
      stop();
    }
  }

  #again(delayMs: number): void {
    if (this.#isClosed) return;
    const cancel = this.dependencies.clock.after(Math.max(0, delayMs), () => {
      this.#stops = this.#stops.filter((stop) => stop !== cancel);
      this.look();
    });
    this.#stops.push(cancel);
  }

  /** Background work: its failure is logged, and the next look tries again; `close` waits for it. */
  #keep(work: Promise<void>): void {
    const kept = work
      .catch((error: unknown) => this.dependencies.log.error({ err: error }, "The work on workspaces failed"))
      .finally(() => this.#working.delete(kept));
    this.#working.add(kept);
  }
}
