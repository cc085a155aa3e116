/**
 * Cache of repository states, shared by all watches: concurrent requests for one repository share one scan, and the
 * scan of an unchanged repository costs a `git status`.
 * A ticket is a logical timestamp: a scan with a later ticket started after that moment.
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
const MAX_RUNNING_SCANS = 4;
const MAX_WAITING_SCANS = 1_000;
const MAX_SCAN_WAIT_MS = 60_000;
/** Cached states; the least recently used are evicted. */
const MAX_CACHED = 1_000;
const MAX_CACHED_CHARACTERS = 32 * 1024 * 1024;
/** Estimate for an entry without its diff. */
const ENTRY_CHARACTERS = 1_024;

export type RepositoryStatus =
  | { kind: "scanned"; state: RepositoryState }
  | { kind: "gone" }
  /** The scan failed, which was logged. */
  | { kind: "failed" };

type CacheEntry = { state: RepositoryState; fingerprint: string | undefined; ticket: number };
type RunningScan = {
  ticket: number;
  callers: number;
  status: Promise<RepositoryStatus>;
  stop: AbortController;
};

export type RepositoriesOptions = { environment: Environment; clock: Clock; log: Log };

export class Repositories {
  readonly #cache = new LRUCache<string, CacheEntry>({
    max: MAX_CACHED,
    maxSize: MAX_CACHED_CHARACTERS,
    sizeCalculation: ({ state }) => ENTRY_CHARACTERS + state.unifiedDiff.length,
  });
  readonly #running = new Map<string, RunningScan>();
  /** The last failure of each repository, so that the same failure is logged once. */
  readonly #failures = new LRUCache<string, string>({ max: MAX_CACHED });
  readonly #semaphore: BoundedSemaphore;
  #isClosed = false;
  #runGit: RunGit;
  #lastTicket = 0;
  #hasWarnedOfNoGit = false;
  #temporaryDirectory: Promise<string> | undefined;

  constructor(private readonly options: RepositoriesOptions) {
    this.#runGit = createRunGit(options);
    const bounds = { maxRunning: MAX_RUNNING_SCANS, maxWaiting: MAX_WAITING_SCANS, waitMs: MAX_SCAN_WAIT_MS };
    this.#semaphore = new BoundedSemaphore(bounds, options.clock);
  }

  /** A ticket for the present moment. */
  ticket(): number {
    this.#lastTicket += 1;
    return this.#lastTicket;
  }

  /** Whether git is installed. Also reads `safe.directory` again. */
  async prepare(signal: AbortSignal): Promise<boolean> {
    const run = { directory: "/", arguments: ["--version"], maxBytes: 1_024 };
    const outcome = await this.#runGit(run, signal);
    if (outcome.kind === "not-started") {
      if (!this.#hasWarnedOfNoGit) {
        this.options.log.warn({ reason: outcome.stderr }, "git not found; changes are not shown");
      }
      this.#hasWarnedOfNoGit = true;
      return false;
    }
    const trustedDirectories = await readTrustedDirectories(this.options, signal);
    this.#runGit = createRunGit({ ...this.options, trustedDirectories });
    return true;
  }

  /** The roots of the repositories around these folders. Rejects only when `signal` is aborted. */
  findRoots(folders: readonly string[], known: ReadonlySet<string>, signal: AbortSignal): Promise<string[]> {
    return findRoots(folders, known, this.#runGit, signal);
  }

  /**
   * The repository's state at some moment after the ticket. Rejects only when `signal` is aborted or this is closed;
   * a scan is cancelled with its last caller.
   */
  async status(root: string, after: number, signal: AbortSignal): Promise<RepositoryStatus> {
    for (;;) {
      signal.throwIfAborted();
      if (this.#isClosed) throw closed();
      const cached = this.#cache.get(root);
      if (cached !== undefined && cached.ticket > after) return { kind: "scanned", state: cached.state };
      const running = this.#running.get(root) ?? this.#start(root);
      const status = await this.#join(running, signal);
      if (running.ticket > after && status !== "stopped") return status;
    }
  }

  evict(root: string): void {
    this.#cache.delete(root);
  }

  /**
   * Cancels all scans; resolves when no git process is left. Calls of `findRoots` must be aborted by their own signal.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { stop } of this.#running.values()) stop.abort(closed());
    this.#semaphore.close();
    await Promise.allSettled([...this.#running.values()].map(({ status }) => status));
    const directory = await this.#temporaryDirectory?.catch(() => undefined);
    if (directory !== undefined) await rm(directory, { recursive: true, force: true });
  }

  #start(root: string): RunningScan {
    const stop = new AbortController();
    const ticket = this.ticket();
    const status = this.#scan(root, ticket, stop.signal).finally(() => this.#running.delete(root));
    const running = { ticket, callers: 0, status, stop };
    this.#running.set(root, running);
    return running;
  }

  /** "stopped" when the scan was cancelled with its last caller before this one joined. */
  async #join(running: RunningScan, signal: AbortSignal): Promise<RepositoryStatus | "stopped"> {
    running.callers += 1;
    const leave = () => {
      running.callers -= 1;
      if (running.callers === 0) running.stop.abort(new Error("No caller waits for the scan."));
    };
    signal.addEventListener("abort", leave, { once: true });
    try {
      return await running.status;
    } catch (error) {
      signal.throwIfAborted();
      if (running.stop.signal.aborted) return "stopped";
      throw error;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  async #scan(root: string, ticket: number, signal: AbortSignal): Promise<RepositoryStatus> {
    const release = await this.#semaphore.acquire();
    signal.throwIfAborted();
    if (release === null) return this.#failed(root, "Too many scans are waiting.");
    try {
      const cached = this.#cache.get(root);
      const dependencies = { runGit: this.#runGit, temporaryDirectory: () => this.#makeTemporaryDirectory() };
      const result = await scanRepository(root, cached?.fingerprint, dependencies, signal);
      return this.#store(root, ticket, result, cached);
    } finally {
      release();
    }
  }

  #store(root: string, ticket: number, result: ScanResult, cached: CacheEntry | undefined): RepositoryStatus {
    if (result.kind === "failed") return this.#failed(root, result.reason);
    this.#failures.delete(root);
    if (result.kind === "gone") {
      this.#cache.delete(root);
      return { kind: "gone" };
    }
    const current = result.kind === "scanned" ? result : cached;
    if (current === undefined) return this.#failed(root, "It is unchanged, but not cached.");
    const { state, fingerprint } = current;
    this.#cache.set(root, { state, fingerprint, ticket });
    return { kind: "scanned", state };
  }

  #failed(root: string, reason: string): RepositoryStatus {
    if (this.#failures.get(root) !== reason) {
      this.options.log.warn({ root, reason }, "repository scan failed; its last state remains");
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
