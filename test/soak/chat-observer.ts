// Subscribes to one chat during the whole soak, over connections that break, and records what it receives.
import { decodeEventCursor } from "../../src/domain/common/cursors.js";
import { sleep, systemClock } from "../../src/lib/clock.js";
import { Follower } from "../support/clients/api-client.js";
import { type ChatEvent, Transcript } from "../support/clients/transcript.js";
import { AppliedOnce } from "./applied-once.js";
import { Chance, type Tally } from "./chance.js";
import { type Deployment, isTemporary } from "./deployment.js";

/**
 * The state read for a refresh may be newer than its cursor: until the events have caught up, they may bring messages
 * that it no longer has.
 */
class LenientTranscript extends Transcript {
  readonly once = new AppliedOnce();
  #refreshVersion = 0;

  override apply(event: ChatEvent): void {
    this.once.apply(event);
    const known = this.breaches.length;
    super.apply(event);
    if (event.__typename === "ChatRefreshEvent") this.#refreshVersion = versionOf(event.chat.eventCursor);
    if (versionOf(event.cursor) <= this.#refreshVersion) this.breaches.length = known;
  }
}

function versionOf(cursor: string): number {
  return decodeEventCursor(cursor)?.position.version ?? 0;
}

/** Delay before reconnecting. */
const RECONNECT_DELAY_MS = 50;
/** Mean time after which it closes its connection. */
const MEAN_CONNECTION_MS = 4_000;

export type ChatObserverDependencies = {
  deployment: Deployment;
  tally: Tally;
  seed: number;
  onViolation(sentence: string): void;
};

export class ChatObserver {
  readonly transcript = new LenientTranscript();
  readonly #chance: Chance;
  readonly #end = new AbortController();
  readonly #done: Promise<void>;
  /** It no longer closes its connection by itself. */
  isSteady = false;
  /** Events in order, with marks where the connection ended. */
  readonly eventLog: string[] = [];

  constructor(
    private readonly dependencies: ChatObserverDependencies,
    readonly chatId: string,
    number: number,
  ) {
    this.#chance = Chance.of(dependencies.seed, "onlooker", number);
    this.#done = this.#follow();
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#done;
  }

  async #follow(): Promise<void> {
    const { deployment, tally, onViolation } = this.dependencies;
    while (!this.#end.signal.aborted) {
      const follower = new Follower(deployment.server(this.#chance), this.chatId, this.transcript);
      const seen = this.transcript.log.length;
      const leaving = new AbortController();
      // Closing a connection whose server has just gone fails with that connection's error.
      const hangUp = this.#hangUp(follower, leaving.signal).catch((error: unknown) => error);
      const reason = await follower.ended.catch((error: unknown) => error);
      leaving.abort();
      await hangUp;
      for (const name of this.transcript.log.slice(seen)) {
        this.eventLog.push(name);
        if (/^(refresh|preview-reset|retry)/.test(name)) tally.add("events", name);
      }
      this.eventLog.push(`-- disconnected: ${String(reason).slice(0, 60)}`);
      this.transcript.reopened();
      const text = JSON.stringify(reason) ?? "";
      if (Array.isArray(reason) && !isTemporary(text))
        onViolation(`Subscribing to ${this.chatId} was refused: ${JSON.stringify(reason)}`);
      if (this.#end.signal.aborted) return;
      tally.add("reconnects", "all");
      await sleep(systemClock, RECONNECT_DELAY_MS, this.#end.signal);
    }
  }

  /** Ends the connection after a while, abruptly or properly. */
  async #hangUp(follower: Follower, left: AbortSignal): Promise<void> {
    const wait = AbortSignal.any([left, this.#end.signal]);
    await sleep(systemClock, this.#chance.below(2 * MEAN_CONNECTION_MS), wait);
    if (this.isSteady) await new Promise<void>((resolve) => whenAborted(wait, resolve));
    if (left.aborted) return;
    await (this.#chance.percent(50) ? follower.cut() : follower.close());
  }
}

function whenAborted(signal: AbortSignal, act: () => void): void {
  if (signal.aborted) act();
  else signal.addEventListener("abort", act, { once: true });
}
