/** The client: a typed function for every query and mutation, and streams that reconnect automatically. */
import { print, type DocumentNode } from "graphql";
import { callOverHttp, callOverSocket, type CallOptions, type Fetch } from "./calls.js";
import { Follower, type RetryNotice } from "./follower.js";
import { getSdk } from "./generated-calls.js";
import type { ChatEventsSubscription } from "./generated.js";
import { ParleyError } from "./parley-error.js";
import { DEFAULT_RETRY_DELAYS, type RetryDelays } from "./retry-delay.js";
import { closeReasonOf, Socket, type WebSocketConstructor } from "./socket.js";
import type { TokenSource } from "./token.js";

export type ChatEvent = ChatEventsSubscription["chatEvents"];

export type ParleyOptions = {
  /** The server's address, for example `https://parley.example`; without a path, `/graphql` is used. */
  url: string;
  token: TokenSource;
  /** Needed where there is no global WebSocket: Node before 22. */
  webSocketImpl?: WebSocketConstructor;
  /** Replaces the global `fetch`. */
  fetch?: Fetch;
  /**
   * Transport of queries and mutations. `socket` also works from pages of another origin, where browsers block HTTP
   * requests. Default: `http`.
   */
  callsOver?: "http" | "socket";
  /** Default: full jitter with a bound from 1 s to 30 s, without an end. */
  retryDelays?: RetryDelays;
  /** Called whenever a stream waits before it reconnects. Must not throw. */
  onRetry?: (notice: RetryNotice) => void;
};

type Operations = ReturnType<typeof getSdk<CallOptions>>;
type StreamName = {
  [Name in keyof Operations]: ReturnType<Operations[Name]> extends AsyncIterable<unknown> ? Name : never;
}[keyof Operations];
type EventOf<Name extends StreamName> =
  ReturnType<Operations[Name]> extends AsyncIterable<Record<Name, infer Event>> ? Event : never;
/** `signal` ends the stream, and the loop over it, without an error. */
type StreamOptions<Name extends StreamName> = NonNullable<Parameters<Operations[Name]>[0]> & CallOptions;

/**
 * One function for each subscription, named like its field. Each event is delivered once, across reconnects. `after` is
 * the cursor of the last event that you have; absent or null begins with a refresh. Leaving the loop unsubscribes. The
 * loop throws a `ParleyError` when the server refuses the stream permanently.
 */
export type Streams = {
  [Name in StreamName]: (
    ...args: undefined extends Parameters<Operations[Name]>[0]
      ? [options?: StreamOptions<Name>]
      : [options: StreamOptions<Name>]
  ) => AsyncIterableIterator<EventOf<Name>>;
};

export type Parley = Omit<Operations, StreamName> &
  Streams & {
    /** Ends all streams (their readers get a `ParleyError` with the code `CLOSED`) and the socket. */
    close(): Promise<void>;
  };

/** Creates a client of one server for one user. It connects on the first call or stream. */
export function createParley(options: ParleyOptions): Parley {
  const { token, webSocketImpl, callsOver = "http" } = options;
  const url = addressOf(options.url);
  // Browsers require `fetch` to be called on the global object.
  const fetch: Fetch = options.fetch ?? ((address, init) => globalThis.fetch(address, init));
  const socket = new Socket({ url: url.replace(/^http/, "ws"), token, webSocketImpl });
  const streams = new Set<{ close(): void }>();
  let isClosed = false;
  const assertOpen = () => {
    if (isClosed) throw new ParleyError("CLOSED", "The client was closed.");
  };

  const call = async (document: DocumentNode, variables: unknown, callOptions: CallOptions = {}) => {
    assertOpen();
    const request = { query: textOf(document), variables: (variables ?? {}) as Record<string, unknown> };
    if (callsOver === "socket") return callOverSocket(socket, request, callOptions);
    return callOverHttp({ url, token, fetch }, request, callOptions);
  };

  const follow = (
    document: DocumentNode,
    field: string,
    { after, signal, ...variables }: StreamVariables,
  ) => {
    assertOpen();
    const entry = { close: () => stream.close() };
    const stream = new Follower({
      open: (request, sink) =>
        socket.subscribe(request, { ...sink, error: (reason) => sink.error(closeReasonOf(reason)) }),
      ...{ query: textOf(document), variables, field, after, signal },
      delays: options.retryDelays ?? DEFAULT_RETRY_DELAYS,
      random: Math.random,
      onRetry: options.onRetry,
      onEnd: () => streams.delete(entry),
    });
    // An aborted signal has already ended it.
    if (!signal?.aborted) streams.add(entry);
    return stream;
  };

  const operations = getSdk<CallOptions>(((document, variables, callOptions) => {
    const field = subscribedField(document);
    if (field === null) return call(document, variables, callOptions);
    return follow(document, field, (variables ?? {}) as StreamVariables);
    // The generated operations know the types of their answers, and `Streams` those of their events.
  }) as Parameters<typeof getSdk<CallOptions>>[0]) as unknown as Omit<Operations, StreamName> & Streams;

  return {
    ...operations,
    async close() {
      isClosed = true;
      for (const stream of [...streams]) stream.close();
      await socket.close();
    },
  };
}

type StreamVariables = CallOptions & { after?: string | null };

/** Cache of printed documents. */
const texts = new WeakMap<DocumentNode, string>();

function textOf(document: DocumentNode): string {
  const text = texts.get(document) ?? print(document);
  texts.set(document, text);
  return text;
}

/** The root field of a subscription; null for queries and mutations. */
function subscribedField({ definitions }: DocumentNode): string | null {
  const [operation] = definitions;
  if (operation?.kind !== "OperationDefinition" || operation.operation !== "subscription") return null;
  const [selection] = operation.selectionSet.selections;
  return selection?.kind === "Field" ? selection.name.value : null;
}

function addressOf(text: string): string {
  const url = new URL(text);
  if (url.pathname === "/") url.pathname = "/graphql";
  return url.href;
}
