// Proxy between servers and their Redis that drops, duplicates, delays and reorders published messages. Replies to
// commands pass unchanged: their order is the protocol of the connection.
import { Transform } from "node:stream";
import { isPublished, RedisFrames } from "./redis-proxy-frames.js";
import { type Draw, SocketProxy } from "./socket-proxy.js";

const DISTURBANCES = ["dropped", "duplicated", "delayed", "reordered"] as const;
export type Fate = "passed" | (typeof DISTURBANCES)[number];

/** Upper bound of a delay. */
const LONGEST_DELAY_MS = 2_000;
/** Most messages that may overtake a reordered one. */
const MOST_OVERTAKEN = 3;
/** Delayed messages of one connection; beyond it messages pass unchanged. */
const MAX_DELAYED = 10_000;

export type RedisProxyOptions = {
  /** Where Redis is. */
  port: number;
  /** Percentage of messages that are disturbed; all disturbances are equally likely. */
  percent: number;
  /** Random numbers of each connection; connections count from 0. */
  chanceOf: (connection: number) => Draw;
  /** Called with the fate of each message. */
  count(fate: Fate): void;
  /** Called when a reply of Redis cannot be parsed; the connection ends. */
  broken(error: unknown): void;
};

/** Starts the proxy; clients connect to its port. */
export function startRedisProxy(options: RedisProxyOptions): Promise<SocketProxy> {
  const { port, chanceOf } = options;
  return SocketProxy.start({
    port,
    toClient: (connection) => new Disorder({ ...options, draw: chanceOf(connection) }),
  });
}

export function drawFate(draw: Draw, percent: number): Fate {
  if (draw(100) >= percent) return "passed";
  return DISTURBANCES[draw(DISTURBANCES.length)] ?? "dropped";
}

type DelayedFrame = { frame: Buffer; behind: number; timer: NodeJS.Timeout };
type DisorderOptions = Pick<RedisProxyOptions, "percent" | "count" | "broken"> & { draw: Draw };

/** Redis's bytes to one client. */
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
      case "duplicated":
        this.#pass(frame);
        // Half of the duplicates come at once.
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

  /** Delays the message until the time is over, or `behind` others have passed. */
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
