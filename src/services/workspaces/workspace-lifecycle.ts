/**
 * Reconciles managed workspaces with their desired state. Pending steps are rows in the database; any replica claims
 * one and executes it, and another one continues when that replica dies. Runs on every announced change, and every few
 * seconds in case an announcement was lost.
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

/** Delay of a change whose announcement was lost. */
const POLL_MS = 5_000;
/** Interval of status requests to engines and clusters for workspaces that should be running. */
const CHECK_EVERY_MS = 60_000;
/** Another replica takes over a dead one's step after this. Renewed three times within it. */
const CLAIM_LEASE_MS = 30_000;
/** Concurrent steps of one replica. */
const MAX_AT_ONCE = 10;
/** Workspaces whose status is checked in one pass. */
const MAX_CHECKED = 100;

export type WorkspaceLifecycleDependencies = {
  database: Database;
  bus: Pick<Bus, "publishConfigChange" | "onConfigChange">;
  provisioners: Record<WorkspaceProvisioner, Provisioner>;
  local: Pick<LocalWorkspaces, "startedIds" | "stopAgent">;
  /** The deployment's idle time; null = each template's own. */
  deploymentTtlMs(): Promise<number | null>;
  /** Called when a workspace must no longer be used by this process. */
  onLeft(workspaceId: string): void;
  clock: Clock;
  log: Log;
};

export class WorkspaceLifecycle {
  readonly #working = new Set<Promise<void>>();
  #stops: (() => void)[] = [];
  #isReconciling = false;
  #isWoken = false;
  #isClosed = false;
  #lastCheckAt: number;

  /** `executesSteps`: false = only stops local agents of workspaces that must not run any more. */
  constructor(
    private readonly dependencies: WorkspaceLifecycleDependencies,
    private readonly executesSteps: boolean,
  ) {
    this.#lastCheckAt = dependencies.clock.now();
  }

