/**
 * The one socket of a client: opened when the first operation needs it, shared by all, closed soon after the last one.
 * It does not come back by itself: whoever was on it hears why it is gone and decides. Three states: none, opening
 * (the token is being fetched or the server has not acknowledged) and open.
 */
import { createClient, type Client, type Sink } from "graphql-ws/client";
import { closeCodeOf } from "./parley-error.js";
import { readToken, refusedToken, type TokenSource } from "./token.js";

/** Below the 60 s after which common proxies cut a direction in which nothing is sent. */
const PING_INTERVAL_MS = 10_000;
/** A server that has not answered a ping by then is gone, whatever the network says. */
const PONG_LIMIT_MS = 10_000;
/** From the start of the connection to the server's acknowledgement. */
const OPEN_LIMIT_MS = 15_000;
/** The socket outlives its last operation by this, so that the next one need not wait for a new socket. */
const LINGER_MS = 500;
const FORBIDDEN_CLOSE_CODE = 4403;

/** A constructor of WebSockets: the browser's, Node's (22 and newer) or the one of the package `ws`. */
export type WebSocketConstructor = new (
  url: string,
  protocols?: string | string[],
) => { addEventListener(type: "error", listener: () => void): void };

export type Request = { query: string; variables?: Record<string, unknown> };

export type SocketOptions = { url: string; token: TokenSource; webSocketImpl?: WebSocketConstructor };

export class Socket {
  readonly #options: SocketOptions;
  #client: Promise<OpenClient> | null = null;
  /** The server did not take the token that was shown last. */
  #isRefused = false;

  constructor(options: SocketOptions) {
    this.#options = options;
  }

  /** Starts an operation; the returned function ends it at once. `sink.error` gets errors, close events or what the token source threw. */
  subscribe(request: Request, sink: Sink<unknown>): () => void {
    let isOver = false;
    let end = () => undefined as void;
    const start = ({ client }: OpenClient) => {
      if (!isOver) end = client.subscribe({ ...request }, sink);
    };
    this.#open().then(start, (reason: unknown) => {
      if (!isOver) sink.error(reason);
    });
    return () => {
      isOver = true;
      end();
    };
  }

  /** Lets go of the socket; operations must have been ended before. */
  async close(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    // A token that could not be fetched opened nothing.
    await client?.then(({ close }) => close()).catch(() => undefined);
  }

  #open(): Promise<OpenClient> {
    if (this.#client) return this.#client;
    const client = this.#connect(() => {
      if (this.#client === client) this.#client = null;
    });
    this.#client = client;
    return client;
  }

  async #connect(lost: () => void): Promise<OpenClient> {
    const { token: source, url, webSocketImpl } = this.#options;
    const hadRefusal = this.#isRefused;
    let token: string;
    try {
      token = await readToken(source, hadRefusal);
    } catch (failure) {
      lost();
      throw failure;
    }
    const [opening, pong] = [new Alarm(), new Alarm()];
    let isAcknowledged = false;
    const gone = () => {
      opening.clear();
      pong.clear();
      lost();
    };
    const client = createClient({
      url,
      connectionParams: { token },
      webSocketImpl: quietWebSocket(webSocketImpl),
      retryAttempts: 0,
      keepAlive: PING_INTERVAL_MS,
      lazyCloseTimeout: LINGER_MS,
      on: {
        connecting: () => opening.set(OPEN_LIMIT_MS, () => client.terminate()),
        connected: () => {
          opening.clear();
          isAcknowledged = true;
          this.#isRefused = false;
        },
        ping: (isReceived) => {
          if (!isReceived) pong.set(PONG_LIMIT_MS, () => client.terminate());
        },
        pong: (isReceived) => {
          if (isReceived) pong.clear();
        },
        error: gone,
        closed: (event) => {
          gone();
          if (closeCodeOf(event) !== FORBIDDEN_CLOSE_CODE) return;
          // Another token may help, but only one that could not be shown before.
          const mayHelp = typeof source === "function" && (isAcknowledged || !hadRefusal);
          this.#isRefused = mayHelp;
          if (!mayHelp) hopeless.add(event as object);
        },
      },
    });
    // graphql-ws would wait for a socket that is still opening.
    const close = () => (isAcknowledged ? client.dispose() : client.terminate());
    return { client, close };
  }
}

type OpenClient = { client: Client; close(): void | Promise<void> };

/** Close events that no new token can cure. */
const hopeless = new WeakSet<object>();

/** What the end of a socket means to those who were on it: itself, or that no token of theirs is good. */
export function meaningOf(reason: unknown): unknown {
  const isHopeless = typeof reason === "object" && reason !== null && hopeless.has(reason);
  return isHopeless ? refusedToken(reason) : reason;
}

/** A timer that can be set again. */
class Alarm {
  #timer: ReturnType<typeof setTimeout> | undefined;

  set(ms: number, ring: () => void): void {
    this.clear();
    this.#timer = setTimeout(ring, ms);
  }
  clear(): void {
    clearTimeout(this.#timer);
  }
}

/** A socket of the package `ws` that is given up while it opens would throw its error at the whole process. */
function quietWebSocket(given: WebSocketConstructor | undefined): WebSocketConstructor {
  const Base = given ?? (globalThis as { WebSocket?: WebSocketConstructor }).WebSocket;
  if (!Base)
    throw new Error("There is no WebSocket here: pass `webSocketImpl`, for example the package `ws`.");
  return class extends Base {
    constructor(url: string, protocols?: string | string[]) {
      super(url, protocols);
      this.addEventListener("error", () => undefined);
    }
  };
}
