/**
 * Lists the tools of MCP servers, for users who select servers and for admins who test one. Lists are cached for some
 * minutes, per user where the server authenticates users, else for all.
 */
import { LRUCache } from "lru-cache";
import type {
  McpServerFailure,
  McpServerFailureKind,
  McpAccountState,
  McpToolDescription,
  McpProbeResult,
} from "../../domain/mcp/types.js";
import type { Bus } from "../../events/bus/bus.js";
import type { Clock } from "../../lib/clock.js";
import { BoundedSemaphore } from "../../lib/concurrency/bounded-semaphore.js";
import { Deadline } from "../../mcp/deadline.js";
import { type McpClient, McpFailure, type McpFailureKind, McpTimeout } from "../../mcp/types.js";
import type { McpServerRecord } from "../../store/mcp/mcp-servers.js";
import { NotAuthorized, openServer, type ServerConnectionDependencies } from "./connect-server.js";
import type { McpToolsSource } from "../../commands/mcp/tools-source.js";

/** From the first request to the whole list; as long as a turn waits for a server. */
const LISTING_TIMEOUT_MS = 10_000;
/** Long enough for browsing, short enough to discover a server's new tools. */
const FRESH_MS = 3 * 60_000;
/** For failures: a page that is reloaded does not wait for the server again at once. */
const FAILURE_FRESH_MS = 15_000;
const MAX_LISTS = 2_000;
const MAX_CACHED_CHARACTERS = 32 * 1024 * 1024;
/** Concurrent requests to servers: one GraphQL request may list the tools of all, any of which may hang. */
const ASKED_AT_ONCE = 20;
const MAX_WAITING = 1_000;

type Listing = { ok: true; tools: readonly McpToolDescription[] } | Failed;
type Failed = { ok: false; failure: McpServerFailure };
type Asked = { server: McpServerRecord; userId: string };
type Work<Result> = (client: McpClient, signal: AbortSignal) => Promise<Result>;

export type ServerToolsDependencies = ServerConnectionDependencies & { bus: Pick<Bus, "onConfigChange"> };

export class ServerTools implements McpToolsSource {
  readonly #dependencies: ServerToolsDependencies;
  readonly #lists: LRUCache<string, Listing, Asked>;
  readonly #semaphore: BoundedSemaphore;
  readonly #ending = new AbortController();
  readonly #asking = new Set<Promise<unknown>>();
  readonly #stopListening: () => void;

