// A network between servers and their Redis that loses, doubles, delays and reorders the news of topics. Replies to
// commands stay as they are: their order is the protocol of the connection.
import { Transform } from "node:stream";
import { isPublished, RedisFrames } from "./redis-proxy-frames.js";
import { type Draw, SocketProxy } from "./socket-proxy.js";

const HARMS = ["dropped", "doubled", "delayed", "reordered"] as const;
export type Fate = "passed" | (typeof HARMS)[number];

/** News that is late is late by less than this. */
const LONGEST_DELAY_MS = 2_000;
/** News that is reordered comes behind at most so many others. */
const MOST_OVERTAKEN = 3;
/** News on hold on one connection; beyond it news passes unharmed. */
const MAX_DELAYED = 10_000;

export type RedisProxyOptions = {
  /** Where Redis is. */
  port: number;
  /** So many of a hundred news are harmed, each kind of harm as likely as the others. */
  percent: number;
  /** The chance of each connection, which count from 0. */
  chanceOf: (connection: number) => Draw;
  /** Hears what became of each. */
  count(fate: Fate): void;
  /** Redis said what nobody understands; the connection ends. */
  broken(error: unknown): void;
};

/** Clients connect to its port. */
export function startRedisProxy(options: RedisProxyOptions): Promise<SocketProxy> {
  const { port, chanceOf } = options;
  return SocketProxy.start({
    port,
    toClient: (connection) => new Disorder({ ...options, draw: chanceOf(connection) }),
  });
}

export function drawFate(draw: Draw, percent: number): Fate {
  if (draw(100) >= percent) return "passed";
  return HARMS[draw(HARMS.length)] ?? "dropped";
}

type DelayedFrame = { frame: Buffer; behind: number; timer: NodeJS.Timeout };
type DisorderOptions = Pick<RedisProxyOptions, "percent" | "count" | "broken"> & { draw: Draw };

/** What Redis says to one client. */
class Disorder extends Transform {
  readonly #frames = new RedisFrames();
  readonly #delayed = new Set<DelayedFrame>();

  constructor(private readonly options: DisorderOptions) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    try {
      for (const frame of this.#frames.split(chunk)) {
        if (isPublished(frame)) this.#deliver(frame);
        else this.push(frame);
      }
      done();
    } catch (error) {
      this.options.broken(error);
      done(error as Error);
    }
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    for (const { timer } of this.#delayed) clearTimeout(timer);
    this.#delayed.clear();
    done(error);
  }

  #deliver(frame: Buffer): void {
    const { draw, percent, count } = this.options;
    const fate = this.#delayed.size < MAX_DELAYED ? drawFate(draw, percent) : "passed";
    count(fate);
    switch (fate) {
      case "passed":
        return this.#pass(frame);
      case "dropped":
        return;
      case "doubled":
        this.#pass(frame);
        // Half of the doubles come at once.
        return draw(2) === 0 ? this.#pass(frame) : this.#delay(frame, { ms: draw(LONGEST_DELAY_MS) });
      case "delayed":
        return this.#delay(frame, { ms: draw(LONGEST_DELAY_MS) });
      case "reordered":
        return this.#delay(frame, { ms: LONGEST_DELAY_MS, behind: 1 + draw(MOST_OVERTAKEN) });
    }
  }

  #pass(frame: Buffer): void {
    this.push(frame);
    for (const entry of this.#delayed) {
      entry.behind -= 1;
      if (entry.behind === 0) this.#release(entry);
    }
  }

  /** Until the time is over, or so many others have passed. */
  #delay(frame: Buffer, { ms, behind = Infinity }: { ms: number; behind?: number }): void {
    const entry: DelayedFrame = { frame, behind, timer: setTimeout(() => this.#release(entry), ms) };
    this.#delayed.add(entry);
  }

  #release(entry: DelayedFrame): void {
    clearTimeout(entry.timer);
    this.#delayed.delete(entry);
    this.push(entry.frame);
  }
}
