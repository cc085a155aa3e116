// The programs as users get them. They are compiled once before all tests: compiled ones start in half the time.
import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const root = resolve(import.meta.dirname, "../..");

/** The server, and the workspace agent. */
export const SERVER_PROGRAM = join(root, "dist/src/server.js");
export const AGENT_PROGRAM = join(root, "dist/src/agent/main.js");

/** Node, so that it can start a program of this project from its source. */
export const NODE_FROM_SOURCE = [
  process.execPath,
  "--import",
  join(root, "node_modules/@oxc-node/core/register.mjs"),
] as const;

/** Compiles what is not compiled yet. */
export async function buildPrograms(): Promise<void> {
  const run = promisify(execFile);
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  await run(process.execPath, [compiler, "-p", "tsconfig.build.json"], { cwd: root });
  await run(process.execPath, ["scripts/copy-assets.mjs"], { cwd: root });
}
