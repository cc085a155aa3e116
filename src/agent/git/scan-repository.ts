/**
 * One look at one repository: its branch, where it comes from, and what differs from the last commit, staged or not,
 * untracked files included. The repository and its index are only read.
 */
import { createHash, randomUUID } from "node:crypto";
import { access, constants, lstat, rm } from "node:fs/promises";
import { join } from "node:path";
import { errorText } from "../outcome.js";
import { isRepositoryThere } from "./find-roots.js";
import { redactOrigin } from "./remote-origin.js";
import type { GitOutcome, RunGit } from "./run-git.js";
import { parseStatus, type GitStatus } from "./status.js";

/** Longer diffs are for nobody to read, and would have to be held and sent. */
export const MAX_DIFF_BYTES = 3 * 1024 * 1024;
/**
 * A changed file takes less than three times as much of the status as of the diff, so a longer status means a diff
 * that is too large.
 */
const MAX_STATUS_BYTES = 3 * MAX_DIFF_BYTES;
const MAX_ORIGIN_BYTES = 16 * 1024;
/** Of more files git itself learns faster what became of them. */
const MAX_METERED_FILES = 5_000;
/** Files that are asked after at the same time. */
const FILES_AT_ONCE = 64;

export type RepositoryState = {
  branch: string | null;
  remoteOrigin: string | null;
  /** The newest commit, when it is where the branch is pushed to, too. */
  pushedCommit?: string;
  unifiedDiff: string;
  /** `unifiedDiff` says why it is not the diff. */
  isTruncated: boolean;
};

export type ScanResult =
  /** `fingerprint`, when there is one, stays the same for as long as nothing changes. */
  | { kind: "seen"; state: RepositoryState; fingerprint: string | undefined }
  | { kind: "unchanged" }
  | { kind: "gone" }
  | { kind: "failed"; reason: string };

export type ScanDependencies = {
  runGit: RunGit;
  /** Where temporary indexes may lie. */
  temporaryDirectory(): Promise<string>;
};

/** `known` is the fingerprint of an earlier look: when it still holds, nothing more is asked. */
export async function scanRepository(
  root: string,
  known: string | undefined,
  parts: ScanDependencies,
  signal: AbortSignal,
): Promise<ScanResult> {
  try {
    if (!(await isRepositoryThere(root))) return { kind: "gone" };
    return await new RepositoryScan(root, parts, signal).look(known);
  } catch (error) {
    if (signal.aborted) throw error;
    if (error instanceof GitFailure) return { kind: "failed", reason: error.message };
    return { kind: "failed", reason: errorText(error) };
  }
}

/** Git said no; the look is over. */
class GitFailure extends Error {
  override readonly name = "GitFailure";
}

type Diff = { bytes: Buffer } | { tooLarge: string };

class RepositoryScan {
  constructor(
    private readonly root: string,
    private readonly parts: ScanDependencies,
    private readonly signal: AbortSignal,
  ) {}

  async look(known: string | undefined): Promise<ScanResult> {
    const said = await this.#run({ arguments: STATUS, maxBytes: MAX_STATUS_BYTES });
    if (said.kind === "timed-out") throw new GitFailure("git status took too long.");
    const status = parseStatus(said.output);
    const origin = await this.#origin();
    // The fingerprint is taken first: what changes from here on makes the next look see a change.
    const fingerprint =
      said.kind === "too-long" ? undefined : await this.#fingerprint(said.output, status, origin);
    if (fingerprint !== undefined && fingerprint === known) return { kind: "unchanged" };
    const diff = said.kind === "too-long" ? TOO_LARGE : await this.#diff(status);
    const { branch, pushedCommit } = status;
    const state = {
      ...{ branch, remoteOrigin: origin && redactOrigin(origin), ...textOf(diff) },
      ...(pushedCommit === null ? {} : { pushedCommit }),
    };
    return { kind: "seen", state, fingerprint };
  }

