/**
 * Watch of the repositories that one chat has worked in, for one subscriber: scans after the chat's activity, on
 * refresh, and periodically; sends the changes since its last message.
 * States: scanning ⇄ waiting, until its signal ends it.
 */
import { createHash } from "node:crypto";
import { sleep, type Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import {
  MAX_DIFF_CHUNK_CHARACTERS,
  MAX_WATCHED_REPOSITORIES,
  type GitWatchMessage,
} from "../protocol/git.js";
import type { ChatPaths } from "./chat-paths.js";
import type { RepositoryState } from "./scan-repository.js";
import type { Repositories } from "./repositories.js";

/** Shortest interval between two scans, for a chat that writes many files in a row. */
const MIN_SCAN_INTERVAL_MS = 1_000;
/** Interval of scans without activity, which find the changes of other programs. */
export const POLL_MS = 5_000;
/** Waiting takes at least this many times as long as the scan before: a slow repository is scanned less often. */
const IDLE_FACTOR = 3;

export type ChatWatchDependencies = {
  chatId: string;
  paths: ChatPaths;
  repositories: Repositories;
  /** Scanned for a chat that has not worked anywhere yet. */
  directory: string;
  clock: Clock;
  log: Log;
  /** Resolves when the message was written, so that a slow subscriber slows the watch. Must not reject. */
  send(message: GitWatchMessage): Promise<void>;
};

export class ChatWatch {
  /** Digest of the state that was last sent of each root. */
  readonly #sentDigests = new Map<string, string>();
  readonly #roots = new Set<string>();
  #isFull = false;
  /** The next scan's states must be newer than this ticket. */
  #after: number;
  /** The next scan sends all states, changed or not. */
  #sendsAll = true;
  #refreshId = 0;
  #wake: () => void = () => undefined;
  #isScanPending = true;
  #cancelScan: () => void = () => undefined;

  constructor(private readonly dependencies: ChatWatchDependencies) {
    this.#after = dependencies.repositories.ticket();
  }

  /**
   * Resolves soon after `signal` is aborted, when nothing that it started is left. Rejects when a scan or `send`
   * throws.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { paths, chatId, clock } = this.dependencies;
    // Subscribes before the first scan, so that no activity is missed.
    const unsubscribe = paths.subscribe(chatId, () => this.#requestScan());
    try {
      await this.#prepare(signal);
      while (!signal.aborted) {
        const startedAtMs = clock.now();
        await this.#scan(signal);
        const tookMs = clock.now() - startedAtMs;
        await this.#wait(Math.max(POLL_MS, IDLE_FACTOR * tookMs), signal);
        await sleep(clock, startedAtMs + MIN_SCAN_INTERVAL_MS - clock.now(), signal);
      }
    } finally {
      unsubscribe();
    }
  }

  /** Scans everything again and sends all states; cancels a scan under way. */
  refresh(id = this.#refreshId): void {
    this.#refreshId = Math.max(this.#refreshId, id);
    this.#sendsAll = true;
    this.#requestScan();
    this.#cancelScan();
  }

  #requestScan(): void {
    this.#after = this.dependencies.repositories.ticket();
    this.#isScanPending = true;
    this.#wake();
  }

  /** Sends `ready`. Without git it then waits until `signal` is aborted. */
  async #prepare(signal: AbortSignal): Promise<void> {
    const hasGit = await unlessStopped(this.dependencies.repositories.prepare(signal), signal);
    if (hasGit === undefined) return;
    await this.dependencies.send({ type: "ready", hasGit });
    if (hasGit) return;
    await new Promise<void>((resolve) => {
      if (signal.aborted) return resolve();
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  async #wait(ms: number, signal: AbortSignal): Promise<void> {
    const waiting = new AbortController();
    const wake = () => waiting.abort();
    signal.addEventListener("abort", wake, { once: true });
    this.#wake = wake;
    if (!this.#isScanPending && !signal.aborted) await sleep(this.dependencies.clock, ms, waiting.signal);
    this.#wake = () => undefined;
    signal.removeEventListener("abort", wake);
  }

  /** One scan of all repositories. A refresh cancels it; the next one then sends all states. */
  async #scan(signal: AbortSignal): Promise<void> {
    const { repositories, clock } = this.dependencies;
    const stop = new AbortController();
    const cancel = () => stop.abort(new Error("The scan was cancelled."));
    signal.addEventListener("abort", cancel, { once: true });
    this.#cancelScan = cancel;
    const sendsAll = this.#sendsAll;
    const after = this.#after;
    this.#isScanPending = false;
    this.#sendsAll = false;
    const answers = this.#refreshId;
    const at = new Date(clock.now()).toISOString();
    try {
      if (sendsAll) this.#reset();
      await this.#findRoots(stop.signal);
      const hadRoots = this.#roots.size > 0;
      for (const root of [...this.#roots].sort()) await this.#scanRoot(root, after, stop.signal);
      // Without a repository there is nothing to report, except once.
      if (hadRoots || sendsAll) await this.dependencies.send({ type: "scanned", at, answers });
      // The next scan needs newer states than this one; a request meanwhile has set a newer ticket already.
      if (this.#after === after) this.#after = repositories.ticket();
    } catch (error) {
      if (!stop.signal.aborted) throw error;
      if (sendsAll) this.#sendsAll = true;
    } finally {
      signal.removeEventListener("abort", cancel);
      this.#cancelScan = () => undefined;
    }
  }

  #reset(): void {
    this.#sentDigests.clear();
    for (const root of this.#roots) this.dependencies.repositories.evict(root);
  }

  /** For a chat that has not worked anywhere yet: the repository around the agent's directory. */
  async #findRoots(signal: AbortSignal): Promise<void> {
    const { paths, chatId, directory, repositories, log } = this.dependencies;
    const folders = paths.folders(chatId);
    const searched = folders.length > 0 ? folders : [directory];
    const found = await repositories.findRoots(searched, this.#roots, signal);
    const fresh = found.filter((root) => !this.#roots.has(root));
    const capacity = MAX_WATCHED_REPOSITORIES - this.#roots.size;
    for (const root of fresh.slice(0, capacity)) this.#roots.add(root);
    if (fresh.length > capacity && !this.#isFull) {
      log.warn(
        { chatId, watched: this.#roots.size },
        "chat works in too many repositories; not all are watched",
      );
    }
    this.#isFull = fresh.length > capacity;
  }

  async #scanRoot(root: string, after: number, signal: AbortSignal): Promise<void> {
    const status = await this.dependencies.repositories.status(root, after, signal);
    switch (status.kind) {
      case "scanned":
        return this.#sendState(root, status.state);
      case "gone":
        this.#roots.delete(root);
        this.#sentDigests.delete(root);
        return this.dependencies.send({ type: "removed", root });
      case "failed":
        return undefined;
    }
  }

  async #sendState(root: string, state: RepositoryState): Promise<void> {
    const digest = digestOf(state);
    if (this.#sentDigests.get(root) === digest) return;
    this.#sentDigests.set(root, digest);
    const { unifiedDiff, ...facts } = state;
    for (const text of chunksOf(unifiedDiff)) await this.dependencies.send({ type: "diff", root, text });
    await this.dependencies.send({ type: "repository", root, ...facts });
  }
}

async function unlessStopped<Value>(
  promise: Promise<Value>,
  signal: AbortSignal,
): Promise<Value | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

/** Cached by object: an unchanged state is the same object for all watches, and compared very often. */
const digests = new WeakMap<RepositoryState, string>();

function digestOf(state: RepositoryState): string {
  const known = digests.get(state) ?? computeDigest(state);
  digests.set(state, known);
  return known;
}

function computeDigest(state: RepositoryState): string {
  const { branch, remoteOrigin, pushedCommit = "", isTruncated, unifiedDiff } = state;
  return createHash("sha256")
    .update(JSON.stringify([branch, remoteOrigin, pushedCommit, isTruncated]))
    .update(unifiedDiff)
    .digest("base64url");
}

/** A chunk may end inside a surrogate pair: JSON preserves each half. */
function chunksOf(text: string): string[] {
  const chunks: string[] = [];
  for (let start = 0; start < text.length; start += MAX_DIFF_CHUNK_CHARACTERS) {
    chunks.push(text.slice(start, start + MAX_DIFF_CHUNK_CHARACTERS));
  }
  return chunks;
}
