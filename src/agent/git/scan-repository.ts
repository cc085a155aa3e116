/**
 * One scan of one repository: its branch, its origin, and the differences from the last commit, staged or not,
 * including untracked files. The repository and its index are only read.
 */
import { createHash, randomUUID } from "node:crypto";
import { access, constants, lstat, rm } from "node:fs/promises";
import { join } from "node:path";
import { errorText } from "../outcome.js";
import { isRepositoryThere } from "./find-roots.js";
import { redactOrigin } from "./remote-origin.js";
import type { GitOutcome, RunGit } from "./run-git.js";
import { parseStatus, type GitStatus } from "./status.js";

/** Longer diffs are of no use to a reader, and would cost memory and bandwidth. */
export const MAX_DIFF_BYTES = 3 * 1024 * 1024;
/**
 * A changed file takes less than three times as many bytes in the status as in the diff, so a longer status means a
 * diff that is too large.
 */
const MAX_STATUS_BYTES = 3 * MAX_DIFF_BYTES;
const MAX_ORIGIN_BYTES = 16 * 1024;
/** For more files, git's own check is faster than a fingerprint. */
const MAX_FINGERPRINTED_FILES = 5_000;
/** Concurrent `lstat` or `access` calls. */
const CONCURRENT_FILES = 64;

export type RepositoryState = {
  branch: string | null;
  remoteOrigin: string | null;
  /** The newest commit, when the branch's push target is at it as well. */
  pushedCommit?: string;
  unifiedDiff: string;
  /** The diff was too large or slow; `unifiedDiff` is a sentence with the reason. */
  isTruncated: boolean;
};

export type ScanResult =
  /** `fingerprint`, when there is one, is stable as long as nothing changes. */
  | { kind: "scanned"; state: RepositoryState; fingerprint: string | undefined }
  | { kind: "unchanged" }
  | { kind: "gone" }
  | { kind: "failed"; reason: string };

export type ScanDependencies = {
  runGit: RunGit;
  /** Directory for temporary indexes. */
  temporaryDirectory(): Promise<string>;
};

/** `known` is the fingerprint of an earlier scan; when it is still current, the diff is not computed. */
export async function scanRepository(
  root: string,
  known: string | undefined,
  dependencies: ScanDependencies,
  signal: AbortSignal,
): Promise<ScanResult> {
  try {
    if (!(await isRepositoryThere(root))) return { kind: "gone" };
    return await new RepositoryScan(root, dependencies, signal).run(known);
  } catch (error) {
    if (signal.aborted) throw error;
    if (error instanceof GitFailure) return { kind: "failed", reason: error.message };
    return { kind: "failed", reason: errorText(error) };
  }
}

/** A git command failed, which ends the scan. */
class GitFailure extends Error {
  override readonly name = "GitFailure";
}

type Diff = { bytes: Buffer } | { tooLarge: string };

class RepositoryScan {
  constructor(
    private readonly root: string,
    private readonly dependencies: ScanDependencies,
    private readonly signal: AbortSignal,
  ) {}

  async run(known: string | undefined): Promise<ScanResult> {
    const statusRun = await this.#run({ arguments: STATUS, maxBytes: MAX_STATUS_BYTES });
    if (statusRun.kind === "timed-out") throw new GitFailure("git status took too long.");
    const status = parseStatus(statusRun.output);
    const origin = await this.#origin();
    // Before the diff: a change from here on gives the next scan another fingerprint.
    const fingerprint =
      statusRun.kind === "too-long" ? undefined : await this.#fingerprint(statusRun.output, status, origin);
    if (fingerprint !== undefined && fingerprint === known) return { kind: "unchanged" };
    const diff = statusRun.kind === "too-long" ? TOO_LARGE : await this.#diff(status);
    const { branch, pushedCommit } = status;
    const state = {
      ...{ branch, remoteOrigin: origin && redactOrigin(origin), ...textOf(diff) },
      ...(pushedCommit === null ? {} : { pushedCommit }),
    };
    return { kind: "scanned", state, fingerprint };
  }

