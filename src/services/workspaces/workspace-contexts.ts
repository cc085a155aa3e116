/**
 * Cache of workspaces' contexts (instruction files, skills) for a few minutes, so that not every model call reads them.
 * Concurrent callers of one workspace share one read.
 */
import { LRUCache } from "lru-cache";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import type { AgentConnection, WorkspaceContext } from "../../workspaces/agent-client/agent-connection.js";
import { SingleFlightRequests } from "./single-flight-requests.js";

export type { WorkspaceContext };

/** A change of an instruction file is visible after this, a new agent process at once. */
const FRESH_MS = 5 * 60_000;
const MAX_KNOWN = 1_000;
/** A context has up to about 350 KiB, usually a few. */
const MAX_KNOWN_CHARACTERS = 32 * 1024 * 1024;
/** Overhead of an entry: paths, names, the entry itself. */
const ENTRY_CHARACTERS = 1_024;

type Known = { context: WorkspaceContext; instance: string; readAtMs: number };

export class WorkspaceContexts {
  readonly #known = new LRUCache<string, Known>({
    max: MAX_KNOWN,
    maxSize: MAX_KNOWN_CHARACTERS,
    sizeCalculation: ({ context }) => sizeOf(context),
  });
  readonly #requests: SingleFlightRequests<WorkspaceContext>;

  constructor(private readonly dependencies: { clock: Clock; log: Log }) {
    this.#requests = new SingleFlightRequests(dependencies.clock);
  }

  /**
   * The workspace's context, at most five minutes old and from the current agent process. Never rejects and takes five
   * seconds at most: when the workspace cannot be reached the result is the last known context, or null when there is
   * none, and the next call tries again. `connect` may reject.
   */
  async read(workspaceId: string, connect: () => Promise<AgentConnection>): Promise<WorkspaceContext | null> {
    const outcome = await this.#requests.once(workspaceId, () => this.#read(workspaceId, connect));
    if (outcome.kind === "answered") return outcome.value;
    this.dependencies.log.warn({ err: outcome.error, workspaceId }, "workspace context cannot be read");
    return this.#known.get(workspaceId)?.context ?? null;
  }

  /** Resolves when all reads have ended. Close the agents first, or it waits for their answers. */
  close(): Promise<void> {
    return this.#requests.close();
  }

  async #read(workspaceId: string, connect: () => Promise<AgentConnection>): Promise<WorkspaceContext> {
    const agent = await connect();
    const { clock } = this.dependencies;
    const known = this.#known.get(workspaceId);
    const isFresh = known?.instance === agent.instance && clock.now() - known.readAtMs < FRESH_MS;
    if (isFresh) return known.context;
    const context = await agent.workspaceContext();
    this.#known.set(workspaceId, { context, instance: agent.instance, readAtMs: clock.now() });
    return context;
  }
}

function sizeOf({ instructionFiles, skills }: WorkspaceContext): number {
  const texts = [
    ...instructionFiles.map(({ content }) => content),
    ...skills.map(({ description }) => description),
  ];
  return texts.reduce((size, text) => size + text.length, ENTRY_CHARACTERS);
}
