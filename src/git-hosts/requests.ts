/** Requests to git hosts: by a guarded `fetch`, with bounded responses that are complete before they are used. */
import type { OutboundFetchFunction } from "../lib/outbound/outbound-fetch.js";

export type RequestDependencies = {
  /** Enforces the outbound policy: permitted addresses, timeout, response size. */
  fetch: OutboundFetchFunction;
  /** Milliseconds since the epoch. */
  now(): number;
  /** For example `parley/1.2.3`. */
  userAgent: string;
};

/** Statuses of responses that must not have a body, not even an empty one. */
const NULL_BODY = new Set([101, 204, 205, 304]);

/**
 * Reads the whole body before it resolves: a client that tolerates an aborted body would take a response that is too long
 * for an empty one. Rejects as `fetch` does, and when the body is aborted or too long.
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
