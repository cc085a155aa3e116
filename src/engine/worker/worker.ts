/**
 * One process's worker: takes pending chats, runs each with a runner, renews its lease, and takes over what dead
 * workers left. Woken by the bus, and by a tick in case a wake-up was lost.
 *
 * A beat renews the lease and then, beside it, compares notes with the database and takes over one batch. The renewal
 * waits for none of that, and nothing is taken unless the lease is alive (store/leases.ts).
 */
import { randomUUID } from "node:crypto";
import type { SavedChange } from "../../domain/chats/chat-events.js";
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
import { DatabaseUnavailable } from "../../domain/common/outages.js";
import { publishChange, applyTransition } from "../transitions/apply-transition.js";
import { runDetached } from "../../lib/run-context.js";
import { yieldToEventLoop } from "../../lib/concurrency/yield-to-event-loop.js";
import { Runner } from "./runner.js";
import type { RunnerDependencies } from "./runner-dependencies.js";
import { WorkerLease } from "./worker-lease.js";

/** A lost wake-up costs at most this much. */
const TICK_MS = 1_000;
/** Chats that one worker runs at the same time; the rest waits for it or for another worker. */
const MAX_RUNNING_CHATS = 500;
/** Clients' deadlines dealt with per tick. */
const MAX_EXPIRED_PER_TICK = 100;

export type WorkerSettings = {
  leaseMs: number;
  heartbeatMs: number;
  /** Most chats that are taken at once, asked for at each taking. */
  batchSize(): Promise<number>;
  /** Chats that it runs at the same time; 500 when absent. */
  maxRunningChats?: number;
  /** Of all replicas together, which must agree on them; absent or both 0 = none. */
  limits?: RunningLimits;
};

export class Worker {
  readonly id = randomUUID();
  readonly #parts: RunnerDependencies;
  readonly #settings: WorkerSettings;
  readonly #lease: WorkerLease;
  readonly #runners = new Map<string, { runner: Runner; runnerId: string | null; done: Promise<void> }>();
  readonly #background = new Set<Promise<void>>();
  /** Holds that only the database, or only this process, knew of at the last heartbeat; twice in a row is a fact. */
  #suspects = new Set<string>();
  #stops: (() => void)[] = [];
  #isClosing = false;
  #isAcquiring = false;
  #isWoken = false;
  #isRenewing = false;
  #isTakingOver = false;
  /** The next tick is a beat: the last renewal failed, or a full batch was taken over and there may be more. */
  #isBeatDue = false;
  /** The database does not serve; said once. */
  #isCutOff = false;
  #isExpiring = false;

  constructor(parts: RunnerDependencies, settings: WorkerSettings) {
    this.#parts = parts;
    this.#settings = settings;
    this.#lease = new WorkerLease(parts.database, this.id, settings);
  }

  /** Chats that this worker runs now. */
  get runningChats(): number {
    return this.#runners.size;
  }