  async #origin(): Promise<string | null> {
    const run = { arguments: ["config", "--get", "remote.origin.url"], maxBytes: MAX_ORIGIN_BYTES };
    const outcome = await this.#run(run, [0, 1]);
    if (outcome.kind !== "ended" || outcome.exitCode !== 0) return null;
    return outcome.output.toString("utf8").trim() || null;
  }

  /** Undefined when there are too many files to ask after each. */
  async #fingerprint(
    said: Buffer,
    { changed, untracked }: GitStatus,
    origin: string | null,
  ): Promise<string | undefined> {
    const names = [...changed, ...untracked];
    if (names.length > MAX_METERED_FILES) return undefined;
    const hash = createHash("sha256")
      .update(said)
      .update(`\0${origin ?? ""}`);
    for (let start = 0; start < names.length; start += FILES_AT_ONCE) {
      this.signal.throwIfAborted();
      const facts = names.slice(start, start + FILES_AT_ONCE).map((name) => this.#factsOf(name));
      hash.update((await Promise.all(facts)).join("\0"));
    }
    return hash.digest("base64url");
  }

  async #factsOf(name: string): Promise<string> {
    try {
      const { size, mode, ino, mtimeNs, ctimeNs } = await lstat(this.#pathOf(name), { bigint: true });
      return [size, mode, ino, mtimeNs, ctimeNs].join();
    } catch {
      return "none";
    }
  }

  /** The name's bytes as they are: it need not be UTF-8. */
  #pathOf(name: string): Buffer {
    return Buffer.concat([Buffer.from(`${this.root}/`), Buffer.from(name, "latin1")]);
  }

  /** What `git diff HEAD` says, and after it each untracked file as a new one. */
  async #diff(status: GitStatus): Promise<Diff> {
    const emptyTree = await this.#emptyTree();
    const base = status.hasCommit ? "HEAD" : emptyTree;
    const tracked = await this.#runDiff({ arguments: ["--find-renames", base], maxBytes: MAX_DIFF_BYTES });
    if ("tooLarge" in tracked || status.untracked.length === 0) return tracked;
    const maxBytes = MAX_DIFF_BYTES - tracked.bytes.length;
    const untracked = await this.#diffUntracked(status.untracked, emptyTree, maxBytes);
    if ("tooLarge" in untracked) return untracked;
    return { bytes: Buffer.concat([tracked.bytes, untracked.bytes]) };
  }

  /** Its name depends on how the repository hashes. */
  async #emptyTree(): Promise<string> {
    const run = { arguments: ["hash-object", "-t", "tree", "/dev/null"], maxBytes: MAX_ORIGIN_BYTES };
    const outcome = await this.#run(run);
    if (outcome.kind !== "ended") throw new GitFailure("git hash-object took too long.");
    return outcome.output.toString("latin1").trim();
  }

  /**
   * All of them in one run: an index of our own names the files and nothing of what is in them, so that git finds all
   * of them changed against an empty tree and reads them where they lie.
   */
  async #diffUntracked(names: readonly string[], emptyTree: string, maxBytes: number): Promise<Diff> {
    const readable = await this.#readable(names);
    if (readable.length === 0) return { bytes: Buffer.alloc(0) };
    const indexFile = join(await this.parts.temporaryDirectory(), randomUUID());
    try {
      const input = Buffer.from(
        readable.map((name) => `100644 ${emptyTree} 0\t${name}\0`).join(""),
        "latin1",
      );
      const listed = { arguments: ["update-index", "-z", "--index-info"], indexFile, input, maxBytes: 0 };
      const outcome = await this.#run(listed);
      if (outcome.kind !== "ended") throw new GitFailure("git update-index did not end as it should.");
      return await this.#runDiff({ arguments: ["--no-renames", emptyTree], indexFile, maxBytes });
    } finally {
      await Promise.all([indexFile, `${indexFile}.lock`].map((path) => rm(path, { force: true })));
    }
  }

  /** Git gives up the whole diff for one file that it may not read. */
  async #readable(names: readonly string[]): Promise<string[]> {
    const readable: string[] = [];
    for (let start = 0; start < names.length; start += FILES_AT_ONCE) {
      this.signal.throwIfAborted();
      const some = names.slice(start, start + FILES_AT_ONCE);
      const answers = await Promise.all(some.map((name) => isReadable(this.#pathOf(name))));
      readable.push(...some.filter((_name, index) => answers[index]));
    }
    return readable;
  }

  async #runDiff(run: { arguments: string[]; indexFile?: string; maxBytes: number }): Promise<Diff> {
    const outcome = await this.#run({ ...run, arguments: ["diff", ...PLAIN, ...run.arguments, "--"] });
    if (outcome.kind === "too-long") return TOO_LARGE;
    if (outcome.kind === "timed-out") return { tooLarge: "The diff takes too long to be made" };
    return { bytes: outcome.output };
  }

  /** Throws when git cannot be run or ends otherwise than it may. */
  async #run(
    run: { arguments: readonly string[]; indexFile?: string; input?: Buffer; maxBytes: number },
    exitCodes: readonly number[] = [0],
  ): Promise<Exclude<GitOutcome, { kind: "not-started" }>> {
    const outcome = await this.parts.runGit({ directory: this.root, ...run }, this.signal);
    if (outcome.kind === "not-started") throw new GitFailure(outcome.complaint);
    if (outcome.kind === "ended" && !exitCodes.includes(outcome.exitCode)) {
      const [name] = run.arguments;
      throw new GitFailure(`git ${name} ended with ${outcome.exitCode}: ${outcome.complaint}`);
    }
    return outcome;
  }
}

/** A link is read itself, whatever it leads to. */
async function isReadable(path: Buffer): Promise<boolean> {
  try {
    await access(path, constants.R_OK);
    return true;
  } catch {
    return lstat(path).then(
      (stats) => stats.isSymbolicLink(),
      () => false,
    );
  }
}

const STATUS = [
  "status",
  "--porcelain=v2",
  "--branch",
  "--no-ahead-behind",
  "-z",
  "--untracked-files=all",
  "--no-renames",
];

/** Whatever the repository's own settings say of diffs, this one looks as git makes it by itself. */
const PLAIN = [
  "--patch",
  "--no-color",
  "--no-color-moved",
  "--no-ext-diff",
  "--no-textconv",
  "--no-relative",
  "--src-prefix=a/",
  "--dst-prefix=b/",
  "--unified=3",
  "--inter-hunk-context=0",
  "--diff-algorithm=myers",
  "--indent-heuristic",
  "--submodule=short",
  "--ws-error-highlight=none",
  "-l1000",
];

const TOO_LARGE = { tooLarge: `The diff is larger than ${MAX_DIFF_BYTES / 1024 / 1024} MiB` };

function textOf(diff: Diff): Pick<RepositoryState, "unifiedDiff" | "isTruncated"> {
  if ("bytes" in diff) return { unifiedDiff: diff.bytes.toString("utf8"), isTruncated: false };
  return { unifiedDiff: `${diff.tooLarge}; only the branch and the origin are shown.\n`, isTruncated: true };
}
