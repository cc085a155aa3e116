/**
 * Viewer lookup by token, with a cache of a few seconds: a client's many requests read the token once, and a revoked
 * token works at most that much longer. Invalid tokens are not cached: a token that was just created works immediately.
 */
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Viewer } from "../../domain/users/viewer.js";
import type { Clock } from "../../lib/clock.js";

/** Lifetime of a cached viewer. */
export const VIEWER_CACHE_MS = 5_000;
const MAX_CACHED_VIEWERS = 10_000;
/** Active clients send requests more often than that. */
const VALID_TOKEN_MEMORY_MS = 3_600_000;
/** Visible ASCII, as in headers; far longer than any token. */
const TOKEN = /^[\x21-\x7e]{1,4096}$/;
const BEARER = /^Bearer +(\S+) *$/i;

/** The token of an `Authorization: Bearer <token>` header; null when it has none of a valid form. */
export function readBearer(header: unknown): string | null {
  if (typeof header !== "string") return null;
  const token = BEARER.exec(header)?.[1];
  return token !== undefined && TOKEN.test(token) ? token : null;
}

/** The token of a socket's `connection_init` payload: `authorization: "Bearer <token>"` or `token: "<token>"`. */
export function readSocketToken(params: Readonly<Record<string, unknown>> | undefined): string | null {
  const bearer = readBearer(params?.authorization ?? params?.Authorization);
  if (bearer !== null) return bearer;
  const token = params?.token;
  return typeof token === "string" && TOKEN.test(token) ? token : null;
}

/** Finds the viewer of a token: null when it is unknown, revoked or expired; rejects when the lookup fails. */
export type FindViewer = (token: string) => Promise<Viewer | null>;

export type ViewerCache = {
  find: FindViewer;
  /** Whether the token's last lookup within the past hour found it valid. */
  wasValid(token: string): boolean;
  /** Clears the cache after a change of permissions: later calls return viewers that were read after this. */
  clear(): void;
};

/** Adds a cache to `authenticate`. Concurrent lookups of one token become one. */
export function cacheViewers(authenticate: FindViewer, clock: Clock): ViewerCache {
  const cache = new LRUCache<string, Viewer>({
    max: MAX_CACHED_VIEWERS,
    ttl: VIEWER_CACHE_MS,
    ttlResolution: 0,
    perf: clock,
  });
  const valid = new LRUCache<string, true>({
    max: MAX_CACHED_VIEWERS,
    ttl: VALID_TOKEN_MEMORY_MS,
    ttlResolution: 0,
    perf: clock,
  });
  let inFlight = new Map<string, Promise<Viewer | null>>();

  const authenticateAndCache = async (token: string, key: string): Promise<Viewer | null> => {
    const lookups = inFlight;
    try {
      // Inside `then`, so that a lookup that fails synchronously is deleted after it was added.
      const viewer = await Promise.resolve(token).then(authenticate);
      if (viewer) valid.set(key, true);
      else valid.delete(key);
      // Not cached when the cache was cleared meanwhile.
      if (viewer && lookups === inFlight) cache.set(key, viewer);
      return viewer;
    } finally {
      lookups.delete(key);
    }
  };
  const find: FindViewer = async (token) => {
    const key = keyOf(token);
    const known = cache.get(key);
    if (known) return unlessExpired(known, clock);
    const lookup = inFlight.get(key) ?? authenticateAndCache(token, key);
    inFlight.set(key, lookup);
    return unlessExpired(await lookup, clock);
  };
  return {
    find,
    wasValid: (token) => valid.has(keyOf(token)),
    clear() {
      cache.clear();
      inFlight = new Map();
    },
  };
}

/** Hashed, so that the caches hold no usable tokens. */
function keyOf(token: string): string {
  return createHash("sha256").update(token).digest("base64");
}

function unlessExpired(viewer: Viewer | null, clock: Clock): Viewer | null {
  if (viewer === null || viewer.expiresAt === null) return viewer;
  return viewer.expiresAt > clock.now() ? viewer : null;
}
