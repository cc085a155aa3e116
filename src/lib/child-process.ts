/**
 * The only door to other programs: each gets an environment that its starter chose. Node's own functions hand down the
 * whole environment, secrets included, when a caller says nothing.
 */
import {
  execFile,
  spawn,
  type ChildProcess,
  type ChildProcessByStdio,
  type ExecFileOptions,
  type SpawnOptions,
  type SpawnOptionsWithStdioTuple,
  type StdioNull,
  type StdioPipe,
} from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { promisify } from "node:util";

export type { ChildProcess, ChildProcessByStdio } from "node:child_process";

/** The whole environment of the program. */
type Chosen = { env: Readonly<Record<string, string | undefined>> };

/** More pipes may follow. */
type AllPiped = SpawnOptions & { stdio: [StdioPipe, StdioPipe, StdioPipe, ...StdioPipe[]] } & Chosen;
type OutputPiped = SpawnOptionsWithStdioTuple<StdioNull, StdioPipe, StdioPipe> & Chosen;

/** As Node's `spawn`. */
export function startProgram(
  program: string,
  programArguments: readonly string[],
  options: AllPiped,
): ChildProcessByStdio<Writable, Readable, Readable>;
export function startProgram(
  program: string,
  programArguments: readonly string[],
  options: OutputPiped,
): ChildProcessByStdio<null, Readable, Readable>;
export function startProgram(
  program: string,
  programArguments: readonly string[],
  options: SpawnOptions & Chosen,
): ChildProcess;
export function startProgram(
  program: string,
  programArguments: readonly string[],
  options: SpawnOptions & Chosen,
): ChildProcess {
  return spawn(program, programArguments, options);
}

const execute = promisify(execFile);

/** As Node's `execFile`: runs a short program to its end; rejects when it fails. */
export function runProgram(
  program: string,
  programArguments: readonly string[],
  options: ExecFileOptions & Chosen,
): Promise<{ stdout: string; stderr: string }> {
  return execute(program, [...programArguments], { ...options, encoding: "utf8" });
}
