// Follows one chat from its beginning to the end of the soak, over connections that break, and keeps what it saw.
import { decodeEventCursor } from "../../src/domain/common/cursors.js";
import { sleep, systemClock } from "../../src/lib/clock.js";
import { Follower } from "../support/clients/api-client.js";
import { type ChatEvent, Transcript } from "../support/clients/transcript.js";
import { AppliedOnce } from "./applied-once.js";
import { Chance, type Tally } from "./chance.js";
import { type Deployment, isPassing } from "./deployment.js";

/**
 * What a refresh shows may be newer than its place: until the events have caught up with it they may tell of messages
 * that are gone from it already.
 */
class LenientTranscript extends Transcript {
  readonly once = new AppliedOnce();
  #shownVersion = 0;

  override apply(event: ChatEvent): void {
    this.once.apply(event);
    const known = this.breaches.length;
    super.apply(event);
    if (event.__typename === "ChatRefreshEvent") this.#shownVersion = versionOf(event.chat.eventCursor);
    if (versionOf(event.cursor) <= this.#shownVersion) this.breaches.length = known;
  }
}

function versionOf(cursor: string): number {
  return decodeEventCursor(cursor)?.position.version ?? 0;
}

/** A server that is gone is not asked again at once. */
const RETURN_AFTER_MS = 50;
/** Between two of its own hangings-up, on average. */
const MEAN_CONNECTION_MS = 4_000;

export type OnlookerParts = {
  deployment: Deployment;
  tally: Tally;
  seed: number;
  complain(sentence: string): void;
};

export class Onlooker {
  readonly transcript = new LenientTranscript();
  readonly #chance: Chance;
  readonly #end = new AbortController();
  readonly #done: Promise<void>;
  /** It stays where it is from now on. */
  isSteady = false;
  /** Events in the order they came, with the places where the connection broke. */
  readonly story: string[] = [];

  constructor(
    private readonly parts: OnlookerParts,
    readonly chatId: string,
    number: number,
  ) {
    this.#chance = Chance.of(parts.seed, "onlooker", number);
    this.#done = this.#follow();
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#done;
  }

  async #follow(): Promise<void> {
    const { deployment, tally, complain } = this.parts;
    while (!this.#end.signal.aborted) {
      const follower = new Follower(deployment.server(this.#chance), this.chatId, this.transcript);
      const seen = this.transcript.log.length;
      const leaving = new AbortController();
      // Letting go of a connection whose server has just gone fails with that connection's end.
      const hangUp = this.#hangUp(follower, leaving.signal).catch((error: unknown) => error);
      const reason = await follower.ended.catch((error: unknown) => error);
      leaving.abort();
      await hangUp;
      for (const name of this.transcript.log.slice(seen)) {
        this.story.push(name);
        if (/^(refresh|preview-reset|retry)/.test(name)) tally.add("events", name);
      }
      this.story.push(`-- left: ${String(reason).slice(0, 60)}`);
      this.transcript.reopened();
      const words = JSON.stringify(reason) ?? "";
      if (Array.isArray(reason) && !isPassing(words))
        complain(`Following ${this.chatId} was refused: ${JSON.stringify(reason)}`);
      if (this.#end.signal.aborted) return;
      tally.add("reconnects", "all");
      await sleep(systemClock, RETURN_AFTER_MS, this.#end.signal);
    }
  }

  /** Ends the connection after a while: torn off, or in order. */
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