  start(): void {
    const { bus, clock } = this.dependencies;
    this.#stops = [
      bus.onConfigChange((topic) => {
        if (topic === "workspaces") this.wake();
      }),
      clock.every(POLL_MS, () => this.wake()),
    ];
    this.wake();
  }

  /** Starts a pass, or another one after the current one. Returns at once. */
  wake(): void {
    this.#isWoken = true;
    if (!this.#isReconciling && !this.#isClosed) runDetached(() => this.#track(this.#reconcile()));
  }

  /** Resolves when running steps have ended; other replicas execute the next ones. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const stop of this.#stops) stop();
    while (this.#working.size > 0) await Promise.all(this.#working);
  }

  async #reconcile(): Promise<void> {
    this.#isReconciling = true;
    try {
      while (this.#isWoken && !this.#isClosed) {
        this.#isWoken = false;
        await this.#stopLocalAgents();
        if (!this.executesSteps) continue;
        await this.#stopIdle();
        await this.#check();
        await this.#claimSteps();
      }
    } finally {
      this.#isReconciling = false;
    }
  }

  /** Stops agents of this process whose workspaces were stopped or deleted, on any replica. */
  async #stopLocalAgents(): Promise<void> {
    const { database, local, onLeft } = this.dependencies;
    const { startedIds } = local;
    if (startedIds.length === 0) return;
    const usable = await listUsable(database, startedIds);
    for (const id of startedIds.filter((it) => !usable.has(it))) {
      onLeft(id);
      this.#track(local.stopAgent(id));
    }
  }

  async #stopIdle(): Promise<void> {
    const { database, clock, log, bus } = this.dependencies;
    const idle = await stopIdle(database, await this.dependencies.deploymentTtlMs(), clock.now());
    if (idle.length === 0) return;
    log.info({ workspaceIds: idle }, "stopping idle workspaces");
    bus.publishConfigChange("workspaces");
  }

  /** Detects containers, pods and machines that ended on their own. */
  async #check(): Promise<void> {
    const { database, provisioners, clock, log, bus } = this.dependencies;
    if (clock.now() - this.#lastCheckAt < CHECK_EVERY_MS) return;
    this.#lastCheckAt = clock.now();
    for (const workspace of await listUnseen(database, MAX_CHECKED)) {
      const { id, provisioner } = workspace;
      try {
        const actual = await provisioners[provisioner].status(workspace);
        if (actual.kind === "running" || !(await failRunning(database, id, actual.reason))) continue;
        log.warn({ workspaceId: id, reason: actual.reason }, "workspace is not running although it should");
        bus.publishConfigChange("workspaces");
      } catch (error) {
        log.warn({ err: error, workspaceId: id }, "workspace status could not be read");
      }
    }
  }

  async #claimSteps(): Promise<void> {
    const { database, clock } = this.dependencies;
    const limit = MAX_AT_ONCE - this.#working.size;
    if (limit <= 0) return;
    const claim = randomUUID();
    const claimed = await claimWork(database, { claim, now: clock.now(), leaseMs: CLAIM_LEASE_MS, limit });
    for (const work of claimed) this.#track(this.#execute(work));
  }

  /** Executes one step and saves its outcome; the next step may be claimed by any replica. */
  async #execute(work: ClaimedWork): Promise<void> {
    const { database, clock, log, bus } = this.dependencies;
    const { workspace, status, claim } = work;
    const own = { id: workspace.id, claim };
    const facts = { workspaceId: workspace.id, name: workspace.name, status };
    const outcome = await this.#withClaimRenewal(own, () => this.#runStep(work));
    if (outcome.kind === "failed") log.warn({ ...facts, reason: outcome.reason }, "workspace step failed");
    const after = afterWork(work, outcome, clock.now());
    if (after.kind === "gone") await forgetWorkspace(database, own);
    else if (after.kind === "rests")
      await settleWork(database, { ...own, from: status, ...after }, clock.now());
    else await postponeWork(database, { ...own, from: status, ...after });
    if (after.kind === "again") this.#scheduleWake(after.dueAt - clock.now());
    else {
      log.info({ ...facts, ...after }, "workspace has settled");
      bus.publishConfigChange("workspaces");
    }
    // The desired state may have changed meanwhile; such a step could not be claimed before.
    this.wake();
  }

  async #runStep({ workspace, status, beganAt }: ClaimedWork): Promise<WorkOutcome> {
    const { database, provisioners } = this.dependencies;
    const provisioner = provisioners[workspace.provisioner];
    try {
      switch (status) {
        case "creating":
        case "starting": {
          await provisioner.create(workspace);
          const issueToken = () => this.#issueToken(workspace.id);
          const started = await provisioner.start(workspace, { startId: String(beganAt), issueToken });
          const isReady = started === "ready" || (await isAgentExpected(database, workspace.id));
          return { kind: isReady ? "done" : "waiting" };
        }
        case "stopping":
          await this.#disconnect(workspace.id);
          await provisioner.stop(workspace);
          return { kind: "done" };
        case "deleting":
          await this.#disconnect(workspace.id);
          await provisioner.remove(workspace);
          return { kind: "done" };
      }
    } catch (error) {
      if (error instanceof ProvisionerError)
        return { kind: "failed", reason: error.message, isPermanent: error.isPermanent };
      this.dependencies.log.error(
        { err: error, workspaceId: workspace.id },
        "provisioner failed unexpectedly",
      );
      return { kind: "failed", reason: "The server could not do it; see its log.", isPermanent: false };
    }
  }

  /** Disconnects the workspace and invalidates its agent token. */
  async #disconnect(id: string): Promise<void> {
    this.dependencies.onLeft(id);
    await setAgentToken(this.dependencies.database, id, null);
  }

  async #issueToken(id: string): Promise<string> {
    const token = createAgentToken();
    await setAgentToken(this.dependencies.database, id, hashAgentToken(token));
    return token;
  }

  /** Renews the claim while the step is running. */
  async #withClaimRenewal<T>(own: { id: string; claim: string }, step: () => Promise<T>): Promise<T> {
    const { database, clock, log } = this.dependencies;
    const stop = clock.every(CLAIM_LEASE_MS / 3, () =>
      this.#track(
        renewClaim(database, own, clock.now(), CLAIM_LEASE_MS).catch((error: unknown) =>
          log.warn({ err: error, workspaceId: own.id }, "renewing the claim of a workspace step failed"),
        ),
      ),
    );
    try {
      return await step();
    } finally {
      stop();
    }
  }

  #scheduleWake(delayMs: number): void {
    if (this.#isClosed) return;
    const cancel = this.dependencies.clock.after(Math.max(0, delayMs), () => {
      this.#stops = this.#stops.filter((stop) => stop !== cancel);
      this.wake();
    });
    this.#stops.push(cancel);
  }

  /** Tracks background work: `close` waits for it, failures are logged, and the next pass tries again. */
  #track(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) => this.dependencies.log.error({ err: error }, "reconciling workspaces failed"))
      .finally(() => this.#working.delete(tracked));
    this.#working.add(tracked);
  }
}
