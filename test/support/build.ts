// The programs as users get them, built once before all tests and only when their sources changed.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const root = resolve(import.meta.dirname, "../..");

/** The server, and the workspace agent. */
export const SERVER_PROGRAM = join(root, "dist/bin/server.js");
export const AGENT_PROGRAM = join(root, "dist/bin/agent.js");

/** Node, so that it can start a program of this project from its source. */
export const NODE_FROM_SOURCE = [
  process.execPath,
  "--import",
  join(root, "node_modules/@oxc-node/core/register.mjs"),
] as const;

const SOURCES = [
  "src",
  "migrations",
  "scripts",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "tsconfig.build.json",
];
const STAMP = join(root, "dist/.sources");

/** Builds the programs unless they were built from the same sources. */
export async function buildPrograms(): Promise<void> {
  const sources = fingerprint();
  if (existsSync(SERVER_PROGRAM) && existsSync(STAMP) && readFileSync(STAMP, "utf8") === sources) return;
  await promisify(execFile)("npm", ["run", "--silent", "build"], { cwd: root });
  writeFileSync(STAMP, sources);
}

/** Changes whenever a source file is written, added or removed. */
function fingerprint(): string {
  const hash = createHash("sha256");
  const add = (path: string) => {
    const found = statSync(join(root, path));
    if (!found.isDirectory()) return void hash.update(`${path} ${found.size} ${found.mtimeMs}\n`);
    for (const name of readdirSync(join(root, path)).sort())
      if (!name.endsWith(".test.ts")) add(join(path, name));
  };
  SOURCES.forEach(add);
  return hash.digest("hex");
}
