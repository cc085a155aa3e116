/** How git hosts are asked: by a guarded `fetch`, with answers of a bounded length that are whole before they are read. */
import type { OutboundFetchFunction } from "../lib/outbound/outbound-fetch.js";

/** What clients of git hosts stand on. */
export type RequestParts = {
  /** Reaches only what it may; bounds the time, and the length of answers. */
  fetch: OutboundFetchFunction;
  /** Milliseconds since the epoch. */
  now(): number;
  /** As in `parley/1.2.3`. */
  userAgent: string;
};

/** Answers that may not have a body, not even an empty one. */
const NULL_BODY = new Set([101, 204, 205, 304]);

/**
 * The body is read before the answer is given: a client that forgives a body which breaks off would take an answer that
 * is too long for an empty one. Rejects as `fetch` does, and when the body breaks off or is too long.
 */
export function wholeAnswers(fetch: OutboundFetchFunction): OutboundFetchFunction {
  return async (url, init) => {
    const response = await fetch(url, init);
    const { status, statusText, headers } = response;
    const bytes = await response.arrayBuffer();
    const whole = new Response(NULL_BODY.has(status) ? null : bytes, { status, statusText, headers });
    Object.defineProperty(whole, "url", { value: response.url });
    return whole;
  };
}
