/**
 * Notifies a user's browsers of a settled turn, unless the user has looked at the chat meanwhile. What is
 * told is what the turn had in its hand: nothing is read for it.
 *
 * A turn waits `LOOK_MS`: whoever follows the chat, at whichever replica, marks it as read within that time, and the
 * mark is news of the person's list. Then each browser is told, and asked again a few times if its service is busy.
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

/** Marks are gathered for a second where the person looks; the rest is the way here. */
export const LOOK_MS = 3_000;
/** Rests that are told at the same time on one replica; beyond them a notification is left out, and logged. */
const MAX_TELLING = 500;
const RETRY_DELAYS_MS = [2_000, 15_000, 60_000];
/** A service that wants to be left alone for longer is left alone. */
const LONGEST_DELAY_MS = 5 * 60_000;

export type NotifierDependencies = {
  bus: Pick<Bus, "subscribeList">;
  clock: Clock;
  log: Log;
  targets: PushTargets;
  /** Never rejects. */
  deliver(target: PushTarget, message: PushMessage): Promise<PushOutcome>;
  /** The browser is not there any more. */
  remove(target: PushTarget): Promise<void>;
};

/** A chat whose turn has settled; only what its runner knows. */
export type SettledChat = { chatId: string; ownerId: string; title: string };

export class Notifier {
  readonly #dependencies: NotifierDependencies;
  readonly #telling = new Set<Promise<void>>();
  readonly #closing = new AbortController();

  constructor(dependencies: NotifierDependencies) {
    this.#dependencies = dependencies;
    // Everything under way waits with it.
    setMaxListeners(0, this.#closing.signal);
  }

  /** Returns at once and never throws. */
  onTurnSettled(chat: SettledChat, turn: SettledTurn): void {
    if (this.#closing.signal.aborted) return;
    const { log } = this.#dependencies;
    const { chatId } = chat;
    if (this.#telling.size >= MAX_TELLING) {
      log.warn({ chatId, limit: MAX_TELLING }, "A notification is left out: too many are under way");
      return;
    }
    const telling = this.#tell(chat, turn).catch((error: unknown) => {
      log.error({ err: error, chatId }, "A person could not be notified of a turn");
    });
    this.#telling.add(telling);
    void telling.finally(() => this.#telling.delete(telling));
  }

  /** What still waits is not told. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#telling);
  }

  async #tell(chat: SettledChat, turn: SettledTurn): Promise<void> {
    const { targets } = this.#dependencies;
    if ((await targets.of(chat.ownerId)).length === 0 || (await this.#isSeen(chat))) return;
    const message = pushMessageOf({ chatId: encodeId("chat", chat.chatId), title: chat.title }, turn);
    // Asked anew: a browser that has come since is told too, and one that has gone is not.
    const told = (await targets.of(chat.ownerId)).map((target) => this.#tellOne(chat, target, message));
    await Promise.all(told);
  }

  async #isSeen({ chatId, ownerId }: SettledChat): Promise<boolean> {
    const { bus, clock } = this.#dependencies;
    const seen = new AbortController();
    const detach = await bus.subscribeList(ownerId, ({ change }) => {
      if (change?.type === "status" && change.chatId === chatId && change.isUnread === false) seen.abort();
    });
    try {
      const { signal } = this.#closing;
      await sleep(clock, LOOK_MS, AbortSignal.any([seen.signal, signal]));
      return seen.signal.aborted || signal.aborted;
    } finally {
      detach();
    }
  }

  async #tellOne(chat: SettledChat, target: PushTarget, message: PushMessage): Promise<void> {
    const { clock, log, deliver, remove } = this.#dependencies;
    const facts = { chatId: chat.chatId, subscriptionId: target.id, service: new URL(target.endpoint).host };
    for (let tries = 0; ; tries += 1) {
      const delivery = await deliver(target, message);
      if (delivery.kind === "delivered") return;
      if (delivery.kind === "gone") {
        log.info(facts, "A browser has withdrawn its push subscription");
        return remove(target);
      }
      const { reason } = delivery;
      const delayMs =
        delivery.kind === "later" ? (delivery.retryAfterMs ?? RETRY_DELAYS_MS[tries]) : undefined;
      const isLastTry = tries >= RETRY_DELAYS_MS.length;
      if (delayMs === undefined || delayMs > LONGEST_DELAY_MS || isLastTry) {
        log.warn({ ...facts, reason, tries: tries + 1 }, "A notification could not be delivered");
        return;
      }
      await sleep(clock, delayMs, this.#closing.signal);
      if (this.#closing.signal.aborted) return;
    }
  }
}
