/**
 * Worker of one process: claims pending chats, runs each with a runner, renews its lease, and takes over the chats of
 * dead workers. Woken by the bus, and by a tick in case a wake-up was lost.
 *
 * A heartbeat renews the lease and then, concurrently, reconciles its runs with the database and takes over one batch.
 * The renewal waits for none of that, and nothing is claimed unless the lease is alive (store/chats/leases.ts).
 */
import { randomUUID } from "node:crypto";
import type { SavedChange } from "../../domain/chats/chat-events.js";
import { DatabaseUnavailable } from "../../domain/common/outages.js";
import { yieldToEventLoop } from "../../lib/concurrency/yield-to-event-loop.js";
import { runDetached } from "../../lib/run-context.js";
import {
  acquireLost,
  acquirePending,
  acquirePendingWithin,
  chatsPastDeadline,
  forgetDeadLeases,
  readClaimedChats,
  type ClaimedChat,
  type RunningLimits,
} from "../../store/chats/leases.js";
import { applyTransition, publishChange } from "../transitions/apply-transition.js";
import { Runner } from "./runner.js";
import type { RunnerDependencies } from "./runner-dependencies.js";
import { WorkerLease } from "./worker-lease.js";

/** A lost wake-up delays a chat by at most this much. */
const TICK_MS = 1_000;
/** Chats that one worker runs concurrently; the others stay pending, for it or for another worker. */
const MAX_RUNNING_CHATS = 500;
/** Expired client deadlines handled per tick. */
const MAX_EXPIRED_PER_TICK = 100;

export type WorkerSettings = {
  leaseMs: number;
  heartbeatMs: number;
  /** Chats claimed at once at most; read before each claim. */
  batchSize(): Promise<number>;
  /** Chats that it runs concurrently; 500 when absent. */
  maxRunningChats?: number;
  /** For all replicas together, which must be configured alike; absent or both 0 = none. */
  limits?: RunningLimits;
};

export class Worker {
  readonly id = randomUUID();
  readonly #dependencies: RunnerDependencies;
  readonly #settings: WorkerSettings;
  readonly #lease: WorkerLease;
  readonly #runs = new Map<string, { runner: Runner; runnerId: string | null; done: Promise<void> }>();
  readonly #background = new Set<Promise<void>>();
  /** Runs that only the database, or only this process, knew at the last heartbeat; twice in a row is a fact. */
  #suspects = new Set<string>();
  #stops: (() => void)[] = [];
  #isClosing = false;
  #isClaiming = false;
  #isWoken = false;
  #isRenewing = false;
  #isTakingOver = false;
  /** The next tick is a heartbeat: the last renewal failed, or a full batch was taken over and there may be more. */
  #isHeartbeatDue = false;
  /** The database is unavailable; logged once per outage. */
  #isCutOff = false;
  #isExpiring = false;

  constructor(dependencies: RunnerDependencies, settings: WorkerSettings) {
    this.#dependencies = dependencies;
    this.#settings = settings;
    this.#lease = new WorkerLease(dependencies.database, this.id, settings);
  }

  get runningChats(): number {
    return this.#runs.size;
  }

