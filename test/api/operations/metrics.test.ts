// The metrics endpoint after real turns, checked against the rules of its text format and of `promtool check metrics`.
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { OBSERVED_GAUGES } from "../../../src/domain/common/meters.js";
import { Metrics } from "../../../src/telemetry/metrics.js";
import { freePort } from "../../support/network/free-port.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";

/** One line of the text; for a histogram, its `_count`. */
type Sample = { name: string; labels: Record<string, string>; value: number };

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/g;

function samplesOf(text: string): Sample[] {
  return text.split("\n").flatMap((line) => {
    const [, name = "", labels = "", value = ""] = SAMPLE.exec(line) ?? [];
    if (name === "" || /_(bucket|sum)$/.test(name)) return [];
    const pairs = Array.from(labels.matchAll(LABEL), ([, label = "", words = ""]) => [label, words]);
    return [
      {
        name: name.replace(/_count$/, ""),
        labels: Object.fromEntries(pairs) as Sample["labels"],
        value: Number(value),
      },
    ];
  });
}

let environment: TestEnvironment;
let server: TestParley;
let address: string;
beforeAll(async () => {
  environment = await createTestEnvironment();
  address = `127.0.0.1:${await freePort()}`;
  server = await environment.start({ PARLEY_METRICS_ADDRESS: address });
});
afterAll(() => environment.remove());

async function scrape(): Promise<{ text: string; all: Sample[] }> {
  const response = await fetch(`http://${address}/metrics`);
  expect([response.status, response.headers.get("content-type")]).toEqual([
    200,
    "text/plain; version=0.0.4; charset=utf-8",
  ]);
  const text = await response.text();
  return { text, all: samplesOf(text) };
}

/** Reads the whole response: an unread one keeps its connection open. */
async function statusOf(url: string, method = "GET"): Promise<number> {
  const response = await fetch(url, { method });
  await response.arrayBuffer();
  return response.status;
}

/** The samples of a metric whose labels include these. */
function samples(all: Sample[], name: string, labels: Record<string, string> = {}): Sample[] {
  return all.filter(
    (sample) =>
      sample.name === `parley_${name}` &&
      Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  );
}

/** The sum of a metric's samples. */
function count(all: Sample[], name: string, labels?: Record<string, string>): number {
  return samples(all, name, labels).reduce((sum, { value }) => sum + value, 0);
}

test("after a turn with tools and a retried one, the metrics match the turns", async () => {
  const { api, workspaceId } = server;
  const { chatId, follower } = await api.quietChat({ workspaceId });
  const before = (await scrape()).all;
  const since = (after: Sample[]) => (name: string, labels?: Record<string, string>) =>
    count(after, name, labels) - count(before, name, labels);
  const turns = follower.transcript.log.length;
  await api.send(chatId, "run `ls`, then run `exit 3`");
  await follower.until(({ log }) => log.lastIndexOf("status WAITING") >= turns);
  const tools = follower.transcript.log.length;
  await api.send(chatId, "again [[demo: error=529 times=1 retry-after=0]]");
  await follower.until(({ log }) => log.lastIndexOf("status WAITING") >= tools);
  const { all: families } = await scrape();
  const more = since(families);
  expect({
    turns: more("turn_acquire_seconds"),
    calls: more("model_call_seconds", { outcome: "completed" }),
    failed: more("model_call_seconds", { outcome: "failed" }),
    retries: more("model_retries_total", { kind: "overloaded" }),
    tools: more("tool_call_seconds", { tool: "execute", outcome: "ok" }),
    sends: more("http_request_seconds", { operation: "mutation", status: "200" }),
    sockets: count(families, "open_sockets"),
    operations: count(families, "running_operations"),
    running: count(families, "running_chats"),
  }).toEqual({
    turns: 2,
    calls: 4,
    failed: 1,
    retries: 1,
    tools: 2,
    sends: 2,
    sockets: 1,
    operations: 1,
    running: 0,
  });
  expect(more("time_to_first_part_seconds")).toBe(4);
  expect(more("model_tokens_total", { kind: "output" })).toBeGreaterThan(0);
  expect(
    more("sql_statement_seconds", { statement: "chats-acquire-pending", outcome: "ok" }),
  ).toBeGreaterThan(1);
  await follower.close();
});

test("requests are counted by purpose, including refused ones", async () => {
  const before = (await scrape()).all;
  await server.api.get("{ viewer { user { id } } }");
  await statusOf(`${server.api.url}/graphql`, "POST");
  await statusOf(`${server.api.url}/files/file_x`);
  await statusOf(`${server.api.url}/nowhere/${Math.random()}`);
  const { all: families } = await scrape();
  const more = (operation: string, status: string) =>
    count(families, "http_request_seconds", { operation, status }) -
    count(before, "http_request_seconds", { operation, status });
  expect([more("query", "200"), more("other", "401"), more("file", "401"), more("other", "404")]).toEqual([
    1, 1, 1, 1,
  ]);
});

