/**
 * What workspaces tell about themselves, remembered for a few minutes so that not every model call asks for it.
 * Each workspace is read by at most one caller at a time; the others wait for what that one gets.
 */
import { LRUCache } from "lru-cache";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import type { AgentConnection, WorkspaceContext } from "../../workspaces/agent-client/agent-connection.js";
import { WorkspaceLooks } from "./single-flight-requests.js";

export type { WorkspaceContext };

/** How long a change of an instruction file may go unnoticed. A new agent process is noticed at once. */
const FRESH_MS = 5 * 60_000;
const MAX_KNOWN = 1_000;
/** A context has up to about 350 KiB, and usually a few. */
const MAX_KNOWN_CHARACTERS = 32 * 1024 * 1024;
/** Of what has no length of its own: paths, names, the entry itself. */
const ENTRY_CHARACTERS = 1_024;

type Known = { context: WorkspaceContext; instance: string; readAtMs: number };

export class WorkspaceContexts {
  readonly #known = new LRUCache<string, Known>({
    max: MAX_KNOWN,
    maxSize: MAX_KNOWN_CHARACTERS,
    sizeCalculation: ({ context }) => sizeOf(context),
  });
  readonly #looks: WorkspaceLooks<WorkspaceContext>;

  constructor(private readonly dependencies: { clock: Clock; log: Log }) {
    this.#looks = new WorkspaceLooks(dependencies.clock);
  }

  /**
   * The workspace's context, not older than five minutes and from the agent that runs now. Never rejects and takes
   * five seconds at most: when the workspace cannot be reached the answer is what it told before, or null when it
   * never told anything, and the next call asks again. `connect` may reject.
   */
  async read(workspaceId: string, connect: () => Promise<AgentConnection>): Promise<WorkspaceContext | null> {
    const look = await this.#looks.once(workspaceId, () => this.#look(workspaceId, connect));
    if (look.kind === "seen") return look.value;
    this.dependencies.log.warn({ err: look.error, workspaceId }, "The workspace's context cannot be read");
    return this.#known.get(workspaceId)?.context ?? null;
  }

  /** Resolves when no workspace is being read any more. Close the agents first, or it waits for their answers. */
  close(): Promise<void> {
    return this.#looks.close();
  }

  async #look(workspaceId: string, connect: () => Promise<AgentConnection>): Promise<WorkspaceContext> {
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
