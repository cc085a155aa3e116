/** The library's memory with an end to it: addresses are cheap, and whoever has many must not fill ours with them. */
import { LRUCache } from "lru-cache";
import { type IRateLimiterOptions, RateLimiterMemory, type RateLimiterRes } from "rate-limiter-flexible";

/** Keys of one limit; some 300 bytes each. Of those beyond it the one that was used longest ago is forgotten. */
export const MAX_KEYS = 100_000;

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