  /** Resolves when the lease is written: from then on chats may be claimed. */
  async start(): Promise<void> {
    const { bus, clock, database } = this.#dependencies;
    await this.#lease.renew();
    await forgetDeadLeases(database);
    this.#stops = [
      bus.onWake(() => this.wake()),
      clock.every(TICK_MS, () => this.#tick()),
      clock.every(this.#settings.heartbeatMs, () => this.#track(this.#heartbeat())),
    ];
    this.#track(this.#takeOver());
    this.wake();
  }

  /** There may be pending chats. */
  wake(): void {
    this.#isWoken = true;
    // Detached from the request or turn that woke it: the worker claims chats of all users.
    if (!this.#isClaiming && !this.#isClosing) runDetached(() => this.#track(this.#claimPending()));
  }

  /** Releases every chat, so that another worker continues it at once. Bounded by the runners' own stops. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const stop of this.#stops) stop();
    await this.#backgroundSettled();
    const chats = this.#runs.size;
    if (chats > 0) this.#dependencies.log.info({ chats }, "worker closing; running chats are released");
    for (const { runner } of this.#runs.values()) runner.stop({ kind: "shutdown" });
    await Promise.all([...this.#runs.values()].map(({ done }) => done));
    await this.#lease.drop();
    this.#dependencies.bus.wakeWorkers();
  }

  // ── claims ───────────────────────────────────────────────────────────────

  async #claimPending(): Promise<void> {
    this.#isClaiming = true;
    try {
      while (this.#isWoken && !this.#isClosing) {
        this.#isWoken = false;
        const limit = Math.min(await this.#settings.batchSize(), this.#freeSlots);
        if (limit <= 0) return;
        const chats = await this.#acquirePending(limit);
        if (chats.some((chat) => this.#isAheadOfCache(chat))) await yieldToEventLoop();
        for (const chat of chats) {
          this.#dependencies.telemetry.meter.acquired(chat.waitedSeconds);
          this.#startRun(chat);
        }
        if (chats.length === limit) this.#isWoken = true;
      }
    } finally {
      this.#isClaiming = false;
    }
  }

  /**
   * Chats that may be claimed. One that waits for its subagents takes up no slot, up to as many again: otherwise
   * waiting chats could keep out those that they wait for.
   */
  get #freeSlots(): number {
    const waiting = Math.min(this.#dependencies.tools.subagents.waitingChats, this.#maxRunningChats);
    return this.#maxRunningChats + waiting - this.#runs.size;
  }

  get #maxRunningChats(): number {
    return this.#settings.maxRunningChats ?? MAX_RUNNING_CHATS;
  }

  #acquirePending(limit: number): Promise<ClaimedChat[]> {
    const { database } = this.#dependencies;
    const limits = this.#runningLimits;
    return limits
      ? acquirePendingWithin(database, this.id, limit, limits)
      : acquirePending(database, this.id, limit);
  }

