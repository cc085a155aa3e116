/**
 * Retries a request once when it was sent on a kept-alive connection that the server had already closed. The server never
 * read it, so the retry is safe whatever the method.
 *
 * A connection counts as stale when it had served a request before, broke without one byte of a response to this one, and
 * did so within a round trip of sending. A server that reads a request, works and then dies takes longer. Which connection
 * a request went out on is known only from the HTTP client's diagnostics channels; without them nothing is retried.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import type { Clock } from "../clock.js";

/** The longest round trip within which a closed connection answers with its reset: satellite links and slow proxies. */
const RESET_NOTICE_MS = 2_000;
/** Depth of the search through `cause`. */
const MAX_CAUSES = 5;
const CLOSED_CODES: ReadonlySet<unknown> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/** Filled in once the request's head has been written. */
type Sending = {
  connection?: { socket: Socket; bytesReadBefore: number; isReused: boolean; sentAt: number };
};
type Observed = { sending: Sending; clock: Clock };

const currentRequest = new AsyncLocalStorage<Observed>();
const observedRequests = new WeakMap<object, Observed>();
const usedSockets = new WeakSet<Socket>();
let isObserving = false;

/** Resolves or rejects as `send`, which is called at most twice, without a delay in between. */
export async function resendWhenStale<Result>(
  clock: Clock,
  send: () => Promise<Result>,
  signal?: AbortSignal | null,
): Promise<Result> {
  observe();
  const sending: Sending = {};
  try {
    return await currentRequest.run({ sending, clock }, send);
  } catch (error) {
    if (signal?.aborted || !isClosed(error) || !wasStale(sending, clock)) throw error;
    return send();
  }
}

function wasStale({ connection }: Sending, clock: Clock): boolean {
  if (connection === undefined || !connection.isReused) return false;
  const { socket, bytesReadBefore, sentAt } = connection;
  return socket.bytesRead === bytesReadBefore && clock.now() - sentAt <= RESET_NOTICE_MS;
}

function isClosed(error: unknown): boolean {
  let link = error;
  for (let depth = 0; depth < MAX_CAUSES && link instanceof Error; depth += 1) {
    if ("code" in link && CLOSED_CODES.has(link.code)) return true;
    link = link.cause;
  }
  return false;
}

/** Subscribes to the channels of undici, which Node's `fetch` uses too; once per process. */
function observe(): void {
  if (isObserving) return;
  isObserving = true;
  subscribe("undici:request:create", (message) => {
    const observed = currentRequest.getStore();
    const { request } = message as { request: object };
    if (observed !== undefined) observedRequests.set(request, observed);
  });
  subscribe("undici:client:sendHeaders", (message) => {
    const { request, socket } = message as { request: object; socket: Socket };
    const observed = observedRequests.get(request);
    const isReused = usedSockets.has(socket);
    usedSockets.add(socket);
    if (observed === undefined) return;
    const { sending, clock } = observed;
    sending.connection = { socket, bytesReadBefore: socket.bytesRead, isReused, sentAt: clock.now() };
  });
}