  constructor(dependencies: ServerToolsDependencies) {
    this.#dependencies = dependencies;
    const { clock, bus } = dependencies;
    this.#semaphore = new BoundedSemaphore(
      { maxRunning: ASKED_AT_ONCE, maxWaiting: MAX_WAITING, waitMs: LISTING_TIMEOUT_MS },
      clock,
    );
    this.#lists = listCache(clock, (asked) => this.#list(asked));
    this.#stopListening = bus.onConfigChange((topic) => {
      // Keys contain the version, so this only frees memory.
      if (topic === "mcp-servers") this.#lists.clear();
    });
  }

  /** Concurrent callers with the same key share one request. */
  async list(
    server: McpServerRecord,
    { userId, account }: { userId: string; account: McpAccountState },
  ): Promise<readonly McpToolDescription[] | null> {
    const whose = cacheScope(userId, account);
    if (whose === null) return null;
    const key = `${server.id} ${server.version} ${whose}`;
    const listing = await this.#lists.fetch(key, { context: { server, userId } });
    return listing?.ok ? listing.tools : null;
  }

  /** Tests the server with its current settings, disabled or not, without the cache. Never rejects. */
  async try(server: McpServerRecord, userId: string): Promise<McpProbeResult> {
    const { clock } = this.#dependencies;
    const startedAt = clock.now();
    const latencyMs = () => clock.now() - startedAt;
    const used = await this.#use({ server, userId }, async (client, signal) => {
      const tools = await client.listTools(signal);
      const { name = null, version = null, protocolVersion = null } = client.server;
      const facts = { tools, serverName: name, serverVersion: version, protocolVersion };
      return { ok: true as const, ...facts, latencyMs: latencyMs() };
    });
    return used.ok ? used : { ...used, latencyMs: latencyMs() };
  }

  /** Aborts running requests; resolves when all connections are closed. */
  async close(): Promise<void> {
    this.#stopListening();
    this.#semaphore.close();
    this.#ending.abort(new McpFailure("cancelled", "This Parley server is shutting down."));
    await Promise.allSettled(this.#asking);
    this.#lists.clear();
  }

  async #list(asked: Asked): Promise<Listing> {
    const listing = await this.#use(asked, async (client, signal): Promise<Listing> => {
      return { ok: true, tools: await client.listTools(signal) };
    });
    if (!listing.ok) {
      const { kind, message } = listing.failure;
      const facts = { server: asked.server.slug, kind, reason: message };
      this.#dependencies.log.debug(facts, "listing an MCP server's tools failed");
    }
    return listing;
  }

  /** Opens a connection, works and closes it; answers within the listing timeout. */
  async #use<Result>(asked: Asked, work: Work<Result>): Promise<Result | Failed> {
    const leave = await this.#semaphore.acquire();
    if (leave === null) return { ok: false, failure: BUSY };
    const deadline = new Deadline({
      clock: this.#dependencies.clock,
      limits: { silenceMs: LISTING_TIMEOUT_MS },
      signal: this.#ending.signal,
      error: () =>
        new McpTimeout(`The server did not list its tools within ${LISTING_TIMEOUT_MS / 1_000} seconds.`),
    });
    const exchange = this.#exchange(asked, work, deadline.signal).finally(leave);
    // It may outlive its deadline by the time that disconnecting takes; `close` waits for it.
    const forget = () => this.#asking.delete(exchange);
    this.#asking.add(exchange);
    exchange.then(forget, forget);
    try {
      return await deadline.bound(exchange);
    } catch (error) {
      return { ok: false, failure: failureOf(error) };
    }
  }

  async #exchange<Result>(asked: Asked, work: Work<Result>, signal: AbortSignal): Promise<Result> {
    const client = await openServer(this.#dependencies, asked, { timeoutMs: LISTING_TIMEOUT_MS, signal });
    try {
      return await work(client, signal);
    } finally {
      await client.close();
    }
  }
}

const BUSY: McpServerFailure = {
  kind: "timeout",
  message: "This Parley server is calling too many MCP servers at the moment. Try again.",
};

const KINDS: Record<McpFailureKind, McpServerFailureKind> = {
  unauthorized: "unauthorized",
  forbidden: "unauthorized",
  blocked: "blocked",
  unreachable: "unreachable",
  timeout: "timeout",
  malformed: "malformed",
  refused: "refused",
  // Only on shutdown, when the answer is not read.
  cancelled: "timeout",
};

/** Rethrows anything but failures of the server and of the authorization. */
function failureOf(error: unknown): McpServerFailure {
  if (error instanceof NotAuthorized) return { kind: "unauthorized", message: error.message };
  if (error instanceof McpFailure) return { kind: KINDS[error.kind], message: error.message };
  throw error;
}

/** Null when the user is not authorized. A new connection may be another account at the server, with another list. */
function cacheScope(userId: string, { status, connectedAt }: McpAccountState): string | null {
  switch (status) {
    case "not_needed":
      return "all";
    case "connected":
      return `${userId} ${connectedAt?.getTime() ?? ""}`;
    case "disconnected":
    case "expired":
      return null;
  }
}

/**
 * Single-flight cache of listings. A missing authorization is not cached: it needs no connection, and ends as soon as
 * the user authorizes the server.
 */
function listCache(clock: Clock, list: (asked: Asked) => Promise<Listing>): LRUCache<string, Listing, Asked> {
  return new LRUCache<string, Listing, Asked>({
    max: MAX_LISTS,
    maxSize: MAX_CACHED_CHARACTERS,
    sizeCalculation: (listing) => JSON.stringify(listing).length,
    ttl: FRESH_MS,
    ttlResolution: 0,
    perf: { now: () => clock.now() },
    // Callers get the answer also when the entry was evicted meanwhile.
    ignoreFetchAbort: true,
    fetchMethod: async (_key, _stale, { options, context }) => {
      const listing = await list(context);
      if (listing.ok) return listing;
      options.ttl = FAILURE_FRESH_MS;
      return listing.failure.kind === "unauthorized" ? undefined : listing;
    },
  });
}