  /** Null when there is none: claims then need no lock. */
  get #runningLimits(): RunningLimits | null {
    const { limits } = this.#settings;
    return limits && (limits.chats > 0 || limits.chatsPerUser > 0) ? limits : null;
  }

  /**
   * A tick can claim a chat whose last commit was made by this process and is not published yet: its response is still
   * in a socket. Reading that first keeps the chat's changes in order, and saves subscribers a read.
   */
  #isAheadOfCache({ chatId, state }: ClaimedChat): boolean {
    const cached = this.#dependencies.chatCache.get(chatId);
    return cached !== undefined && cached.state.snapshotVersion < state.snapshotVersion - 1;
  }

  /** Takes over one batch. A full one makes the next tick a heartbeat, which renews the lease before more are taken. */
  async #claimLost(orphans: string[]): Promise<void> {
    const { database, log } = this.#dependencies;
    const limit = Math.min(await this.#settings.batchSize(), this.#freeSlots);
    if (limit <= 0 || this.#isClosing) return;
    const chats = await acquireLost(database, this.id, limit, orphans);
    for (const chat of chats) {
      const { chatId, state } = chat;
      log.warn({ chatId, status: state.status }, "claimed chat of a lost worker");
      this.#startRun(chat);
    }
    if (chats.length === limit) this.#isHeartbeatDue = true;
  }

  /** Runs a claimed chat, and publishes the claim like any other change. */
  #startRun(chat: ClaimedChat): void {
    const { chatId, ownerId, state } = chat;
    this.#runs.get(chatId)?.runner.stop({ kind: "ownership-lost" });
    const runner = new Runner(this.#dependencies, chat);
    if (this.#isClosing) runner.stop({ kind: "shutdown" });
    const change: SavedChange = {
      chatId,
      ownerId,
      previousVersion: state.snapshotVersion - 1,
      state,
      messages: [],
    };
    publishChange(this.#dependencies, change, []);
    const done = runner.run().then(() => {
      if (this.#runs.get(chatId)?.runner === runner) this.#runs.delete(chatId);
      // Every worker skipped pending chats that fit within the limits now.
      if (this.#runningLimits) this.#dependencies.bus.wakeWorkers();
      // A full worker skipped pending chats; a released turn is pending again.
      else if (!this.#isClosing && this.#runs.size >= this.#maxRunningChats - 1) this.wake();
    });
    this.#runs.set(chatId, { runner, runnerId: state.runnerId, done });
  }

  // ── heartbeats ───────────────────────────────────────────────────────────

  #tick(): void {
    this.wake();
    this.#track(this.#expireDeadlines());
    if (this.#isHeartbeatDue) this.#track(this.#heartbeat());
  }

  /** Renews the lease. A failed renewal is retried with every tick, not only when the next one is due. */
  async #heartbeat(): Promise<void> {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    this.#isHeartbeatDue = true;
    try {
      const wasAlive = await this.#lease.renew();
      this.#isHeartbeatDue = false;
      this.#logOutage(false);
      if (!wasAlive) {
        const { log } = this.#dependencies;
        log.warn({ workerId: this.id }, "lease lost; other workers may have taken over its chats");
      }
      if (!this.#isClosing) this.#track(this.#takeOver(wasAlive));
    } finally {
      this.#isRenewing = false;
    }
  }

  /**
   * Reconciles this process with the database, and takes over chats of dead workers. If its own
   * lease had expired, the others' may have for the same reason: then theirs are left until the next heartbeat.
   */
  async #takeOver(mayClaimLost = true): Promise<void> {
    if (this.#isTakingOver) return;
    this.#isTakingOver = true;
    try {
      const { database, workspaces } = this.#dependencies;
      const claimed = await readClaimedChats(database, this.id);
      workspaces.noteUse(claimed.flatMap(({ workspaceId }) => workspaceId ?? []));
      const orphans = this.#reconcile(claimed);
      if (mayClaimLost) await this.#claimLost(orphans);
    } finally {
      this.#isTakingOver = false;
    }
  }

  /**
   * Compares the runs of this process with the claims in the database. A run without a claim has lost its chat; a
   * claimed chat without a run is an orphan and is returned, to be claimed again.
   */
  #reconcile(claimed: ClaimedChat[]): string[] {
    const suspects = new Set<string>();
    const isConfirmed = (suspect: string) => {
      suspects.add(suspect);
      return this.#suspects.has(suspect);
    };
    const byId = new Map(claimed.map((chat) => [chat.chatId, chat]));
    for (const [chatId, { runner, runnerId }] of this.#runs) {
      const chat = byId.get(chatId);
      if (chat?.state.runnerId === runnerId) runner.observe(chat.state);
      else if (isConfirmed(`runner ${chatId} ${runnerId}`)) runner.stop({ kind: "ownership-lost" });
    }
    const orphans = claimed
      .filter((chat) => this.#runs.get(chat.chatId)?.runnerId !== chat.state.runnerId)
      .filter((chat) => isConfirmed(`chat ${chat.chatId} ${chat.state.runnerId}`));
    this.#suspects = suspects;
    return orphans.map((chat) => chat.chatId);
  }

  async #expireDeadlines(): Promise<void> {
    if (this.#isExpiring) return;
    this.#isExpiring = true;
    try {
      const { database, clock } = this.#dependencies;
      const due = await chatsPastDeadline(database, clock.now(), MAX_EXPIRED_PER_TICK);
      for (const chatId of due) await this.#expire(chatId);
    } finally {
      this.#isExpiring = false;
    }
  }

  /** A chat that cannot be written must not delay the others. */
  async #expire(chatId: string): Promise<void> {
    try {
      await applyTransition(this.#dependencies, { chatId, commands: [{ type: "expire" }] });
    } catch (error) {
      this.#dependencies.log.error({ err: error, chatId }, "client deadline could not be expired");
    }
  }

  /** Background work: a failure is logged and retried by the next tick; `close` waits for it. */
  #track(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) => {
        if (error instanceof DatabaseUnavailable) this.#logOutage(true, error);
        else this.#dependencies.log.error({ err: error, workerId: this.id }, "worker loop failed");
      })
      .finally(() => this.#background.delete(tracked));
    this.#background.add(tracked);
  }

  /** Logs the beginning and the end of an outage, not every failed try. */
  #logOutage(isCutOff: boolean, error?: DatabaseUnavailable): void {
    if (isCutOff === this.#isCutOff) return;
    this.#isCutOff = isCutOff;
    const { log } = this.#dependencies;
    if (isCutOff) log.warn({ err: error, workerId: this.id }, "worker cannot reach the database; retrying");
    else log.info({ workerId: this.id }, "worker reaches the database again");
  }

  /** Background work may start more of it. */
  async #backgroundSettled(): Promise<void> {
    while (this.#background.size > 0) await Promise.all(this.#background);
  }
}
