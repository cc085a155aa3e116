/** In-memory rate limiter with a bounded number of keys, so that a client with many addresses cannot exhaust the memory. */
import { LRUCache } from "lru-cache";
import { type IRateLimiterOptions, RateLimiterMemory, type RateLimiterRes } from "rate-limiter-flexible";

/** Keys of one limit, some 300 bytes each; beyond it the least recently used is evicted. */
const MAX_KEYS = 100_000;

export class BoundedMemory extends RateLimiterMemory {
  readonly #keys: LRUCache<string, true>;

  constructor(options: IRateLimiterOptions, maxKeys = MAX_KEYS) {
    super(options);
    this.#keys = new LRUCache<string, true>({
      max: maxKeys,
      dispose: (_value, key, reason) => {
        if (reason === "evict") void this.delete(key);
      },
    });
  }

  override consume(key: string | number, uses?: number, more?: object): Promise<RateLimiterRes> {
    this.#keys.set(String(key), true);
    return super.consume(key, uses, more);
  }
}
