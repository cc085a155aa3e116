/** Maps refusals of a git host, and failed requests to it, to `GitHostFailure`s. */
import type { GitHostAnswer, GitHostFailure } from "../domain/git/git-hosts.js";
import { OutboundLimitExceeded, OutboundRefused } from "../lib/outbound/refused.js";
import { DiffLeftOut } from "./unified-diff.js";

/** Bound of a host's own message in what users see. */
const MAX_WORDS_CHARACTERS = 200;
/** Depth of the search through `cause`: the outbound policy's errors are wrapped by those of a client. */
const MAX_CAUSES = 5;

export type Refusal = {
  status: number;
  /** By its lower-case name. */
  header(name: string): string | null;
  /** The host's own message. */
  words: string;
};

export function refused<T>(failure: GitHostFailure): GitHostAnswer<T> {
  return { ok: false, failure };
}

/**
 * 429 is a rate limit, and so is 403 with a header that says when to come back; without one it is a plain refusal. `now`
 * in milliseconds since the epoch.
 */
export function failureOfStatus(refusal: Refusal, now: number): GitHostFailure {
  const { status } = refusal;
  const message = `The host answered ${status}: ${refusal.words.slice(0, MAX_WORDS_CHARACTERS)}`;
  if (status === 429 || (status === 403 && saysWhen(refusal)))
    return { kind: "rate-limited", retryAt: retryAtOf(refusal, now), message };
  switch (status) {
    case 401:
      return { kind: "unauthorized", message };
    case 404:
      return { kind: "not-found", message };
    // GitHub's response for a diff that is too large.
    case 406:
      return { kind: "too-large", message };
    default:
      return { kind: "failed", message };
  }
}

function saysWhen({ header }: Refusal): boolean {
  return (
    header("retry-after") !== null ||
    header("x-ratelimit-remaining") === "0" ||
    header("ratelimit-remaining") === "0"
  );
}

function retryAtOf({ header }: Refusal, now: number): number | null {
  const after = seconds(header("retry-after"));
  if (after !== null) return now + after * 1_000;
  const reset = seconds(header("x-ratelimit-reset") ?? header("ratelimit-reset"));
  if (reset === null) return null;
  // In the host's time, whose clock may differ from ours.
  const hostsNow = Date.parse(header("date") ?? "");
  return reset * 1_000 + (Number.isNaN(hostsNow) ? 0 : now - hostsNow);
}

function seconds(text: string | null): number | null {
  return text !== null && /^\d{1,12}$/.test(text) ? Number(text) : null;
}

/** Maps any rejection of a request other than a response of the host. */
export function failureOfError(error: unknown): GitHostFailure {
  let cause = error;
  for (let depth = 0; depth < MAX_CAUSES && cause instanceof Error; depth += 1) {
    if (cause instanceof DiffLeftOut) return { kind: "too-large", message: cause.message };
    if (cause instanceof OutboundRefused) return { kind: "failed", message: cause.message };
    if (cause instanceof OutboundLimitExceeded)
      return { kind: cause.message.includes("bytes") ? "too-large" : "failed", message: cause.message };
    cause = cause.cause;
  }
  return { kind: "failed", message: "The host could not be reached." };
}
