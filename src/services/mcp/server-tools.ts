/**
 * What tools servers have, for people who choose among them and for admins who try a server out. Lists are remembered
 * for some minutes, for each person where the server knows persons, else for all.
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
export const LISTING_TIMEOUT_MS = 10_000;
/** Long enough to look around in, short enough that a server's new tools are found. */
const FRESH_MS = 3 * 60_000;
/** Of a server that did not answer: so that a page that is opened again does not wait again at once. */
const FAILURE_FRESH_MS = 15_000;
const MAX_LISTS = 2_000;
const MAX_KEPT_CHARACTERS = 32 * 1024 * 1024;
/** Servers asked at a time: a request may want the tools of all of them, of which any may hang. */
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
    this.#lists = listMemory(clock, (asked) => this.#list(asked));
    this.#stopListening = bus.onConfigChange((topic) => {
      // Older versions are not asked for again; this only lets go of them.
      if (topic === "mcp-servers") this.#lists.clear();
    });
  }

  /** Those who ask for the same at one time share the answer. */
  async list(
    server: McpServerRecord,
    { userId, standing }: { userId: string; standing: McpAccountState },
  ): Promise<readonly McpToolDescription[] | null> {
    const whose = whoseList(userId, standing);
    if (whose === null) return null;
    const key = `${server.id} ${server.version} ${whose}`;
    const listing = await this.#lists.fetch(key, { context: { server, userId } });
    return listing?.ok ? listing.tools : null;
  }

  /** Tries the server as it is set up now, disabled or not, remembering nothing. Never rejects. */
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

  /** Ends what is being asked; resolves when every connection is closed. */
  async close(): Promise<void> {
    this.#stopListening();
    this.#semaphore.close();
    this.#ending.abort(new McpFailure("cancelled", "This Parley server ends."));
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
      this.#dependencies.log.debug(facts, "A tool server's tools could not be listed");
    }
    return listing;
  }

  /** Opens, works and closes; the answer comes within the time that a listing may take. */
  async #use<Result>(asked: Asked, work: Work<Result>): Promise<Result | Failed> {
    const leave = await this.#semaphore.acquire();
    if (leave === null) return { ok: false, failure: BUSY };
    const deadline = new Deadline({
      clock: this.#dependencies.clock,
      limits: { silenceMs: LISTING_TIMEOUT_MS },
      signal: this.#ending.signal,
      error: () =>
        new McpTimeout(`The server did not tell its tools within ${LISTING_TIMEOUT_MS / 1_000} seconds.`),
    });
    const exchange = this.#exchange(asked, work, deadline.signal).finally(leave);
    // It may outlive its deadline by what a goodbye takes; closing waits for it.
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
  message: "This Parley server asks too many tool servers at the moment. Try again.",
};

const KINDS: Record<McpFailureKind, McpServerFailureKind> = {
  unauthorized: "unauthorized",
  forbidden: "unauthorized",
  blocked: "blocked",
  unreachable: "unreachable",
  timeout: "timeout",
  malformed: "malformed",
  refused: "refused",
  // Who cancels does not wait for the answer.
  cancelled: "timeout",
};

/** Anything but a failure of the server's or of the authorisation is a bug of ours, and thrown on. */
function failureOf(error: unknown): McpServerFailure {
  if (error instanceof NotAuthorized) return { kind: "unauthorized", message: error.message };
  if (error instanceof McpFailure) return { kind: KINDS[error.kind], message: error.message };
  throw error;
}

/** Null: the person has nothing to show there. Who connects anew may be another person there, and has another list. */
function whoseList(userId: string, { status, connectedAt }: McpAccountState): string | null {
  switch (status) {
    case "not_needed":
      return "everybody";
    case "connected":
      return `${userId} ${connectedAt?.getTime() ?? ""}`;
    case "disconnected":
    case "expired":
      return null;
  }
}

/**
 * One question at a time for each key. Who is not authorised is not remembered: that costs no line, and is over as soon
 * as they are.
 */
function listMemory(
  clock: Clock,
  list: (asked: Asked) => Promise<Listing>,
): LRUCache<string, Listing, Asked> {
  return new LRUCache<string, Listing, Asked>({
    max: MAX_LISTS,
    maxSize: MAX_KEPT_CHARACTERS,
    sizeCalculation: (listing) => JSON.stringify(listing).length,
    ttl: FRESH_MS,
    ttlResolution: 0,
    perf: { now: () => clock.now() },
    // Whoever asked gets the answer, also when the memory of it has gone meanwhile.
    ignoreFetchAbort: true,
    fetchMethod: async (_key, _stale, { options, context }) => {
      const listing = await list(context);
      if (listing.ok) return listing;
      options.ttl = FAILURE_FRESH_MS;
      return listing.failure.kind === "unauthorized" ? undefined : listing;
    },
  });
}
