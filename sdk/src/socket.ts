/**
 * WebSocket shared by all operations of a client: opened when the first one needs it, closed soon after the last one. It
 * does not reconnect: each operation receives the reason of the close and decides. Three states: none, opening (the token
 * is being fetched or the server has not acknowledged) and open.
 */
import { createClient, type Client, type Sink } from "graphql-ws/client";
import { closeCodeOf } from "./parley-error.js";
import { readToken, refusedToken, type TokenSource } from "./token.js";

/** Below the 60 s after which common proxies cut idle connections. */
const PING_INTERVAL_MS = 10_000;
/** Without a pong by then the server is considered gone. */
const PONG_LIMIT_MS = 10_000;
/** From the start of the connection to the server's acknowledgement. */
const OPEN_LIMIT_MS = 15_000;
/** The socket stays open this long after its last operation, for the next one. */
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
  /** The server refused the last token. */
  #isRefused = false;

  constructor(options: SocketOptions) {
    this.#options = options;
  }

  /** Starts an operation; the returned function ends it. `sink.error` gets errors, close events or what the token source threw. */
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

  /** Closes the socket; its operations must have ended before. */
  async close(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    // Without a token nothing was opened.
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
    const [opening, pong] = [new Timer(), new Timer()];
    let isAcknowledged = false;
    const gone = () => {
      opening.clear();
      pong.clear();
      lost();
    };
    const client = createClient({
      url,
      connectionParams: { token },
      webSocketImpl: withErrorHandler(webSocketImpl),
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
          // A newly fetched token may help, unless one was just refused too.
          const mayHelp = typeof source === "function" && (isAcknowledged || !hadRefusal);
          this.#isRefused = mayHelp;
          if (!mayHelp) unrecoverable.add(event as object);
        },
      },
    });
    // `dispose` would wait for a socket that is still opening.
    const close = () => (isAcknowledged ? client.dispose() : client.terminate());
    return { client, close };
  }
}

type OpenClient = { client: Client; close(): void | Promise<void> };

/** Close events that no new token can resolve. */
const unrecoverable = new WeakSet<object>();

/** The reason for a socket's end as its operations see it: unchanged, or the error for a refused token. */
export function closeReasonOf(reason: unknown): unknown {
  const isUnrecoverable = typeof reason === "object" && reason !== null && unrecoverable.has(reason);
  return isUnrecoverable ? refusedToken(reason) : reason;
}

/** A restartable timer. */
class Timer {
  #timer: ReturnType<typeof setTimeout> | undefined;

  set(ms: number, callback: () => void): void {
    this.clear();
    this.#timer = setTimeout(callback, ms);
  }
  clear(): void {
    clearTimeout(this.#timer);
  }
}

/** Handles the error event of sockets closed while opening: the package `ws` would throw it as an uncaught exception. */
function withErrorHandler(impl: WebSocketConstructor | undefined): WebSocketConstructor {
  const Base = impl ?? (globalThis as { WebSocket?: WebSocketConstructor }).WebSocket;
  if (!Base)
    throw new Error("There is no global WebSocket: pass `webSocketImpl`, for example from the package `ws`.");
  return class extends Base {
    constructor(url: string, protocols?: string | string[]) {
      super(url, protocols);
      this.addEventListener("error", () => undefined);
    }
  };
}
