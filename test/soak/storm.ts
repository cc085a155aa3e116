// The soak's bad network: what lies between clients, servers and Redis is cut at random, slow, and harms the news of
// topics. Every choice comes from the seed.
import { sleep, systemClock } from "../../src/lib/clock.js";
import { startRedisProxy } from "../support/network/redis-proxy.js";
import { Slowness, SocketProxy } from "../support/network/socket-proxy.js";
import { Chance, type Tally } from "./chance.js";

/** `chaos`: so many of a hundred news of Redis are harmed. `cuts`: milliseconds between two cuts, on average; 0 = none. */
export type Weather = { seed: number; chaos: number; cuts: number };

type StormParts = {
  weather: Weather;
  tally: Tally;
  /** Hears of what only a bug can bring about. */
  complain(sentence: string): void;
};

/** Of a hundred cuts so many hit a connection to Redis, which serves more people than a client's. */
const REDIS_CUTS_PERCENT = 10;
/** Between clients and servers so many of a hundred chunks are held up, for less than this. */
const SLOW_CHUNKS = { percent: 5, longestMs: 150 };

export class Storm {
  readonly #toServers: SocketProxy[] = [];
  readonly #toRedis: SocketProxy[] = [];
  readonly #calm = new AbortController();
  #cutting = Promise.resolve();

  constructor(private readonly parts: StormParts) {}

  /** From now on connections are cut. */
  begin(): void {
    this.#cutting = this.#cut();
  }

  /** The address of a Redis by way of the storm. */
  async coverRedis(url: string): Promise<string> {
    const { weather, tally, complain } = this.parts;
    const proxy = await startRedisProxy({
      port: portOf(url),
      percent: weather.chaos,
      chanceOf: (connection) => this.#chance("news", connection),
      count: (fate) => tally.add("news through Redis", fate),
      broken: (error) => complain(`What Redis says could not be read: ${String(error)}`),
    });
    this.#toRedis.push(proxy);
    return `redis://127.0.0.1:${proxy.port}`;
  }

  /** The address of a server by way of the storm; `place` is the server's in its fleet, for all its lives. */
  async coverServer(place: number, url: string): Promise<string> {
    const port = portOf(url);
    const stage = (way: string) => (connection: number) =>
      new Slowness(this.#chance("slowness", place, way, connection), SLOW_CHUNKS);
    this.#toServers[place] ??= await SocketProxy.start({
      port,
      toServer: stage("there"),
      toClient: stage("back"),
    });
    this.#toServers[place].moveTo(port);
    return `http://127.0.0.1:${this.#toServers[place].port}`;
  }

  /** Cuts nothing any more. News goes on being harmed: what it said has to be found out without it. */
  async calm(): Promise<void> {
    this.#calm.abort();
    await this.#cutting;
  }

  async close(): Promise<void> {
    await this.calm();
    await Promise.all([...this.#toServers, ...this.#toRedis].map((proxy) => proxy.close()));
  }

  async #cut(): Promise<void> {
    const { weather, tally } = this.parts;
    const chance = Chance.of(weather.seed, "cuts");
    const draw = (below: number) => chance.below(below);
    while (weather.cuts > 0) {
      await sleep(systemClock, weather.cuts / 2 + chance.below(weather.cuts), this.#calm.signal);
      if (this.#calm.signal.aborted) return;
      const isRedis = chance.percent(REDIS_CUTS_PERCENT);
      const proxies = isRedis ? this.#toRedis : this.#toServers;
      if (proxies.length > 0 && chance.pick(proxies).cut(draw))
        tally.add("connections cut", isRedis ? "to Redis" : "to servers");
    }
  }

  #chance(...purpose: (string | number)[]): (below: number) => number {
    const chance = Chance.of(this.parts.weather.seed, ...purpose);
    return (below) => chance.below(below);
  }
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}
