/**
 * One more try for a request that went out on a kept-alive connection which the other side had closed meanwhile: nobody
 * has read it, so it may be sent again, whatever it asks for.
 *
 * What can be known here: that the connection had served a request before, that it broke without one byte of an answer
 * to this one, and that it did so within a round trip of sending. That is how a connection looks that was closed before
 * the request came; a server that reads a request, works and then dies takes longer. The HTTP client says which
 * connection a request went out on only on its diagnostics channels; one without them is simply never asked again.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import type { Clock } from "../clock.js";

/** The longest round trip within which a closed connection answers with its reset: satellite links and slow proxies. */
const RESET_NOTICE_MS = 2_000;
/** Errors within errors. */
const MAX_CAUSES = 5;
const CLOSED_CODES: ReadonlySet<unknown> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/** What is known of one request once its head has been written. */
type Sending = {
  connection?: { socket: Socket; bytesReadBefore: number; isReused: boolean; sentAt: number };
};
type Observed = { sending: Sending; clock: Clock };

const underWay = new AsyncLocalStorage<Observed>();
const observedRequests = new WeakMap<object, Observed>();
const usedSockets = new WeakSet<Socket>();
let isObserving = false;

/** What `send` gives; it is called twice at most, the second time without any wait. */
export async function resendWhenStale<Result>(
  clock: Clock,
  send: () => Promise<Result>,
  signal?: AbortSignal | null,
): Promise<Result> {
  observe();
  const sending: Sending = {};
  try {
    return await underWay.run({ sending, clock }, send);
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

/** The channels of undici, Node's own `fetch` among its users; once for the process. */
function observe(): void {
  if (isObserving) return;
  isObserving = true;
  subscribe("undici:request:create", (message) => {
    const observed = underWay.getStore();
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
