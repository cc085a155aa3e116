/** A small schema, event feed and manual clock for testing the HTTP server with real connections. */
import { buildSchema, GraphQLError, type GraphQLSchema } from "graphql";
import { createClient, type Client, type ExecutionResult } from "graphql-ws";
import { afterEach, expect } from "vitest";
import { WebSocket } from "ws";
import { type Audience, SubscriptionSource } from "../../src/domain/common/subscription-source.js";
import type { Viewer } from "../../src/domain/users/viewer.js";
import { createHttpServer, type HttpServerOptions, type ParleyHttp } from "../../src/http/server.js";
import { createLog } from "../../src/lib/log.js";
import { systemClock, type Clock } from "../../src/lib/clock.js";

export const TOKEN = "pt_good";
export const viewer: Viewer = { userId: "u1", username: "ada", name: "Ada", role: "member", expiresAt: null };

/** A manually advanced clock; timers run in order of their time. */
export class ManualClock implements Clock {
  #now = 1_000_000;
  #timers: { at: number; every: number | null; callback: () => void }[] = [];

  now(): number {
    return this.#now;
  }
  after(ms: number, callback: () => void): () => void {
    // As Node does.
    const waitMs = ms > 2_147_483_647 ? 1 : ms;
    return this.#add({ at: this.#now + waitMs, every: null, callback });
  }
  every(ms: number, callback: () => void): () => void {
    return this.#add({ at: this.#now + ms, every: ms, callback });
  }
  pending(): number {
    return this.#timers.length;
  }
  /** Jumps ahead and only runs one-shot timers, so that no heartbeat fails. */
  jump(ms: number): void {
    const repeating = this.#timers.filter(({ every }) => every !== null);
    for (const timer of repeating) timer.at += ms;
    this.advance(ms);
  }
  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const next = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.#now = next.at;
      if (next.every === null) this.#timers = this.#timers.filter((it) => it !== next);
      else next.at += next.every;
      next.callback();
    }
    this.#now = end;
  }
  #add(timer: { at: number; every: number | null; callback: () => void }): () => void {
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((it) => it !== timer);
    };
  }
}

/** Event source that sends each pushed event to every open iterator, and counts these. */
export class Feed {
  readonly #open = new Set<(event: unknown) => void>();

