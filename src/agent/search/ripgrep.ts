/** Lets ripgrep, where the machine has it, say which files have how many matching lines: it is far faster. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
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
const MAX_COMPLAINT_BYTES = 4 * 1024;

/** Nothing that a user or a project has configured may change what is found. */
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

type Run = { output: Buffer; complaint: string; exitCode: number | null; wasStopped: boolean };

export class Ripgrep {
  #isUsable: Promise<boolean> | undefined;

  constructor(private readonly options: { environment: Environment; clock: Clock; log: Log }) {}

  /**
   * Undefined when there is no ripgrep or it cannot answer; why is in the log. The counts may have files that git
   * leaves out, but miss none that it does not. Incomplete when the time or the room for the output was over.
   */
  async count(search: RipgrepSearch, signal: AbortSignal): Promise<RipgrepCounts | undefined> {
    this.#isUsable ??= this.#findOut();
    if (!(await this.#isUsable)) return undefined;
    const run = await this.#run(argumentsFor(search), {
      folder: search.scope.folder,
      timeMs: search.timeMs,
      maxBytes: MAX_OUTPUT_BYTES,
      signal,
    });
    if (signal.aborted) return undefined;
    const isAnswer = run.wasStopped || (run.complaint === "" && run.exitCode !== null);
    if (!isAnswer) {
      this.options.log.warn({ exitCode: run.exitCode, complaint: run.complaint }, "ripgrep did not answer");
      return undefined;
    }
    return { bytes: run.output, isComplete: !run.wasStopped };
  }

  async #findOut(): Promise<boolean> {
    const { output, complaint, exitCode } = await this.#run(["--version"], {
      folder: "/",
      timeMs: VERSION_TIME_MS,
      maxBytes: MAX_VERSION_BYTES,
      signal: new AbortController().signal,
    });
    const version = /^ripgrep (\d+)\./.exec(output.toString("utf8"))?.[1];
    const isUsable = version !== undefined && Number(version) >= OLDEST_MAJOR_VERSION;
    this.options.log.info({ isUsable, version, exitCode, complaint }, "Looked for ripgrep");
    return isUsable;
  }

  /** Never rejects; a program that cannot be started ends with a complaint. */
  async #run(
    programArguments: readonly string[],
    bounds: { folder: string; timeMs: number; maxBytes: number; signal: AbortSignal },
  ): Promise<Run> {
    const { PATH = "" } = this.options.environment;
    const child = spawn(PROGRAM, programArguments, {
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
    const output = gather(child.stdout, bounds.maxBytes, stop);
    const complaint = gather(child.stderr, MAX_COMPLAINT_BYTES, () => {});
    const exit = await endOf(child);
    stopTimer();
    return {
      output: Buffer.concat(output),
      complaint: exit.error ?? Buffer.concat(complaint).toString("utf8"),
      exitCode: exit.code,
      wasStopped,
    };
  }
}

function argumentsFor({ scope, pattern, ignoreCase }: RipgrepSearch): string[] {
  return [
    ...PINNED_ARGUMENTS,
    ...(scope.usesIgnoreFiles ? [] : ["--no-ignore"]),
    // Outside of a repository no rules come from above.
    ...(scope.repository === undefined ? ["--no-ignore-parent"] : []),
    ignoreCase ? "--ignore-case" : "--case-sensitive",
    `--regexp=${pattern}`,
    "--",
    "./",
  ];
}

function gather(stream: NodeJS.ReadableStream, maxBytes: number, overflow: () => void): Buffer[] {
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
