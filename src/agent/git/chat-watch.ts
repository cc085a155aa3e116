/**
 * Watches the repositories that one chat has worked in, for one listener: looks when the chat did something, when it is
 * asked to, and from time to time; tells what is new since it last told.
 * States: looking ⇄ resting, until its signal ends it.
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

/** A chat that writes many files in a row is looked at this often at most. */
export const MIN_ROUND_INTERVAL_MS = 1_000;
/** What other programs change is seen after this. */
export const POLL_MS = 5_000;
/** Resting takes this many times as long as looking: a repository that git needs seconds for is asked less often. */
const REST_FACTOR = 3;

export type ChatWatchDependencies = {
  chatId: string;
  paths: ChatPaths;
  repositories: Repositories;
  /** Where the chat works when it has not worked anywhere yet. */
  directory: string;
  clock: Clock;
  log: Log;
  /** Resolves when the message has left, so that a slow listener slows the watch. Must not reject. */
  send(message: GitWatchMessage): Promise<void>;
};

export class ChatWatch {
  /** Digests of what was told of each root. */
  readonly #told = new Map<string, string>();
  readonly #roots = new Set<string>();
  #isFull = false;
  /** What is told must have been so after this moment. */
  #after: number;
  /** The next round tells all there is. */
  #isWhole = true;
  #refreshId = 0;
  #wake: () => void = () => undefined;
  #isAwaited = true;
  #stopRound: () => void = () => undefined;

  constructor(private readonly parts: ChatWatchDependencies) {
    this.#after = parts.repositories.ticket();
  }

  /** Resolves soon after `signal` is aborted, when nothing that it started is left. Rejects when something is broken. */
  async run(signal: AbortSignal): Promise<void> {
    const { paths, chatId, clock } = this.parts;
    // Before anything is read: what happens while it is read must not be missed.
    const unsubscribe = paths.subscribe(chatId, () => this.#look());
    try {
      await this.#prepare(signal);
      while (!signal.aborted) {
        const startedAtMs = clock.now();
        await this.#round(signal);
        const tookMs = clock.now() - startedAtMs;
        await this.#rest(Math.max(POLL_MS, REST_FACTOR * tookMs), signal);
        await sleep(clock, startedAtMs + MIN_ROUND_INTERVAL_MS - clock.now(), signal);
      }
    } finally {
      unsubscribe();
    }
  }

  /** Looks at everything anew and tells all of it; a look that is under way is given up. */
  refresh(id = this.#refreshId): void {
    this.#refreshId = Math.max(this.#refreshId, id);
    this.#isWhole = true;
    this.#look();
    this.#stopRound();
  }

  #look(): void {
    this.#after = this.parts.repositories.ticket();
    this.#isAwaited = true;
    this.#wake();
  }

  /** Where there is no git this waits until the end. */
  async #prepare(signal: AbortSignal): Promise<void> {
    const hasGit = await unlessStopped(this.parts.repositories.prepare(signal), signal);
    if (hasGit === undefined) return;
    await this.parts.send({ type: "ready", hasGit });
    if (hasGit) return;
    await new Promise<void>((resolve) => {
      if (signal.aborted) return resolve();
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  async #rest(ms: number, signal: AbortSignal): Promise<void> {
    const resting = new AbortController();
    const wake = () => resting.abort();
    signal.addEventListener("abort", wake, { once: true });
    this.#wake = wake;
    if (!this.#isAwaited && !signal.aborted) await sleep(this.parts.clock, ms, resting.signal);
    this.#wake = () => undefined;
    signal.removeEventListener("abort", wake);
  }

  /** One look at all repositories. A refresh in the middle ends it early; the next one tells all. */
  async #round(signal: AbortSignal): Promise<void> {
    const { repositories, clock } = this.parts;
    const stop = new AbortController();
    const end = () => stop.abort(new Error("The round was given up."));
    signal.addEventListener("abort", end, { once: true });
    this.#stopRound = end;
    const isWhole = this.#isWhole;
    const after = this.#after;
    this.#isAwaited = false;
    this.#isWhole = false;
    const answers = this.#refreshId;
    const at = new Date(clock.now()).toISOString();
    try {
      if (isWhole) this.#startAnew();
      await this.#findRoots(stop.signal);
      const hadRoots = this.#roots.size > 0;
      for (const root of [...this.#roots].sort()) await this.#scanRepository(root, after, stop.signal);
      // Where there is no repository there is nothing to say, but once.
      if (hadRoots || isWhole) await this.parts.send({ type: "scanned", at, answers });
      // The next round wants to see more than this one, unless more was asked for already.
      if (this.#after === after) this.#after = repositories.ticket();
    } catch (error) {
      if (!stop.signal.aborted) throw error;
      if (isWhole) this.#isWhole = true;
    } finally {
      signal.removeEventListener("abort", end);
      this.#stopRound = () => undefined;
    }
  }

  #startAnew(): void {
    this.#told.clear();
    for (const root of this.#roots) this.parts.repositories.forget(root);
  }

  /** A chat that has worked in no repository yet shows the one around the agent's directory. */
  async #findRoots(signal: AbortSignal): Promise<void> {
    const { paths, chatId, directory, repositories, log } = this.parts;
    const folders = paths.folders(chatId);
    const places = folders.length > 0 ? folders : [directory];
    const found = await repositories.findRoots(places, this.#roots, signal);
    const fresh = found.filter((root) => !this.#roots.has(root));
    const room = MAX_WATCHED_REPOSITORIES - this.#roots.size;
    for (const root of fresh.slice(0, room)) this.#roots.add(root);
    if (fresh.length > room && !this.#isFull) {
      log.warn(
        { chatId, watched: this.#roots.size },
        "The chat works in too many repositories; not all are watched",
      );
    }
    this.#isFull = fresh.length > room;
  }

  async #scanRepository(root: string, after: number, signal: AbortSignal): Promise<void> {
    const seen = await this.parts.repositories.look(root, after, signal);
    switch (seen.kind) {
      case "seen":
        return this.#tell(root, seen.state);
      case "gone":
        this.#roots.delete(root);
        this.#told.delete(root);
        return this.parts.send({ type: "removed", root });
      case "failed":
        return undefined;
    }
  }

  async #tell(root: string, state: RepositoryState): Promise<void> {
    const digest = digestOf(state);
    if (this.#told.get(root) === digest) return;
    this.#told.set(root, digest);
    const { unifiedDiff, ...facts } = state;
    for (const text of piecesOf(unifiedDiff)) await this.parts.send({ type: "diff", root, text });
    await this.parts.send({ type: "repository", root, ...facts });
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

/** A state that was not seen to change is the same object for everybody, and told or compared very often. */
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

/** A pair of halves of one character may come in two pieces: JSON keeps each half. */
function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length; start += MAX_DIFF_CHUNK_CHARACTERS) {
    pieces.push(text.slice(start, start + MAX_DIFF_CHUNK_CHARACTERS));
  }
  return pieces;
}