  /** Resolves when the lease is written: from then on chats may be taken. */
  async start(): Promise<void> {
    const { bus, clock, database } = this.#parts;
    await this.#lease.renew();
    await forgetDeadLeases(database);
    this.#stops = [
      bus.onWake(() => this.wake()),
      clock.every(TICK_MS, () => this.#tick()),
      clock.every(this.#settings.heartbeatMs, () => this.#keep(this.#beat())),
    ];
    this.#keep(this.#takeOver());
    this.wake();
  }

  /** There may be work. */
  wake(): void {
    this.#isWoken = true;
    // A request or a turn has woken it, but it works for all.
    if (!this.#isAcquiring && !this.#isClosing) runDetached(() => this.#keep(this.#acquire()));
  }

  /** Hands every chat back, so that another worker goes on at once. Bounded by the runners' own stops. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const stop of this.#stops) stop();
    await this.#settled();
    const chats = this.#runners.size;
    if (chats > 0) this.#parts.log.info({ chats }, "Running chats are handed back");
    for (const { runner } of this.#runners.values()) runner.stop({ kind: "shutdown" });
    await Promise.all([...this.#runners.values()].map(({ done }) => done));
    await this.#lease.drop();
    this.#parts.bus.wakeWorkers();
  }

  // ── taking chats ─────────────────────────────────────────────────────────

  async #acquire(): Promise<void> {
    this.#isAcquiring = true;
    try {
      while (this.#isWoken && !this.#isClosing) {
        this.#isWoken = false;
        const limit = Math.min(await this.#settings.batchSize(), this.#room);
        if (limit <= 0) return;
        const chats = await this.#takePending(limit);
        if (chats.some((chat) => this.#hasOvertaken(chat))) await yieldToEventLoop();
        for (const chat of chats) {
          this.#parts.meter.acquired(chat.restedSeconds);
          this.#hold(chat);
        }
        if (chats.length === limit) this.#isWoken = true;
      }
    } finally {
      this.#isAcquiring = false;
    }
  }

  /**
   * Chats that may be taken. One that waits for its subagents takes nobody's place, up to as many again: if it did,
   * those that wait could keep out those that they wait for.
   */
  get #room(): number {
    const waiting = Math.min(this.#parts.subagents.waitingChats, this.#maxRunningChats);
    return this.#maxRunningChats + waiting - this.#runners.size;
  }

  get #maxRunningChats(): number {
    return this.#settings.maxRunningChats ?? MAX_RUNNING_CHATS;
  }

  #takePending(limit: number): Promise<ClaimedChat[]> {
    const { database } = this.#parts;
    const limits = this.#runningLimits;
    return limits
      ? acquirePendingWithin(database, this.id, limit, limits)
      : acquirePending(database, this.id, limit);
  }

