/**
 * Read-only git runs: ignore the user's and the machine's configuration, take no locks, prompt for nothing and write
 * nothing. Every run is bounded in time and in output; beyond that its whole process group is killed.
 */
import { errorCode, errorText } from "../outcome.js";
import type { Environment } from "../process/environment.js";
import { signalGroup } from "../process/process-group.js";
import { startProgram } from "../../lib/child-process.js";
import type { Clock } from "../../lib/clock.js";

/** Enough for the status of a huge repository on a cold disk. */
export const GIT_TIMEOUT_MS = 30_000;
/** Enough of stderr to understand a failure in a log. */
const MAX_STDERR_BYTES = 4 * 1024;

/**
 * Local settings of a repository that would change the output, run other programs or write beside a temporary index.
 */
const PINNED_SETTINGS = [
  "core.quotePath=false",
  "core.fsmonitor=false",
  "core.untrackedCache=false",
  "core.splitIndex=false",
  "core.hooksPath=/dev/null",
  "core.abbrev=auto",
  // Git reads a file whole to compare it; larger ones count as binary.
  "core.bigFileThreshold=64m",
  "diff.suppressBlankEmpty=false",
  "diff.orderFile=/dev/null",
];

const PINNED_ENVIRONMENT: Environment = {
  LC_ALL: "C",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  // A partial clone would fetch missing objects from the network.
  GIT_NO_LAZY_FETCH: "1",
};

export type GitRun = {
  directory: string;
  arguments: readonly string[];
  /** Written to stdin; absent: no stdin. */
  input?: Buffer;
  /** Used instead of the repository's index. */
  indexFile?: string;
  /** Longer output ends the run. */
  maxBytes: number;
};

export type GitOutcome =
  | { kind: "ended"; exitCode: number; output: Buffer; stderr: string }
  /** `output` is the beginning, at most `maxBytes` of it. */
  | { kind: "too-long"; output: Buffer }
  | { kind: "timed-out" }
  /** Git is not installed, or cannot be started; `stderr` is the reason. */
  | { kind: "not-started"; stderr: string };

export type RunGit = (run: GitRun, signal: AbortSignal) => Promise<GitOutcome>;

export type GitOptions = {
  /** Inherited by git, below the pinned variables. */
  environment: Environment;
  clock: Clock;
  /** Directories of other users that git may read, as in `safe.directory`. */
  trustedDirectories?: readonly string[];
  timeoutMs?: number;
};

/** Rejects only with the reason of an aborted `signal`, once git has ended. */
export function createRunGit(options: GitOptions): RunGit {
  const trusted = (options.trustedDirectories ?? []).map((directory) => `safe.directory=${directory}`);
  const settings = [...PINNED_SETTINGS, ...trusted].flatMap((setting) => ["-c", setting]);
  const environment = { ...withoutGitVariables(options.environment), ...PINNED_ENVIRONMENT };
  const limits = { clock: options.clock, timeoutMs: options.timeoutMs ?? GIT_TIMEOUT_MS };
  return (run, signal) => {
    const command = ["--no-pager", "--literal-pathspecs", ...settings, ...run.arguments];
    const own = { ...environment, ...(run.indexFile !== undefined && { GIT_INDEX_FILE: run.indexFile }) };
    return runBounded({ ...run, arguments: command }, own, limits, signal);
  };
}

/** `safe.directory` of the user's and the machine's configuration: the only setting that is honoured. */
export async function readTrustedDirectories(options: GitOptions, signal: AbortSignal): Promise<string[]> {
  const run = {
    directory: "/",
    arguments: ["config", "-z", "--get-all", "safe.directory"],
    maxBytes: 64 * 1024,
  };
  const limits = { clock: options.clock, timeoutMs: options.timeoutMs ?? GIT_TIMEOUT_MS };
  const outcome = await runBounded(run, options.environment, limits, signal);
  // Exit code 1: not set.
  if (outcome.kind !== "ended" || outcome.exitCode !== 0) return [];
  // An empty value resets the list; git does that itself when it gets the same values.
  return outcome.output.toString("utf8").split("\0").slice(0, -1);
}

/** Variables of an enclosing git, such as `GIT_DIR`, would select another repository. */
function withoutGitVariables(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith("GIT_")));
}

type Limits = { clock: Clock; timeoutMs: number };
type Verdict = { kind: "too-long" | "timed-out" | "aborted" };

function runBounded(
  run: GitRun,
  environment: Environment,
  limits: Limits,
  signal: AbortSignal,
): Promise<GitOutcome> {
  signal.throwIfAborted();
  const child = startProgram("git", run.arguments, {
    cwd: run.directory,
    env: environment,
    detached: true,
    stdio: [run.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  const output = new BoundedOutput(run.maxBytes);
  const stderr = new BoundedOutput(MAX_STDERR_BYTES);
  let verdict: Verdict | undefined;
  const end = (kind: Verdict["kind"]) => {
    verdict ??= { kind };
    if (child.pid !== undefined) signalGroup(child.pid, "SIGKILL");
    // A process that left the group could keep them open for ever.
    child.stdout?.destroy();
    child.stderr?.destroy();
  };
  const abort = () => end("aborted");
  signal.addEventListener("abort", abort, { once: true });
  const cancelTimeout = limits.clock.after(limits.timeoutMs, () => end("timed-out"));
  child.stdout?.on("data", (chunk: Buffer) => {
    if (!output.add(chunk)) end("too-long");
  });
  child.stderr?.on("data", (chunk: Buffer) => void stderr.add(chunk));
  // Git may end without reading all of its input; its exit code is what counts.
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(run.input);
  return new Promise((resolve, reject) => {
    let failure: unknown;
    child.once("error", (error) => (failure = error));
    child.once("close", (code) => {
      cancelTimeout();
      signal.removeEventListener("abort", abort);
      if (verdict?.kind === "aborted") return reject(signal.reason);
      if (verdict?.kind === "timed-out") return resolve({ kind: "timed-out" });
      if (verdict?.kind === "too-long") return resolve({ kind: "too-long", output: output.bytes() });
      if (failure !== undefined) return resolve(notStarted(failure));
      const message = stderr.bytes().toString("utf8").trim();
      resolve({ kind: "ended", exitCode: code ?? -1, output: output.bytes(), stderr: message });
    });
  });
}

function notStarted(failure: unknown): GitOutcome {
  const code = errorCode(failure);
  return { kind: "not-started", stderr: code === undefined ? errorText(failure) : `git: ${code}` };
}

/** Keeps the first bytes of a stream. */
class BoundedOutput {
  readonly #chunks: Buffer[] = [];
  #remainingBytes: number;

  constructor(maxBytes: number) {
    this.#remainingBytes = maxBytes;
  }

  /** False when there is more than fits. */
  add(chunk: Buffer): boolean {
    if (this.#remainingBytes > 0) this.#chunks.push(chunk.subarray(0, this.#remainingBytes));
    this.#remainingBytes -= chunk.length;
    return this.#remainingBytes >= 0;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}
