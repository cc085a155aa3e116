/**
 * One run of git that only looks: nothing of the user's or the machine's configuration has a say, nothing is locked,
 * asked for or written. Every run is bounded in time and in output; whatever goes beyond is killed with all that it
 * started.
 */
import { spawn } from "node:child_process";
import { errorCode, errorText } from "../outcome.js";
import type { Environment } from "../process/environment.js";
import { signalGroup } from "../process/process-group.js";
import type { Clock } from "../../lib/clock.js";

/** Even a status of a huge repository on a cold disk is done by then; a git that hangs is not waited for. */
export const GIT_TIMEOUT_MS = 30_000;
/** Enough of what git complains about to understand it in a log. */
const MAX_COMPLAINT_BYTES = 4 * 1024;

/** Local settings of a repository that would change the output, run other programs or write beside a temporary index. */
const PINNED_SETTINGS = [
  "core.quotePath=false",
  "core.fsmonitor=false",
  "core.untrackedCache=false",
  "core.splitIndex=false",
  "core.hooksPath=/dev/null",
  "core.abbrev=auto",
  // Git reads a file whole to compare it; what is larger counts as binary.
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
  // A partial clone would fetch what it lacks from the network.
  GIT_NO_LAZY_FETCH: "1",
};

export type GitRun = {
  directory: string;
  arguments: readonly string[];
  /** Written to its standard input; without it there is none. */
  input?: Buffer;
  /** An index of one's own in place of the repository's. */
  indexFile?: string;
  /** Longer output ends the run. */
  maxBytes: number;
};

export type GitOutcome =
  | { kind: "ended"; exitCode: number; output: Buffer; complaint: string }
  /** `output` is the beginning, at most `maxBytes` of it. */
  | { kind: "too-long"; output: Buffer }
  | { kind: "timed-out" }
  /** There is no git, or it cannot be started. */
  | { kind: "not-started"; complaint: string };

export type RunGit = (run: GitRun, signal: AbortSignal) => Promise<GitOutcome>;

export type GitOptions = {
  /** What git inherits beside what is pinned. */
  environment: Environment;
  clock: Clock;
  /** Directories that git may look into though they belong to another user, as in `safe.directory`. */
  trustedDirectories?: readonly string[];
  timeoutMs?: number;
};

/** Rejects only with the reason of an aborted `signal`; by then git is gone. */
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

/** What the user's and the machine's own settings trust; the one thing that they may say. */
export async function readTrustedDirectories(options: GitOptions, signal: AbortSignal): Promise<string[]> {
  const run = {
    directory: "/",
    arguments: ["config", "-z", "--get-all", "safe.directory"],
    maxBytes: 64 * 1024,
  };
  const limits = { clock: options.clock, timeoutMs: options.timeoutMs ?? GIT_TIMEOUT_MS };
  const outcome = await runBounded(run, options.environment, limits, signal);
  // Exit code 1 says that nothing is set.
  if (outcome.kind !== "ended" || outcome.exitCode !== 0) return [];
  // An empty value takes back what was said before it; git does that itself when it is given the same list.
  return outcome.output.toString("utf8").split("\0").slice(0, -1);
}

/** Those of an enclosing git, such as `GIT_DIR`, would lead it to another repository. */
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
  const child = spawn("git", run.arguments, {
    cwd: run.directory,
    env: environment,
    detached: true,
    stdio: [run.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  const output = new BoundedOutput(run.maxBytes);
  const complaint = new BoundedOutput(MAX_COMPLAINT_BYTES);
  let verdict: Verdict | undefined;
  const end = (kind: Verdict["kind"]) => {
    verdict ??= { kind };
    if (child.pid !== undefined) signalGroup(child.pid, "SIGKILL");
    // Whoever left the group may hold them open for ever.
    child.stdout?.destroy();
    child.stderr?.destroy();
  };
  const abort = () => end("aborted");
  signal.addEventListener("abort", abort, { once: true });
  const cancelTimeout = limits.clock.after(limits.timeoutMs, () => end("timed-out"));
  child.stdout?.on("data", (chunk: Buffer) => {
    if (!output.add(chunk)) end("too-long");
  });
  child.stderr?.on("data", (chunk: Buffer) => void complaint.add(chunk));
  // It may end without having read all of its input; how it ended says what there is to say.
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
      const said = complaint.bytes().toString("utf8").trim();
      resolve({ kind: "ended", exitCode: code ?? -1, output: output.bytes(), complaint: said });
    });
  });
}

function notStarted(failure: unknown): GitOutcome {
  const code = errorCode(failure);
  return { kind: "not-started", complaint: code === undefined ? errorText(failure) : `git: ${code}` };
}

/** Keeps the first bytes of a stream. */
class BoundedOutput {
  readonly #chunks: Buffer[] = [];
  #room: number;

  constructor(maxBytes: number) {
    this.#room = maxBytes;
  }

  /** False when there is more than fits. */
  add(chunk: Buffer): boolean {
    if (this.#room > 0) this.#chunks.push(chunk.subarray(0, this.#room));
    this.#room -= chunk.length;
    return this.#room >= 0;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}
