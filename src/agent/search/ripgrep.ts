/** Counts of matching lines by file from ripgrep, where it is installed: far faster than reading every file. */
import { once } from "node:events";
import { startProgram, type ChildProcess } from "../../lib/child-process.js";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import { errorText } from "../outcome.js";
import type { Environment } from "../process/environment.js";
import { MAX_SEARCHED_FILE_BYTES } from "../protocol/search.js";
import type { SearchScope } from "./ignore-files.js";
import type { RipgrepCounts } from "./jobs.js";

const PROGRAM = "rg";
/** The first version that knows all the options used here, from 2021. */
const OLDEST_MAJOR_VERSION = 13;
const VERSION_TIME_MS = 5_000;
const MAX_VERSION_BYTES = 4 * 1024;
/** Paths of some hundred thousand files. */
const MAX_OUTPUT_BYTES = 32 * 1024 * 1024;
const MAX_STDERR_BYTES = 4 * 1024;

/** Makes results independent of the user's and the project's configuration. */
const PINNED_ARGUMENTS = [
  "--no-config",
  "--no-messages",
  "--color=never",
  "--count",
  "--null",
  "--crlf",
  "--no-mmap",
  `--max-filesize=${MAX_SEARCHED_FILE_BYTES}`,
  "--hidden",
  "--glob=!.git",
  "--no-require-git",
  "--no-ignore-dot",
  "--no-ignore-global",
];

export type RipgrepSearch = { scope: SearchScope; pattern: string; ignoreCase: boolean; timeMs: number };

type Run = { output: Buffer; stderr: string; exitCode: number | null; wasStopped: boolean };

export class Ripgrep {
  #isUsable: Promise<boolean> | undefined;

  constructor(private readonly options: { environment: Environment; clock: Clock; log: Log }) {}

  /**
   * Undefined when ripgrep is not installed or has failed, which is logged. The counts may include files that git
   * ignores, but miss none that it does not. Incomplete when the time or the output limit was reached.
   */
  async count(search: RipgrepSearch, signal: AbortSignal): Promise<RipgrepCounts | undefined> {
    this.#isUsable ??= this.#checkVersion();
    if (!(await this.#isUsable)) return undefined;
    const run = await this.#run(argumentsFor(search), {
      folder: search.scope.folder,
      timeMs: search.timeMs,
      maxBytes: MAX_OUTPUT_BYTES,
      signal,
    });
    if (signal.aborted) return undefined;
    const isAnswer = run.wasStopped || (run.stderr === "" && run.exitCode !== null);
    if (!isAnswer) {
      this.options.log.warn({ exitCode: run.exitCode, stderr: run.stderr }, "ripgrep failed");
      return undefined;
    }
    return { bytes: run.output, isComplete: !run.wasStopped };
  }

  async #checkVersion(): Promise<boolean> {
    const { output, stderr, exitCode } = await this.#run(["--version"], {
      folder: "/",
      timeMs: VERSION_TIME_MS,
      maxBytes: MAX_VERSION_BYTES,
      signal: new AbortController().signal,
    });
    const version = /^ripgrep (\d+)\./.exec(output.toString("utf8"))?.[1];
    const isUsable = version !== undefined && Number(version) >= OLDEST_MAJOR_VERSION;
    this.options.log.info({ isUsable, version, exitCode, stderr }, "checked for ripgrep");
    return isUsable;
  }

  /** Never rejects; for a program that cannot be started `stderr` is the reason. */
  async #run(
    programArguments: readonly string[],
    bounds: { folder: string; timeMs: number; maxBytes: number; signal: AbortSignal },
  ): Promise<Run> {
    const { PATH = "" } = this.options.environment;
    const child = startProgram(PROGRAM, programArguments, {
      cwd: bounds.folder,
      env: { PATH, LC_ALL: "C.UTF-8" },
      stdio: ["ignore", "pipe", "pipe"],
      signal: bounds.signal,
      killSignal: "SIGKILL",
    });
    let wasStopped = false;
    const stop = () => {
      wasStopped = true;
      child.kill("SIGKILL");
    };
    const stopTimer = this.options.clock.after(bounds.timeMs, stop);
    const output = collect(child.stdout, bounds.maxBytes, stop);
    const stderr = collect(child.stderr, MAX_STDERR_BYTES, () => {});
    const exit = await endOf(child);
    stopTimer();
    return {
      output: Buffer.concat(output),
      stderr: exit.error ?? Buffer.concat(stderr).toString("utf8"),
      exitCode: exit.code,
      wasStopped,
    };
  }
}

function argumentsFor({ scope, pattern, ignoreCase }: RipgrepSearch): string[] {
  return [
    ...PINNED_ARGUMENTS,
    ...(scope.usesIgnoreFiles ? [] : ["--no-ignore"]),
    // Outside of a repository no rules of parent folders apply.
    ...(scope.repository === undefined ? ["--no-ignore-parent"] : []),
    ignoreCase ? "--ignore-case" : "--case-sensitive",
    `--regexp=${pattern}`,
    "--",
    "./",
  ];
}

function collect(stream: NodeJS.ReadableStream, maxBytes: number, overflow: () => void): Buffer[] {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
    else overflow();
  });
  return chunks;
}

async function endOf(child: ChildProcess): Promise<{ code: number | null; error?: string }> {
  try {
    const [code] = (await once(child, "close")) as [number | null];
    return { code };
  } catch (error) {
    return { code: null, error: errorText(error) };
  }
}
