// Network faults between clients, servers and Redis: cut connections, latency, and lost, duplicated, delayed or reordered
// Redis messages. Every choice derives from the seed.
import { sleep, systemClock } from "../../src/lib/clock.js";
import { startRedisProxy } from "../support/network/redis-proxy.js";
import { Slowness, SocketProxy } from "../support/network/socket-proxy.js";
import { Chance, type Tally } from "./chance.js";

/** `chaos`: percentage of Redis messages with a fault. `cuts`: mean milliseconds between two cuts; 0 = none. */
export type NetworkFaultOptions = { seed: number; chaos: number; cuts: number };

type NetworkFaultsDependencies = {
  options: NetworkFaultOptions;
  tally: Tally;
  /** Reports what only a bug can cause. */
  complain(sentence: string): void;
};

/** Percentage of cuts that hit a connection to Redis; each affects more users than a client's. */
const REDIS_CUTS_PERCENT = 10;
/** Between clients and servers, this percentage of chunks is delayed by up to this time. */
const SLOW_CHUNKS = { percent: 5, longestMs: 150 };

export class NetworkFaults {
  readonly #toServers: SocketProxy[] = [];
  readonly #toRedis: SocketProxy[] = [];
  readonly #calm = new AbortController();
  #cutting = Promise.resolve();

  constructor(private readonly dependencies: NetworkFaultsDependencies) {}

  /** Starts cutting connections. */
  begin(): void {
    this.#cutting = this.#cut();
  }

  /** Starts a faulty proxy for a Redis and returns its URL. */
  async proxyRedis(url: string): Promise<string> {
    const { options, tally, complain } = this.dependencies;
    const proxy = await startRedisProxy({
      port: portOf(url),
      percent: options.chaos,
      chanceOf: (connection) => this.#chance("news", connection),
      count: (fate) => tally.add("Redis messages", fate),
      broken: (error) => complain(`Redis data could not be parsed: ${String(error)}`),
    });
    this.#toRedis.push(proxy);
    return `redis://127.0.0.1:${proxy.port}`;
  }

  /** Starts or redirects the faulty proxy of a server and returns its URL; `index` stays the same across restarts. */
  async proxyServer(index: number, url: string): Promise<string> {
    const port = portOf(url);
    const stage = (way: string) => (connection: number) =>
      new Slowness(this.#chance("slowness", index, way, connection), SLOW_CHUNKS);
    this.#toServers[index] ??= await SocketProxy.start({
      port,
      toServer: stage("there"),
      toClient: stage("back"),
    });
    this.#toServers[index].moveTo(port);
    return `http://127.0.0.1:${this.#toServers[index].port}`;
  }

  /** Stops cutting connections. Redis messages remain faulty: servers must recover from that by themselves. */
  async calm(): Promise<void> {
    this.#calm.abort();
    await this.#cutting;
  }

  async close(): Promise<void> {
    await this.calm();
    await Promise.all([...this.#toServers, ...this.#toRedis].map((proxy) => proxy.close()));
  }

  async #cut(): Promise<void> {
    const { options, tally } = this.dependencies;
    const chance = Chance.of(options.seed, "cuts");
    const draw = (below: number) => chance.below(below);
    while (options.cuts > 0) {
      await sleep(systemClock, options.cuts / 2 + chance.below(options.cuts), this.#calm.signal);
      if (this.#calm.signal.aborted) return;
      const isRedis = chance.percent(REDIS_CUTS_PERCENT);
      const proxies = isRedis ? this.#toRedis : this.#toServers;
      if (proxies.length > 0 && chance.pick(proxies).cut(draw))
        tally.add("connections cut", isRedis ? "to Redis" : "to servers");
    }
  }

  #chance(...purpose: (string | number)[]): (below: number) => number {
    const chance = Chance.of(this.dependencies.options.seed, ...purpose);
    return (below) => chance.below(below);
  }
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}
