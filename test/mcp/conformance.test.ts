// The official conformance suite for clients, against Parley's own. The suite itself needs Node 22, also where Parley
// runs on 20: PARLEY_TEST_NODE names the program of a newer one.
import { spawn } from "node:child_process";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { has } from "../support/requirements.js";

const ROOT = resolve(import.meta.dirname, "../..");
const SUITE = join(ROOT, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
const SUITE_NODE = process.env["PARLEY_TEST_NODE"] ?? process.execPath;
const SCENARIOS = 26;
/** Both belong to the scenario in which a machine exchanges an identity provider's token. */
const FAILING_CHECKS = 2;
/** What the official SDK itself passes. */
const LEAST_CHECKS = 337;
const SCENARIO_MS = 120_000;
/** A line of the suite's summary. */
const SUMMARY = /^[✓✗] (\S+): (\d+) passed, (\d+) failed/gm;
/** The end of a scenario that ran alone. */
const ALONE = /^Passed: (\d+)\/\d+, (\d+) failed/m;

type Row = { scenario: string; passed: number; failed: number };

let folder: string;
let program: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "parley-conformance-"));
  // In one file it starts in half the time, and it is started for every scenario. It looks for package.json above.
  program = join(folder, "dist/test/client.mjs");
  await copyFile(join(ROOT, "package.json"), join(folder, "package.json"));
  await build({
    entryPoints: [join(ROOT, "test/mcp/conformance-client.ts")],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    // Parts of it are CommonJS, and ask for Node's own modules.
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    logLevel: "silent",
  });
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** The suite's output, whether it passes or fails. */
async function runSuite(which: readonly string[]): Promise<string> {
  const command = `"${process.execPath}" "${program}"`;
  const args = [SUITE, "client", "--command", command, "--timeout", String(SCENARIO_MS), ...which];
  const child = spawn(SUITE_NODE, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  let words = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => (words += chunk));
  await new Promise((ended, failed) => child.once("close", ended).once("error", failed));
  return words;
}

function rowsOf(words: string): Row[] {
  return Array.from(words.matchAll(SUMMARY), ([, scenario = "", passed, failed]) => ({
    scenario,
    passed: Number(passed),
    failed: Number(failed),
  }));
}

/** Programs that start all at once may starve each other, so failures are repeated alone. */
async function again(row: Row): Promise<Row> {
  const [, passed, failed] = ALONE.exec(await runSuite(["--scenario", row.scenario])) ?? [];
  return passed === undefined ? row : { ...row, passed: Number(passed), failed: Number(failed) };
}

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);

test.runIf(has("newer-node"))(
  "the client passes the official suite, but for authorisation across applications",
  { timeout: 300_000 },
  async () => {
    const rows: Row[] = [];
    for (const row of rowsOf(await runSuite(["--suite", "all"])))
      rows.push(row.failed === 0 ? row : await again(row));
    const passed = sum(rows.map((row) => row.passed));
    const all = passed + sum(rows.map((row) => row.failed));
    const lines = rows.map((row) => `${row.scenario.padEnd(44)} ${row.passed} passed, ${row.failed} failed`);
    process.stdout.write(`${lines.join("\n")}\nMCP conformance of the client: ${passed} of ${all} checks\n`);
    expect(rows.filter(({ failed }) => failed > 0).map(({ scenario }) => scenario)).toEqual([
      "auth/cross-app-access-complete-flow",
    ]);
    // The number of checks depends on the number of requests: each request's token is one.
    expect([rows.length, all - passed]).toEqual([SCENARIOS, FAILING_CHECKS]);
    expect(passed).toBeGreaterThanOrEqual(LEAST_CHECKS);
  },
);
