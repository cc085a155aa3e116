/**
 * `fetch` for untrusted addresses, such as those of MCP servers and their authorization servers. It reaches only the
 * public internet unless the request's policy says otherwise; every redirect is checked like the first address. States:
 * open → closed. Proxies of the environment are not used, because a proxy resolves the addresses and they could not be
 * checked here.
 */
import { Agent, fetch as undiciFetch, type Response as UndiciResponse } from "undici";
import type { Clock } from "../clock.js";
import { addressOf, isLocalName, isPublicAddress } from "./address-rules.js";
import { guardedLookup, resolveBySystem, type Resolution } from "./guarded-lookup.js";
import { redirected, redirectTarget, type OutboundRequest } from "./redirects.js";
import { OutboundLimitExceeded, OutboundRefused } from "./refused.js";
import { limitedBody } from "./limited-body.js";
import { resendWhenStale } from "./stale-connection.js";

const MAX_REDIRECTS = 5;
const CONNECT_TIMEOUT_MS = 10_000;
/** Depth of the search through `cause`: the guard's errors are wrapped by those of the connection. */
const MAX_CAUSES = 5;

export type OutboundPolicy = {
  /** Also reach private, loopback and link-local addresses, those of cloud metadata among them. */
  isPrivateAllowed: boolean;
  /** Until the response's head, redirects included; until the end of its body when that is bounded. */
  timeoutMs: number;
  /** After decompression. null: a stream, whose reader bounds it. */
  maxBodyBytes: number | null;
};

/** Like the platform's `fetch`. The policy's own rejections are OutboundRefused and OutboundLimitExceeded. */
export type OutboundFetchFunction = (url: string | URL, init?: RequestInit) => Promise<Response>;

export class OutboundFetch {
  readonly #guarded: Agent;
  readonly #open: Agent;

  /** `resolution`: how names are resolved, and which addresses are public. */
  constructor(
    private readonly clock: Clock,
    private readonly resolution: Resolution = { resolveAll: resolveBySystem, isPublic: isPublicAddress },
  ) {
    // `timeoutMs` is measured by the injected clock; a quiet event stream has no limit.
    const limits = { headersTimeout: 0, bodyTimeout: 0 };
    const timeout = CONNECT_TIMEOUT_MS;
    this.#guarded = new Agent({ ...limits, connect: { timeout, lookup: guardedLookup(resolution) } });
    this.#open = new Agent({ ...limits, connect: { timeout } });
  }

  /** A `fetch` that enforces the policy. */
  for(policy: OutboundPolicy): OutboundFetchFunction {
    return (url, init) => this.#fetch(new URL(url), init ?? {}, policy);
  }

  /** Ends all requests and connections. */
  async close(): Promise<void> {
    await Promise.all([this.#guarded.destroy(), this.#open.destroy()]);
  }

  async #fetch(url: URL, init: RequestInit, policy: OutboundPolicy): Promise<Response> {
    const ending = new AbortController();
    const abort = () => ending.abort(init.signal?.reason);
    if (init.signal?.aborted) abort();
    else init.signal?.addEventListener("abort", abort, { once: true });
    const cancel = this.clock.after(policy.timeoutMs, () =>
      ending.abort(
        new OutboundLimitExceeded(`${url.host} did not answer within ${policy.timeoutMs / 1_000} s.`),
      ),
    );
    const release = () => {
      cancel();
      init.signal?.removeEventListener("abort", abort);
    };
    try {
      const response = await this.#follow(requestOf(url, init), init.redirect, policy, ending.signal);
      if (policy.maxBodyBytes === null || response.body === null) cancel();
      return platformResponse(response, policy.maxBodyBytes, release);
    } catch (error) {
      release();
      throw ending.signal.aborted ? ending.signal.reason : (policyErrorIn(error) ?? error);
    }
  }

  async #follow(
    first: OutboundRequest,
    mode: RequestRedirect | undefined,
    policy: OutboundPolicy,
    signal: AbortSignal,
  ): Promise<UndiciResponse> {
    let request = first;
    for (let hops = 0; ; hops += 1) {
      this.#check(request.url, policy);
      const response = await this.#send(request, policy, signal);
      const target =
        mode === "manual"
          ? undefined
          : redirectTarget(request.url, response.status, response.headers.get("location"));
      if (target === undefined) return response;
      await response.body?.cancel();
      if (mode === "error" || hops === MAX_REDIRECTS)
        throw new OutboundRefused(`${first.url.host} redirects although it must not, or too often.`);
      const next = redirected(request, target, response.status);
      if ("problem" in next)
        throw new OutboundRefused(`The redirect of ${request.url.host} is refused: ${next.problem}.`);
      request = next;
    }
  }

  /** Checks literal addresses, which are never resolved; names are checked by the guarded lookup. */
  #check(url: URL, { isPrivateAllowed }: OutboundPolicy): void {
    if (url.protocol !== "http:" && url.protocol !== "https:")
      throw new OutboundRefused(`Only http and https addresses are allowed, not ${url.protocol}`);
    if (url.username !== "" || url.password !== "")
      throw new OutboundRefused("An address must not contain a user name or password.");
    if (isPrivateAllowed) return;
    const address = addressOf(url.hostname);
    if (address !== undefined && !this.resolution.isPublic(address))
      throw OutboundRefused.privateAddress(address);
    if (isLocalName(url.hostname)) throw OutboundRefused.privateName(url.hostname);
  }

  #send(
    { url, method, headers, body }: OutboundRequest,
    { isPrivateAllowed }: OutboundPolicy,
    signal: AbortSignal,
  ) {
    const send = () =>
      undiciFetch(url, {
        method,
        headers: [...headers],
        body,
        signal,
        redirect: "manual",
        dispatcher: isPrivateAllowed ? this.#open : this.#guarded,
      });
    return resendWhenStale(this.clock, send, signal);
  }
}

function requestOf(url: URL, { method = "GET", headers, body = null }: RequestInit): OutboundRequest {
  if (body instanceof Uint8Array && body.buffer instanceof ArrayBuffer) {
    const bytes = new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
    return { url, method: method.toUpperCase(), headers: new Headers(headers), body: bytes };
  }
  if (body !== null && typeof body !== "string" && !(body instanceof URLSearchParams))
    throw new TypeError("The body must be text or bytes, because a redirect or a retry sends it again.");
  const all = new Headers(headers);
  if (body instanceof URLSearchParams && !all.has("content-type"))
    all.set("content-type", "application/x-www-form-urlencoded;charset=UTF-8");
  return { url, method: method.toUpperCase(), headers: all, body: body?.toString() ?? null };
}

/** As the platform's `Response`, which callers may test with instanceof; undici's own class is another one. */
function platformResponse(response: UndiciResponse, maxBytes: number | null, release: () => void): Response {
  const { status, statusText, url } = response;
  const source = response.body as ReadableStream<Uint8Array> | null;
  if (source === null) release();
  const body = source === null ? null : limitedBody(source, maxBytes, release);
  const copy = new Response(body, { status, statusText, headers: [...response.headers] });
  Object.defineProperty(copy, "url", { value: url });
  return copy;
}

function policyErrorIn(error: unknown): Error | undefined {
  let cause = error;
  for (let depth = 0; depth < MAX_CAUSES && cause instanceof Error; depth += 1) {
    if (cause instanceof OutboundRefused || cause instanceof OutboundLimitExceeded) return cause;
    cause = cause.cause;
  }
  return undefined;
}