  get live(): number {
    return this.#open.size;
  }
  push(event: unknown): void {
    for (const deliver of this.#open) deliver(event);
  }
  iterate(): AsyncIterableIterator<unknown> {
    const queue: unknown[] = [];
    let wake: (() => void) | undefined;
    const deliver = (event: unknown) => {
      queue.push(event);
      wake?.();
    };
    this.#open.add(deliver);
    const isOpen = () => this.#open.has(deliver);
    const end = () => {
      this.#open.delete(deliver);
      wake?.();
      return Promise.resolve({ value: undefined, done: true as const });
    };
    return {
      async next() {
        while (queue.length === 0 && isOpen()) await new Promise<void>((resolve) => (wake = resolve));
        if (!isOpen()) return { value: undefined, done: true };
        const event = queue.shift();
        if (event === "end") return end();
        if (event instanceof Error) throw event;
        return { value: event, done: false };
      },
      return: end,
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }
}

const SDL = `
  type Query {
    hello: String
    viewer: String
    contextNumber: Int
    echo(text: String!, count: Int): String
    boom: String
    boomTwice: [String]
    wrongInt: Int
    refused: String
    pending: String
    tree: Tree
    items(first: Int, last: Int): ItemConnection
    nodes(ids: [ID!]!): [Tree]
  }
  type Mutation { write(text: String!): String }
  type Subscription { ticks: Tick! opening: Tick! pendingTicks: Tick! guardedTicks(channel: String!): Tick! undeclaredTicks: Tick! }
  type Tick { number: Int contextNumber: Int fragile: String text: String pending: String }
  type Tree { leaf: String tree: Tree items(first: Int, last: Int): ItemConnection diff: String }
  type ItemConnection { nodes: [Tree] }
`;

type TestEvent = { audience?: Audience };
type TestContext = { number: number; viewer: Viewer; requestId: string };

/** What the test schema does when asked. */
export type World = {
  feed: Feed;
  contexts: TestContext[];
  written: string[];
  /** Whether a viewer may continue to read a channel's guarded ticks; may fail. */
  mayContinue: (channel: string, asker: Viewer) => boolean;
  /** Ends all `pending` fields. */
  release: () => void;
  pendingCount: () => number;
};

const SECRET = "password=hunter2 in /srv/parley/secret.ts: SELECT * FROM users";
export const secretError = new Error(SECRET);

function createSchema(world: World, pending: (() => void)[]): GraphQLSchema {
  const schema = buildSchema(SDL);
  type Resolve = (source: unknown, args: Record<string, unknown>, context: TestContext) => unknown;
  const answer = (type: string, field: string, resolve: Resolve) => {
    const found = schema.getType(type);
    if (!found || !("getFields" in found)) throw new Error(`no type ${type}`);
    const definition = found.getFields()[field];
    if (!definition || !("args" in definition)) throw new Error(`no field ${field}`);
    definition.resolve = resolve as never;
  };
  answer("Query", "hello", () => "world");
  answer("Query", "viewer", (_source, _args, context) => context.viewer.username);
  answer("Query", "contextNumber", (_source, _args, context) => context.number);
  answer("Query", "echo", (_source, args) => args.text);
  answer("Query", "boom", () => Promise.reject(secretError));
  answer("Query", "boomTwice", () => [Promise.reject(secretError), Promise.reject(secretError)]);
  answer("Query", "wrongInt", () => SECRET);
  answer("Query", "refused", () => {
    throw new GraphQLError("Not yours.", { extensions: { code: "FORBIDDEN", http: { status: 403 } } });
  });
  answer("Query", "pending", () => new Promise((resolve) => pending.push(() => resolve("done"))));
  answer("Mutation", "write", (_source, args) => {
    world.written.push(String(args.text));
    return args.text;
  });
  answer("Tick", "contextNumber", (_source, _args, context) => context.number);
  answer("Tick", "pending", () => new Promise((resolve) => pending.push(() => resolve("done"))));
  answer("Tick", "fragile", (source) => {
    if ((source as { isBroken?: boolean }).isBroken) throw secretError;
    return "fine";
  });
  type Subscribe = (source: unknown, args: { channel: string }) => unknown;
  const openFeed = (mayContinue: (context: TestContext) => Promise<boolean> = () => Promise.resolve(true)) =>
    new SubscriptionSource<TestEvent, TestContext>(world.feed.iterate() as AsyncIterableIterator<TestEvent>, {
      audienceOf: ({ audience }) => audience ?? "same_viewer",
      mayContinue,
    });
  const sources: Record<string, Subscribe> = {
    ticks: () => openFeed(),
    guardedTicks: (_source, { channel }) =>
      openFeed(async (context) => world.mayContinue(channel, context.viewer)),
    undeclaredTicks: () => world.feed.iterate(),
    opening: () => Promise.reject(secretError),
    pendingTicks: () => new Promise((resolve) => pending.push(() => resolve(openFeed()))),
  };
  for (const [name, subscribe] of Object.entries(sources)) {
    const field = schema.getSubscriptionType()?.getFields()[name];
    if (!field) throw new Error("no subscription");
    field.resolve = (event) => event;
    field.subscribe = subscribe as never;
  }
  return schema;
}

export type TestServer = ParleyHttp & {
  world: World;
  /** Log lines, parsed. */
  lines: Record<string, unknown>[];
  graphqlUrl: string;
  socketUrl: string;
  streamUrl: string;
};

/** Opens the real HTTP server on a free loopback port. */
export async function openServer(options: Partial<HttpServerOptions> = {}): Promise<TestServer> {
  const lines: Record<string, unknown>[] = [];
  const pending: (() => void)[] = [];
  const world: World = {
    feed: new Feed(),
    contexts: [],
    written: [],
    mayContinue: () => true,
    release: () => pending.splice(0).forEach((end) => end()),
    pendingCount: () => pending.length,
  };
  const http = await createHttpServer({
    host: "127.0.0.1",
    port: 0,
    schema: createSchema(world, pending),
    authenticate: async (token) => (token === TOKEN ? viewer : null),
    createContext: (asker, { requestId }) => {
      const context = { number: world.contexts.length + 1, viewer: asker, requestId };
      world.contexts.push(context);
      return context;
    },
    health: async () => ({ checks: { database: "ok" } }),
    log: createLog("info", "parley", { write: (line: string) => void lines.push(JSON.parse(line)) }),
    clock: systemClock,
    isGraphiqlOn: true,
    isProduction: false,
    ...options,
  });
  const graphqlUrl = `${http.url}/graphql`;
  const socketUrl = graphqlUrl.replace("http", "ws");
  return { ...http, world, lines, graphqlUrl, socketUrl, streamUrl: `${graphqlUrl}/stream` };
}

/** `openServer` for a test file whose servers are closed after each test, and must then have no open resources. */
export function openServers(): typeof openServer {
  const opened: TestServer[] = [];
  afterEach(async () => {
    for (const server of opened.splice(0)) {
      server.world.release();
      await server.close();
      expect(server.world.feed.live).toBe(0);
      expect(server.count()).toEqual({ sockets: 0, operations: 0 });
    }
  });
  return async (options) => {
    const server = await openServer(options);
    opened.push(server);
    return server;
  };
}

export type Answer = { status: number; body: { data?: unknown; errors?: AnswerError[] }; headers: Headers };
type AnswerError = { message: string; path?: unknown; extensions: { code: string; reference?: string } };

/** One operation over HTTP. */
export async function ask(
  server: TestServer,
  query: string,
  rest: { variables?: object; operationName?: string; token?: string | null; accept?: string } = {},
): Promise<Answer> {
  const { token = TOKEN, accept = "application/json", ...request } = rest;
  const response = await fetch(server.graphqlUrl, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept,
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ query, ...request }),
  });
  return {
    status: response.status,
    body: (await response.json()) as Answer["body"],
    headers: response.headers,
  };
}