/** The problems that `promtool check metrics` would report, limited to its rules on names, kinds and units. */
function problemsOf(text: string): string[] {
  const lines = text.split("\n").filter((line) => line !== "");
  const kinds = new Map(
    lines.flatMap((line): [string, string][] => {
      const [, name, kind] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
      return name === undefined || kind === undefined ? [] : [[name, kind]];
    }),
  );
  const helps = new Set(lines.flatMap((line) => /^# HELP (\S+) \S/.exec(line)?.[1] ?? []));
  const series = lines.filter((line) => !line.startsWith("#")).map((line) => line.replace(/ \S+$/, ""));
  const problems = series.filter((line, index) => series.indexOf(line) !== index).map((it) => `twice: ${it}`);
  for (const line of series) {
    const name = /^[a-zA-Z_:][a-zA-Z0-9_:]*/.exec(line)?.[0] ?? "";
    const family = name.replace(/_(bucket|sum|count)$/, "");
    if (!kinds.has(name) && !kinds.has(family)) problems.push(`no type: ${name}`);
  }
  for (const [name, kind] of kinds) {
    const say = (problem: string) => problems.push(`${problem}: ${name}`);
    if (!helps.has(name)) say("no help text");
    if (!name.startsWith("parley_")) continue;
    if (!/^[a-z][a-z0-9_]*$/.test(name)) say("not in snake_case");
    if ((kind === "counter") !== name.endsWith("_total"))
      say("only counters, and all of them, end in _total");
    if (/_(bucket|sum|count|info|gauge|counter|histogram|summary)$/.test(name))
      say("a suffix with a meaning");
    if (/_(ms|millis|milliseconds|minutes|hours|kb|mb|kilobytes|percent)(_|$)/.test(name))
      say("not a base unit");
    if (kind === "histogram" && !/_(seconds|bytes)$/.test(name)) say("a histogram without its unit");
  }
  return problems;
}

test("names, types and units follow Prometheus conventions, and no series is duplicated", async () => {
  const { text } = await scrape();
  expect(text).toContain("# TYPE process_cpu_seconds_total counter");
  expect(text).toContain("nodejs_eventloop_lag_seconds ");
  expect(problemsOf(text)).toEqual([]);
});

test.each([
  ["# TYPE parley_a_total counter\nparley_a_total 1", "no help text: parley_a_total"],
  [
    "# HELP parley_a b\n# TYPE parley_a counter\nparley_a 1",
    "only counters, and all of them, end in _total: parley_a",
  ],
  ["# HELP parley_a_ms b\n# TYPE parley_a_ms gauge\nparley_a_ms 1", "not a base unit: parley_a_ms"],
  ["# HELP parley_a b\n# TYPE parley_a gauge\nparley_a 1\nparley_a 2", "twice: parley_a"],
  ["parley_a 1", "no type: parley_a"],
])("a scrape that violates a rule is detected: %j", (text, problem) => {
  expect(problemsOf(text)).toEqual([problem]);
});

test("labels from admins' input have bounded cardinality", async () => {
  const metrics = new Metrics();
  for (let index = 0; index < 300; index += 1)
    metrics.mcpCall({ server: `server-${index}`, outcome: "ok", seconds: 1 });
  const families = samplesOf((await metrics.read()).text);
  expect(samples(families, "mcp_call_seconds")).toHaveLength(201);
  expect(count(families, "mcp_call_seconds", { server: "other" })).toBe(100);
});

test("the endpoint only serves metrics, and is disabled by default", async () => {
  const status = (path: string, method: string) => statusOf(`http://${address}${path}`, method);
  expect([
    await status("/metrics", "POST"),
    await status("/", "GET"),
    await status("/metrics?x=1", "GET"),
  ]).toEqual([405, 404, 200]);
  expect(await statusOf(`${server.api.url}/metrics`)).toBe(404);
});

test("the operators' page documents every metric with its type", async () => {
  const metrics = new Metrics();
  for (const watched of OBSERVED_GAUGES) metrics.observe(watched, () => 0);
  const page = await readFile("docs/operate/observability.md", "utf8");
  const ours = metrics.describe().filter(({ name }) => name.startsWith("parley_"));
  const row = ({ name, kind }: { name: string; kind: string }) =>
    new RegExp(`\\| \`${name}\` +\\| ${kind} +\\|`);
  expect(ours.filter((metric) => !row(metric).test(page)).map(({ name }) => name)).toEqual([]);
  expect(ours.length).toBeGreaterThan(15);
});