  async #origin(): Promise<string | null> {
    const run = { arguments: ["config", "--get", "remote.origin.url"], maxBytes: MAX_ORIGIN_BYTES };
    const outcome = await this.#run(run, [0, 1]);
    if (outcome.kind !== "ended" || outcome.exitCode !== 0) return null;
    return outcome.output.toString("utf8").trim() || null;
  }

  /** Undefined when there are too many files. */
  async #fingerprint(
    statusOutput: Buffer,
    { changed, untracked }: GitStatus,
    origin: string | null,
  ): Promise<string | undefined> {
    const names = [...changed, ...untracked];
    if (names.length > MAX_FINGERPRINTED_FILES) return undefined;
    const hash = createHash("sha256")
      .update(statusOutput)
      .update(`\0${origin ?? ""}`);
    for (let start = 0; start < names.length; start += CONCURRENT_FILES) {
      this.signal.throwIfAborted();
      const facts = names.slice(start, start + CONCURRENT_FILES).map((name) => this.#factsOf(name));
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

  /** As bytes: the name need not be UTF-8. */
  #pathOf(name: string): Buffer {
    return Buffer.concat([Buffer.from(`${this.root}/`), Buffer.from(name, "latin1")]);
  }

  /** The output of `git diff HEAD`, followed by each untracked file as a new one. */
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

  /** The id of the empty tree, which depends on the repository's hash function. */
  async #emptyTree(): Promise<string> {
    const run = { arguments: ["hash-object", "-t", "tree", "/dev/null"], maxBytes: MAX_ORIGIN_BYTES };
    const outcome = await this.#run(run);
    if (outcome.kind !== "ended") throw new GitFailure("git hash-object took too long.");
    return outcome.output.toString("latin1").trim();
  }

  /**
   * All untracked files in one run: a temporary index names the files without their content, so that git finds all of
   * them changed against an empty tree and reads them from the working tree.
   */
  async #diffUntracked(names: readonly string[], emptyTree: string, maxBytes: number): Promise<Diff> {
    const readable = await this.#readable(names);
    if (readable.length === 0) return { bytes: Buffer.alloc(0) };
    const indexFile = join(await this.dependencies.temporaryDirectory(), randomUUID());
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

  /** The readable files: git fails the whole diff for a single unreadable file. */
  async #readable(names: readonly string[]): Promise<string[]> {
    const readable: string[] = [];
    for (let start = 0; start < names.length; start += CONCURRENT_FILES) {
      this.signal.throwIfAborted();
      const some = names.slice(start, start + CONCURRENT_FILES);
      const answers = await Promise.all(some.map((name) => isReadable(this.#pathOf(name))));
      readable.push(...some.filter((_name, index) => answers[index]));
    }
    return readable;
  }

  async #runDiff(run: { arguments: string[]; indexFile?: string; maxBytes: number }): Promise<Diff> {
    const outcome = await this.#run({
      ...run,
      arguments: ["diff", ...DEFAULT_DIFF_OPTIONS, ...run.arguments, "--"],
    });
    if (outcome.kind === "too-long") return TOO_LARGE;
    if (outcome.kind === "timed-out") return { tooLarge: "The diff takes too long to compute" };
    return { bytes: outcome.output };
  }

  /** Throws when git cannot be run or ends with an unexpected exit code. */
  async #run(
    run: { arguments: readonly string[]; indexFile?: string; input?: Buffer; maxBytes: number },
    exitCodes: readonly number[] = [0],
  ): Promise<Exclude<GitOutcome, { kind: "not-started" }>> {
    const outcome = await this.dependencies.runGit({ directory: this.root, ...run }, this.signal);
    if (outcome.kind === "not-started") throw new GitFailure(outcome.stderr);
    if (outcome.kind === "ended" && !exitCodes.includes(outcome.exitCode)) {
      const [name] = run.arguments;
      throw new GitFailure(`git ${name} ended with ${outcome.exitCode}: ${outcome.stderr}`);
    }
    return outcome;
  }
}

/** A link is always readable: git reads the link itself, not its target. */
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

/** Git's default diff format, regardless of the repository's settings. */
const DEFAULT_DIFF_OPTIONS = [
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