  /** Null when there is none: then taking chats needs no lock. */
  get #runningLimits(): RunningLimits | null {
    const { limits } = this.#settings;
    return limits && (limits.chats > 0 || limits.chatsPerUser > 0) ? limits : null;
  }

  /**
   * A tick can take a chat whose last commit was made by this very process and has not been told yet. Its answer
   * is in a socket already: letting it be read first keeps the chat's news in order, and saves subscribers a read.
   */
  #hasOvertaken({ chatId, state }: ClaimedChat): boolean {
    const known = this.#parts.chatCache.get(chatId);
    return known !== undefined && known.state.snapshotVersion < state.snapshotVersion - 1;
  }

  /** One batch. A full one makes the next tick a beat, which renews the lease before it takes more. */
  async #takeLost(orphans: string[]): Promise<void> {
    const limit = Math.min(await this.#settings.batchSize(), this.#room);
    if (limit <= 0 || this.#isClosing) return;
    const chats = await acquireLost(this.#parts.database, this.id, limit, orphans);
    for (const chat of chats) {
      this.#parts.log.warn(
        { chatId: chat.chatId, status: chat.state.status },
        "A chat was taken over from a lost worker",
      );
      this.#hold(chat);
    }
    if (chats.length === limit) this.#isBeatDue = true;
  }

  /** Runs a chat that the database has just given us; the news of it is told like any other. */
  #hold(chat: ClaimedChat): void {
    const { chatId, ownerId, state } = chat;
    this.#runners.get(chatId)?.runner.stop({ kind: "ownership-lost" });
    const runner = new Runner(this.#parts, chat);
    if (this.#isClosing) runner.stop({ kind: "shutdown" });
    const news: SavedChange = {
      chatId,
      ownerId,
      previousVersion: state.snapshotVersion - 1,
      state,
      messages: [],
    };
    publishChange(this.#parts, news, []);
    const done = runner.run().then(() => {
      if (this.#runners.get(chatId)?.runner === runner) this.#runners.delete(chatId);
      // Every worker passed over pending chats for which this one's place is free now.
      if (this.#runningLimits) this.#parts.bus.wakeWorkers();
      // A full worker passed over pending chats; a turn handed back is pending again.
      else if (!this.#isClosing && this.#runners.size >= this.#maxRunningChats - 1) this.wake();
    });
    this.#runners.set(chatId, { runner, runnerId: state.runnerId, done });
  }

  // ── keeping chats ────────────────────────────────────────────────────────

  #tick(): void {
    this.wake();
    this.#keep(this.#expireDeadlines());
    if (this.#isBeatDue) this.#keep(this.#beat());
  }

  /** Renews the lease. One that fails is tried again with every tick, not only when the next one is due. */
  async #beat(): Promise<void> {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    this.#isBeatDue = true;
    try {
      const wasAlive = await this.#lease.renew();
      this.#isBeatDue = false;
      this.#noteOutage(false);
      if (!wasAlive) {
        const { log } = this.#parts;
        log.warn({ workerId: this.id }, "The worker's lease had ended; others may have taken its chats over");
      }
      if (!this.#isClosing) this.#keep(this.#takeOver(wasAlive));
    } finally {
      this.#isRenewing = false;
    }
  }

  /**
   * What the database and this process disagree on is put right, and chats are taken over from dead workers. What kept
   * this worker from renewing its own lease may have kept the others: then theirs are left until the next beat.
   */
  async #takeOver(mayTakeOthers = true): Promise<void> {
    if (this.#isTakingOver) return;
    this.#isTakingOver = true;
    try {
      const held = await readClaimedChats(this.#parts.database, this.id);
      this.#parts.workspaces.noteUse(held.flatMap(({ workspaceId }) => workspaceId ?? []));
      const orphans = this.#reconcile(held);
      if (mayTakeOthers) await this.#takeLost(orphans);
    } finally {
      this.#isTakingOver = false;
    }
  }

  /**
   * Compares our runners with what the database says is ours. A runner that the database does not know has lost
   * its chat; a chat without a runner is an orphan and is returned, to be taken anew.
   */
  #reconcile(held: ClaimedChat[]): string[] {
    const suspects = new Set<string>();
    const confirmed = (hold: string) => {
      suspects.add(hold);
      return this.#suspects.has(hold);
    };
    const byId = new Map(held.map((chat) => [chat.chatId, chat]));
    for (const [chatId, { runner, runnerId }] of this.#runners) {
      const chat = byId.get(chatId);
      if (chat?.state.runnerId === runnerId) runner.hear(chat.state);
      else if (confirmed(`runner ${chatId} ${runnerId}`)) runner.stop({ kind: "ownership-lost" });
    }
    const orphans = held
      .filter((chat) => this.#runners.get(chat.chatId)?.runnerId !== chat.state.runnerId)
      .filter((chat) => confirmed(`chat ${chat.chatId} ${chat.state.runnerId}`));
    this.#suspects = suspects;
    return orphans.map((chat) => chat.chatId);
  }

  async #expireDeadlines(): Promise<void> {
    if (this.#isExpiring) return;
    this.#isExpiring = true;
    try {
      const { database, clock } = this.#parts;
      const due = await chatsPastDeadline(database, clock.now(), MAX_EXPIRED_PER_TICK);
      for (const chatId of due) await this.#expire(chatId);
    } finally {
      this.#isExpiring = false;
    }
  }

  /** One chat that cannot be written must not keep the others waiting. */
  async #expire(chatId: string): Promise<void> {
    try {
      await applyTransition(this.#parts, { chatId, commands: [{ type: "expire" }] });
    } catch (error) {
      this.#parts.log.error({ err: error, chatId }, "A client's deadline could not be dealt with");
    }
  }

  /** Background work: its failure is logged and the next tick tries again; `close` waits for it. */
  #keep(work: Promise<void>): void {
    const kept = work
      .catch((error: unknown) => {
        if (error instanceof DatabaseUnavailable) this.#noteOutage(true, error);
        else this.#parts.log.error({ err: error, workerId: this.id }, "The worker's loop failed");
      })
      .finally(() => this.#background.delete(kept));
    this.#background.add(kept);
  }

  /** An outage is said when it begins and when it is over, not with every try. */
  #noteOutage(isCutOff: boolean, error?: DatabaseUnavailable): void {
    if (isCutOff === this.#isCutOff) return;
    this.#isCutOff = isCutOff;
    const { log } = this.#parts;
    if (isCutOff)
      log.warn({ err: error, workerId: this.id }, "The worker cannot reach the database; trying on");
    else log.info({ workerId: this.id }, "The worker reaches the database again");
  }

  /** Background work may start more of it. */
  async #settled(): Promise<void> {
    while (this.#background.size > 0) await Promise.all(this.#background);
  }
}
