/**
 * Hides the environment that this process was started with: Linux shows it to every process of the same user in
 * `/proc/<pid>/environ` for as long as this one lives, whatever becomes of `process.env`.
 */
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { environmentRange } from "./process-stat.js";

/** `reason`: why other processes of this user can still read it. */
export type HiddenEnvironment = { kind: "hidden" } | { kind: "visible"; reason: string };

/**
 * Moves all variables to the heap, where `process.env` finds them as before, and overwrites the block that the kernel
 * shows. Call it first, before other threads read variables. Never throws; systems without /proc have nothing to hide
 * from it.
 */
export function hideInitialEnvironment(): HiddenEnvironment {
  if (process.platform !== "linux") return { kind: "hidden" };
  try {
    // The C library never writes into the initial block: a variable that is set again gets memory of its own.
    for (const [name, value] of Object.entries(process.env)) process.env[name] = value;
    const range = environmentRange(readFileSync("/proc/self/stat", "utf8"));
    if (range !== undefined) overwrite(range);
    const isHidden = readFileSync("/proc/self/environ").every((byte) => byte === 0);
    return isHidden ? { kind: "hidden" } : { kind: "visible", reason: "the block is still there" };
  } catch (error) {
    return { kind: "visible", reason: error instanceof Error ? error.message : String(error) };
  }
}

/** With zeros. A process may always write its own memory. */
function overwrite({ start, length }: { start: number; length: number }): void {
  const memory = openSync("/proc/self/mem", "r+");
  try {
    writeSync(memory, Buffer.alloc(length), 0, length, start);
  } finally {
    closeSync(memory);
  }
}

/** As `hideInitialEnvironment`, for programs: says on standard error when it did not work. */
export function hideInitialEnvironmentOrWarn(): void {
  const outcome = hideInitialEnvironment();
  if (outcome.kind === "hidden") return;
  process.stderr.write(
    `parley: other processes of this user can read the environment that this one was started with, secrets included: ${outcome.reason}\n`,
  );
}