/** A graphql-ws client that does not reconnect by itself. */
export function connect(server: TestServer, params: Record<string, unknown> = { token: TOKEN }): Client {
  return createClient({
    url: server.socketUrl,
    webSocketImpl: WebSocket,
    connectionParams: params,
    retryAttempts: 0,
  });
}

/** The result of one operation over its own socket; refusals are returned as `errors`. */
export async function askOverSocket(
  server: TestServer,
  query: string,
  rest: { variables?: Record<string, unknown>; operationName?: string } = {},
): Promise<Answer["body"]> {
  const client = connect(server);
  try {
    const results = client.iterate({ query, ...rest });
    const first = await results.next();
    return first.value as ExecutionResult as Answer["body"];
  } catch (refusal) {
    return { errors: refusal as AnswerError[] };
  } finally {
    await client.dispose();
  }
}

/** A WebSocket on which the test sends raw protocol messages. */
export class RawSocket {
  readonly socket: WebSocket;
  readonly messages: Record<string, unknown>[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  #waiting: (() => void)[] = [];

  constructor(server: TestServer, protocol = "graphql-transport-ws", options: object = {}) {
    this.socket = new WebSocket(server.socketUrl, protocol, options);
    this.socket.on("error", () => undefined);
    this.socket.on("message", (message) => {
      this.messages.push(JSON.parse((message as Buffer).toString("utf8")) as Record<string, unknown>);
      for (const wake of this.#waiting.splice(0)) wake();
    });
    this.closed = new Promise((resolve) =>
      this.socket.once("close", (code, reason) => resolve({ code, reason: String(reason) })),
    );
  }
  static async open(server: TestServer, options: object = {}): Promise<RawSocket> {
    const raw = new RawSocket(server, undefined, options);
    await new Promise((resolve) => raw.socket.once("open", resolve));
    return raw;
  }
  /** Opened and acknowledged. */
  static async connect(server: TestServer, options: object = {}): Promise<RawSocket> {
    const raw = await RawSocket.open(server, options);
    raw.send({ type: "connection_init", payload: { token: TOKEN } });
    await raw.until(({ type }) => type === "connection_ack");
    return raw;
  }
  send(message: unknown): void {
    this.socket.send(typeof message === "string" ? message : JSON.stringify(message));
  }
  subscribe(id: string, query: string): void {
    this.send({ type: "subscribe", id, payload: { query } });
  }
  async until(matches: (message: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> {
    for (;;) {
      const found = this.messages.find(matches);
      if (found) return found;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }
}

/** Polls a condition every millisecond until it holds: every turn of the event loop would keep a core busy. */
export async function eventually(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
}
