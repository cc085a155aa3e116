/**
 * Sends push notifications for settled turns to the owner's browsers, unless the owner reads the chat. The message is
 * built from what the turn has in memory; nothing is read for it.
 *
 * Each notification waits `READ_GRACE_MS`: a subscriber of the chat, on any replica, marks it as read within that time,
 * which is published on the owner's list. Then it is sent to each browser, with a few retries while its service is
 * busy.
 */
import { setMaxListeners } from "node:events";
import { encodeId } from "../../domain/common/ids.js";
import {
  pushMessageOf,
  type PushMessage,
  type PushOutcome,
  type SettledTurn,
} from "../../domain/push/push.js";
import type { Bus } from "../../events/bus/bus.js";
import { sleep, type Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import type { PushTarget } from "../../store/push/push.js";
import type { PushTargets } from "./push-targets.js";

/** Read marks are batched for a second on the reader's replica; the rest is for their delivery. */
export const READ_GRACE_MS = 3_000;
/** Settled turns with notifications in progress on one replica; beyond it they are dropped and logged. */
const MAX_IN_PROGRESS = 500;
const RETRY_DELAYS_MS = [2_000, 15_000, 60_000];
/** A notification is dropped when its service asks for a longer delay. */
const MAX_DELAY_MS = 5 * 60_000;

export type NotifierDependencies = {
  bus: Pick<Bus, "subscribeList">;
  clock: Clock;
  log: Log;
  targets: PushTargets;
  /** Never rejects. */
  deliver(target: PushTarget, message: PushMessage): Promise<PushOutcome>;
  /** Deletes a subscription that no longer exists at its service. */
  remove(target: PushTarget): Promise<void>;
};

/** A chat whose turn has settled; only what its runner knows. */
export type SettledChat = { chatId: string; ownerId: string; title: string };

export class Notifier {
  readonly #dependencies: NotifierDependencies;
  readonly #notifying = new Set<Promise<void>>();
  readonly #closing = new AbortController();

  constructor(dependencies: NotifierDependencies) {
    this.#dependencies = dependencies;
    // Every notification in progress listens to it.
    setMaxListeners(0, this.#closing.signal);
  }

  /** Returns at once and never throws. */
  onTurnSettled(chat: SettledChat, turn: SettledTurn): void {
    if (this.#closing.signal.aborted) return;
    const { log } = this.#dependencies;
    const { chatId } = chat;
    if (this.#notifying.size >= MAX_IN_PROGRESS) {
      log.warn({ chatId, limit: MAX_IN_PROGRESS }, "too many notifications in progress; dropping one");
      return;
    }
    const notifying = this.#notify(chat, turn).catch((error: unknown) => {
      log.error({ err: error, chatId }, "push notification failed");
    });
    this.#notifying.add(notifying);
    void notifying.finally(() => this.#notifying.delete(notifying));
  }

  /** Drops notifications in progress. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#notifying);
  }

  async #notify(chat: SettledChat, turn: SettledTurn): Promise<void> {
    const { targets } = this.#dependencies;
    if ((await targets.of(chat.ownerId)).length === 0 || (await this.#isSeen(chat))) return;
    const message = pushMessageOf({ chatId: encodeId("chat", chat.chatId), title: chat.title }, turn);
    // Read again for browsers that were registered or removed during the wait.
    const deliveries = (await targets.of(chat.ownerId)).map((target) =>
      this.#deliverTo(chat, target, message),
    );
    await Promise.all(deliveries);
  }

  async #isSeen({ chatId, ownerId }: SettledChat): Promise<boolean> {
    const { bus, clock } = this.#dependencies;
    const seen = new AbortController();
    const detach = await bus.subscribeList(ownerId, ({ change }) => {
      if (change?.type === "status" && change.chatId === chatId && change.isUnread === false) seen.abort();
    });
    try {
      const { signal } = this.#closing;
      await sleep(clock, READ_GRACE_MS, AbortSignal.any([seen.signal, signal]));
      return seen.signal.aborted || signal.aborted;
    } finally {
      detach();
    }
  }

  async #deliverTo(chat: SettledChat, target: PushTarget, message: PushMessage): Promise<void> {
    const { clock, log, deliver, remove } = this.#dependencies;
    const facts = { chatId: chat.chatId, subscriptionId: target.id, service: new URL(target.endpoint).host };
    for (let tries = 0; ; tries += 1) {
      const delivery = await deliver(target, message);
      if (delivery.kind === "delivered") return;
      if (delivery.kind === "gone") {
        log.info(facts, "push subscription is gone; removing it");
        return remove(target);
      }
      const { reason } = delivery;
      const delayMs =
        delivery.kind === "later" ? (delivery.retryAfterMs ?? RETRY_DELAYS_MS[tries]) : undefined;
      const isLastTry = tries >= RETRY_DELAYS_MS.length;
      if (delayMs === undefined || delayMs > MAX_DELAY_MS || isLastTry) {
        log.warn({ ...facts, reason, tries: tries + 1 }, "push notification was not delivered");
        return;
      }
      await sleep(clock, delayMs, this.#closing.signal);
      if (this.#closing.signal.aborted) return;
    }
  }
}
