/**
 * From a token to the viewer behind it. Answers are remembered for a few seconds, so that a turn's many requests
 * read the token once; a revoked token therefore works at most that much longer. Refusals are not remembered: a
 * token that has just been made works at once.
 */
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Viewer } from "../../domain/users/viewer.js";
import type { Clock } from "../../lib/clock.js";

/** How long a known token is believed without asking again. */
export const VIEWER_CACHE_MS = 5_000;
const MAX_CACHED_VIEWERS = 10_000;
/** Who is at work asks more often than that; who has been away is a stranger again. */
const GOOD_TOKEN_MEMORY_MS = 3_600_000;
/** Visible ASCII, as headers carry it; far longer than any token of ours. */
const TOKEN = /^[\x21-\x7e]{1,4096}$/;
const BEARER = /^Bearer +(\S+) *$/i;

/** The token of an `Authorization: Bearer <token>` header; null when there is none that could be one. */
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

/** Looks a token up: null when it is unknown, revoked or expired; rejects when it cannot be known now. */
export type FindViewer = (token: string) => Promise<Viewer | null>;

export type RememberedViewers = {
  find: FindViewer;
  /** The token was good within the last hour, or still is; it has not been found wanting since. */
  wasGood(token: string): boolean;
  /** Somebody's rights have changed: whoever asks from now on gets an answer that was found after this. */
  forget(): void;
};

/** The remembering form of `authenticate`. Questions about one token at one time become one. */
export function rememberViewers(authenticate: FindViewer, clock: Clock): RememberedViewers {
  const cache = new LRUCache<string, Viewer>({
    max: MAX_CACHED_VIEWERS,
    ttl: VIEWER_CACHE_MS,
    ttlResolution: 0,
    perf: clock,
  });
  const good = new LRUCache<string, true>({
    max: MAX_CACHED_VIEWERS,
    ttl: GOOD_TOKEN_MEMORY_MS,
    ttlResolution: 0,
    perf: clock,
  });
  let underWay = new Map<string, Promise<Viewer | null>>();

  const ask = async (token: string, key: string): Promise<Viewer | null> => {
    const questions = underWay;
    try {
      // Inside `then`, so that a question that fails at once is taken off the list after it was put there.
      const viewer = await Promise.resolve(token).then(authenticate);
      if (viewer) good.set(key, true);
      else good.delete(key);
      // Else it was forgotten before it was known.
      if (viewer && questions === underWay) cache.set(key, viewer);
      return viewer;
    } finally {
      questions.delete(key);
    }
  };
  const find: FindViewer = async (token) => {
    const key = keyOf(token);
    const known = cache.get(key);
    if (known) return unlessExpired(known, clock);
    const asked = underWay.get(key) ?? ask(token, key);
    underWay.set(key, asked);
    return unlessExpired(await asked, clock);
  };
  return {
    find,
    wasGood: (token) => good.has(keyOf(token)),
    forget() {
      cache.clear();
      underWay = new Map();
    },
  };
}

/** The caches need not hold what opens the door. */
function keyOf(token: string): string {
  return createHash("sha256").update(token).digest("base64");
}

function unlessExpired(viewer: Viewer | null, clock: Clock): Viewer | null {
  if (viewer === null || viewer.expiresAt === null) return viewer;
  return viewer.expiresAt > clock.now() ? viewer : null;
}
