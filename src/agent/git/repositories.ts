/**
 * The repositories that are watched, whoever watches them: all who ask for the same one share one look at it, and a
 * look at one that has not changed costs a status.
 * A ticket is a moment: what was seen by a look with a later ticket was so after that moment.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LRUCache } from "lru-cache";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import { BoundedSemaphore } from "../../lib/concurrency/bounded-semaphore.js";
import type { Environment } from "../process/environment.js";
import { scanRepository, type ScanResult, type RepositoryState } from "./scan-repository.js";
import { findRoots } from "./find-roots.js";
import { createRunGit, readTrustedDirectories, type RunGit } from "./run-git.js";

/** Git keeps a core busy; the others are for the chats' own commands. */
const LOOKS_AT_ONCE = 4;
const MAX_WAITING_LOOKS = 1_000;
const MAX_LOOK_WAIT_MS = 60_000;
/** What was seen is kept for the next asker; the repository that nobody asked for the longest is seen anew. */
const MAX_KNOWN = 1_000;
const MAX_KNOWN_CHARACTERS = 32 * 1024 * 1024;
/** Of what has no length of its own. */
const ENTRY_CHARACTERS = 1_024;

export type Seen =
  | { kind: "seen"; state: RepositoryState }
  | { kind: "gone" }
  /** Nothing is known; it was logged. */
  | { kind: "failed" };

type Known = { state: RepositoryState; fingerprint: string | undefined; ticket: number };
type Running = { ticket: number; askers: number; seen: Promise<Seen>; stop: AbortController };

export type RepositoriesOptions = { environment: Environment; clock: Clock; log: Log };

export class Repositories {
  readonly #known = new LRUCache<string, Known>({
    max: MAX_KNOWN,
    maxSize: MAX_KNOWN_CHARACTERS,
    sizeCalculation: ({ state }) => ENTRY_CHARACTERS + state.unifiedDiff.length,
  });
  readonly #running = new Map<string, Running>();
  /** Why looks at each repository fail, so that the same failure is logged once. */
  readonly #failures = new LRUCache<string, string>({ max: MAX_KNOWN });
  readonly #semaphore: BoundedSemaphore;
  #isClosed = false;
  #runGit: RunGit;
  #lastTicket = 0;
  #hasWarnedOfNoGit = false;
  #temporaryDirectory: Promise<string> | undefined;

  constructor(private readonly options: RepositoriesOptions) {
    this.#runGit = createRunGit(options);
    const bounds = { maxRunning: LOOKS_AT_ONCE, maxWaiting: MAX_WAITING_LOOKS, waitMs: MAX_LOOK_WAIT_MS };
    this.#semaphore = new BoundedSemaphore(bounds, options.clock);
  }

  /** This moment. */
  ticket(): number {
    this.#lastTicket += 1;
    return this.#lastTicket;
  }

  /** Whether there is a git to ask. Also hears anew which directories it may trust. */
  async prepare(signal: AbortSignal): Promise<boolean> {
    const run = { directory: "/", arguments: ["--version"], maxBytes: 1_024 };
    const outcome = await this.#runGit(run, signal);
    if (outcome.kind === "not-started") {
      if (!this.#hasWarnedOfNoGit) {
        this.options.log.warn({ reason: outcome.complaint }, "There is no git; changes are not shown");
      }
      this.#hasWarnedOfNoGit = true;
      return false;
    }
    const trustedDirectories = await readTrustedDirectories(this.options, signal);
    this.#runGit = createRunGit({ ...this.options, trustedDirectories });
    return true;
  }

  /** The roots of the repositories around these folders. Rejects only when it is stopped. */
  findRoots(folders: readonly string[], known: ReadonlySet<string>, signal: AbortSignal): Promise<string[]> {
    return findRoots(folders, known, this.#runGit, signal);
  }

  /**
   * How the repository was at some moment after the ticket. Rejects only when `signal` is aborted or this is closed;
   * git is stopped with its last asker.
   */
  async look(root: string, after: number, signal: AbortSignal): Promise<Seen> {
    for (;;) {
      signal.throwIfAborted();
      if (this.#isClosed) throw closed();
      const known = this.#known.get(root);
      if (known !== undefined && known.ticket > after) return { kind: "seen", state: known.state };
      const running = this.#running.get(root) ?? this.#start(root);
      const seen = await this.#join(running, signal);
      if (running.ticket > after && seen !== "stopped") return seen;
    }
  }

  /** Nothing that was seen before counts any more. */
  forget(root: string): void {
    this.#known.delete(root);
  }

  /** Stops all looks; resolves when no git is left. Whoever finds roots must be stopped by its own signal. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { stop } of this.#running.values()) stop.abort(closed());
    this.#semaphore.close();
    await Promise.allSettled([...this.#running.values()].map(({ seen }) => seen));
    const directory = await this.#temporaryDirectory?.catch(() => undefined);
    if (directory !== undefined) await rm(directory, { recursive: true, force: true });
  }

  #start(root: string): Running {
    const stop = new AbortController();
    const ticket = this.ticket();
    const seen = this.#see(root, ticket, stop.signal).finally(() => this.#running.delete(root));
    const running = { ticket, askers: 0, seen, stop };
    this.#running.set(root, running);
    return running;
  }

  /** "stopped" when the look ended for want of askers before this one came. */
  async #join(running: Running, signal: AbortSignal): Promise<Seen | "stopped"> {
    running.askers += 1;
    const leave = () => {
      running.askers -= 1;
      if (running.askers === 0) running.stop.abort(new Error("Nobody asks any more."));
    };
    signal.addEventListener("abort", leave, { once: true });
    try {
      return await running.seen;
    } catch (error) {
      signal.throwIfAborted();
      if (running.stop.signal.aborted) return "stopped";
      throw error;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  async #see(root: string, ticket: number, signal: AbortSignal): Promise<Seen> {
    const leave = await this.#semaphore.acquire();
    signal.throwIfAborted();
    if (leave === null) return this.#failed(root, "Too many repositories are looked at.");
    try {
      const known = this.#known.get(root);
      const parts = { runGit: this.#runGit, temporaryDirectory: () => this.#makeTemporaryDirectory() };
      const look = await scanRepository(root, known?.fingerprint, parts, signal);
      return this.#remember(root, ticket, look, known);
    } finally {
      leave();
    }
  }

  #remember(root: string, ticket: number, look: ScanResult, known: Known | undefined): Seen {
    if (look.kind === "failed") return this.#failed(root, look.reason);
    this.#failures.delete(root);
    if (look.kind === "gone") {
      this.#known.delete(root);
      return { kind: "gone" };
    }
    const now = look.kind === "seen" ? look : known;
    if (now === undefined) return this.#failed(root, "It is unchanged and unknown.");
    const { state, fingerprint } = now;
    this.#known.set(root, { state, fingerprint, ticket });
    return { kind: "seen", state };
  }

  #failed(root: string, reason: string): Seen {
    if (this.#failures.get(root) !== reason) {
      this.options.log.warn({ root, reason }, "A repository cannot be looked at; its last state stands");
    }
    this.#failures.set(root, reason);
    return { kind: "failed" };
  }

  #makeTemporaryDirectory(): Promise<string> {
    this.#temporaryDirectory ??= mkdtemp(join(tmpdir(), "parley-agent-git-")).catch((error: unknown) => {
      this.#temporaryDirectory = undefined;
      throw error;
    });
    return this.#temporaryDirectory;
  }
}

function closed(): Error {
  return new Error("The workspace agent is shutting down.");
}
