// The programs as users get them, built once before all tests and only when their sources changed.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";

const root = resolve(import.meta.dirname, "../..");

/** The server, and the workspace agent. */
export const SERVER_PROGRAM = join(root, "dist/bin/server.js");
export const AGENT_PROGRAM = join(root, "dist/bin/agent.js");

/** Programs that only tests start, by the file they are made from. */
const TEST_PROGRAMS = {
  "clocked-agent": "test/agent/clocked-agent.ts",
  "identity-provider": "test/support/users/identity-provider-program.ts",
  "load-config": "test/support/load-config-program.ts",
  "open-database": "test/support/database/open-database.ts",
  supervisor: "test/agent/process/supervisor-program.ts",
};

/** Started dozens of times: with its packages in the bundle a start takes half as long. */
const WHOLE_TEST_PROGRAMS = { "mcp-server": "test/agent/mcp/mcp-server-program.ts" };

/** The file of such a program, for Node to run. */
export function testProgram(name: keyof typeof TEST_PROGRAMS | keyof typeof WHOLE_TEST_PROGRAMS): string {
  return join(root, `dist/test/${name}.js`);
}

const SOURCES = [
  "src",
  "migrations",
  "scripts",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "tsconfig.build.json",
  ...Object.values(TEST_PROGRAMS),
  ...Object.values(WHOLE_TEST_PROGRAMS),
];
const STAMP = join(root, "dist/.sources");

/** Builds the programs unless they were built from the same sources. */
export async function buildPrograms(): Promise<void> {
  const sources = fingerprint();
  if (existsSync(SERVER_PROGRAM) && existsSync(STAMP) && readFileSync(STAMP, "utf8") === sources) return;
  await promisify(execFile)("npm", ["run", "--silent", "build"], { cwd: root });
  const options = {
    absWorkingDir: root,
    outdir: "dist/test",
    bundle: true,
    platform: "node",
    format: "esm",
    define: { PARLEY_PROGRAMS: '"../bin/"' },
    logLevel: "warning",
  } as const;
  await build({ ...options, entryPoints: TEST_PROGRAMS, splitting: true, packages: "external" });
  const banner = {
    js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
  };
  await build({ ...options, entryPoints: WHOLE_TEST_PROGRAMS, minifySyntax: true, banner });
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
