/** Starts the shell of one command, in a process group of its own and with a lower priority than the agent. */
import { once } from "node:events";
import { closeSync, readFileSync } from "node:fs";
import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { startProgram, type ChildProcess } from "../../lib/child-process.js";
import { errorCode, errorText, refused, type Refusal } from "../outcome.js";
import type { Environment } from "./environment.js";
import { closePipe, type OutputPipe } from "./output-pipes.js";

/** A running shell. `output` is stdout and stderr of it and its children, in the order of writing. */
export type StartedShell = { child: ChildProcess; groupId: number; output: Readable };

/** Added to the agent's own OOM score, at most 1000: the kernel kills commands before the agent. */
const OOM_SCORE_STEP = 500;
const MAX_OOM_SCORE = 1000;

/** `oomScore` is undefined where the system has none. */
export type Priority = { oomScore: number | undefined; nice: number };

/** `nice` from 0 (as the agent) to 19 (lowest priority). */
export function commandPriority(nice: number): Priority {
  try {
    const own = Number(readFileSync("/proc/self/oom_score_adj", "utf8"));
    return { oomScore: Math.min(MAX_OOM_SCORE, Math.max(0, own) + OOM_SCORE_STEP), nice };
  } catch {
    return { oomScore: undefined, nice };
  }
}

/**
 * Script that sets the priority of its process and then replaces itself by the command, which is `$0`. A system that
 * refuses the score or has no `nice` runs the command all the same.
 */
export function preludeScript({ oomScore, nice }: Priority): string {
  const score =
    oomScore === undefined ? [] : [`{ echo ${oomScore} > /proc/self/oom_score_adj; } 2> /dev/null`];
  const niceShell =
    nice === 0 ? [] : [`command -v nice > /dev/null && exec nice -n ${nice} sh -c -- "$0" 2>&1`];
  return [...score, ...niceShell, 'exec sh -c -- "$0" 2>&1'].join("; ");
}

/** Takes ownership of `pipe`, also on failure. Synchronous on success; a promise only for a refusal. */
export function launch(options: {
  command: string;
  directory: string;
  environment: Environment;
  priority: Priority;
  pipe: OutputPipe | undefined;
}): StartedShell | Promise<Refusal> {
  const { command, directory, environment, priority, pipe } = options;
  let child: ChildProcess;
  try {
    child = startProgram("sh", ["-c", preludeScript(priority), command], {
      cwd: directory,
      detached: true,
      stdio: pipe ? ["ignore", pipe.writeFd, pipe.writeFd] : ["ignore", "pipe", "ignore"],
      env: environment,
    });
  } catch (error) {
    if (pipe !== undefined) closePipe(pipe);
    return Promise.resolve(spawnFailure(error));
  }
  if (child.pid === undefined) {
    if (pipe !== undefined) closePipe(pipe);
    return once(child, "error").then(([error]: unknown[]) => spawnFailure(error));
  }
  if (pipe !== undefined) closeSync(pipe.writeFd);
  const output = pipe ? new Socket({ fd: pipe.readFd, readable: true, writable: false }) : child.stdout;
  if (output === null) throw new Error("A child whose output is piped has no output.");
  return { child, groupId: child.pid, output };
}

const SHELL_HINT =
  "The workspace has no POSIX shell: `sh` is not on the PATH of the agent or of this request. Install one (any of " +
  "dash, bash or busybox will do) or correct PATH.";

function spawnFailure(error: unknown): Refusal {
  const detail = errorText(error);
  if (errorCode(error) === "ENOENT")
    return refused(500, `The command could not be started. ${SHELL_HINT}`, { detail });
  if (errorCode(error) === "E2BIG") {
    const message = "The command and its environment together are longer than the system takes.";
    return refused(400, message, { field: "env", detail });
  }
  return refused(500, "The command could not be started.", { detail });
}
