// What an OpenTelemetry collector receives for requests and turns, over its real protocol.
import { createServer, type IncomingHttpHeaders } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createClient } from "graphql-ws";
import { WebSocket } from "ws";
import { createLog } from "../../../src/lib/log.js";
import { MAX_WAITING_SPANS, openTraces } from "../../../src/telemetry/open-traces.js";
import { ManualClock } from "../../http/support.js";
import {
  type OtlpReceiver,
  type ReceivedSpan,
  startOtlpReceiver,
} from "../../support/network/otlp-receiver.js";
import {
  createTestEnvironment,
  type Settings,
  type TestParley,
  type TestEnvironment,
} from "../../support/parley.js";

let environment: TestEnvironment;
let collector: OtlpReceiver;
beforeAll(async () => {
  [environment, collector] = await Promise.all([createTestEnvironment(), startOtlpReceiver()]);
});
beforeEach(() => {
  collector.spans.length = 0;
  collector.requests.length = 0;
  collector.status = 200;
});
afterAll(async () => {
  await environment.remove();
  await collector.close();
});

const start = (settings: Settings = {}): Promise<TestParley> =>
  environment.start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...settings });

/** A span and its descendants by name, without database statements, whose number and order may vary. */
type Tree = { name: string; within: Tree[] };

const isStatement = ({ facts }: ReceivedSpan) => "db.operation.name" in facts;

function treeOf(root: ReceivedSpan): Tree {
  const within = collector.spans
    .filter((span) => span.parentSpanId === root.spanId && !isStatement(span))
    .sort((a, b) => Number(BigInt(a.startTimeUnixNano) - BigInt(b.startTimeUnixNano)));
  return { name: root.name, within: within.map(treeOf) };
}

const named = (name: string) => collector.spans.filter((span) => span.name === name);
const one = (name: string): ReceivedSpan => {
  const [found, second] = named(name);
  if (!found || second) throw new Error(`There are ${named(name).length} spans called ${name}.`);
  return found;
};

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const SEND = `mutation Send($input: SendChatMessageInput!) {
  sendChatMessage(input: $input) { userErrors { message } }
}`;

async function post(
  server: TestParley,
  body: object,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${server.api.url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${server.api.token}`, ...headers },
    body: JSON.stringify(body),
  });
}

test("a turn with a tool is one trace, linked to the request that started it", async () => {
  const server = await start({ OTEL_EXPORTER_OTLP_HEADERS: "api-key=k%201", OTEL_SERVICE_NAME: "chats" });
  const { chatId, follower } = await server.api.quietChat({ workspaceId: server.workspaceId });
  const before = follower.transcript.log.length;
  const variables = { input: { chatId, parts: [{ text: { text: "run `echo hush-hush`" } }] } };
  const sent = await post(
    server,
    { query: SEND, variables },
    {
      traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01`,
      "x-request-id": "request.of-the-test",
    },
  );
  expect(await sent.json()).toEqual({ data: { sendChatMessage: { userErrors: [] } } });
  await follower.until(({ log }) => log.lastIndexOf("status WAITING") >= before);
  await follower.close();
  await server.close();

  const request = collector.spans.find(({ facts }) => facts["parley.request_id"] === "request.of-the-test");
  expect(request).toMatchObject({
    name: "POST /graphql",
    traceId: TRACE_ID,
    parentSpanId: "b7ad6b7169203331",
    resource: { "service.name": "chats" },
    facts: { "http.request.method": "POST", "http.route": "/graphql", "http.response.status_code": 200 },
  });
  expect(treeOf(request!)).toEqual({
    name: "POST /graphql",
    within: [{ name: "mutation Send", within: [] }],
  });
  const operation = one("mutation Send");
  expect(collector.spans.some((span) => isStatement(span) && span.parentSpanId === operation.spanId)).toBe(
    true,
  );

  const turn = named("turn").find(({ links = [] }) => links[0]?.traceId === TRACE_ID)!;
  expect(turn.links).toMatchObject([{ traceId: TRACE_ID, spanId: operation.spanId }]);
  expect([turn.parentSpanId ?? "", turn.traceId === TRACE_ID]).toEqual(["", false]);
  const model = String(named("turn").length > 0 && treeOf(turn).within[0]?.name);
  expect(treeOf(turn)).toEqual({
    name: "turn",
    within: [
      { name: model, within: [] },
      { name: "execute_tool execute", within: [] },
      { name: model, within: [] },
    ],
  });
  const parts = collector.spans.filter(({ parentSpanId }) => parentSpanId === turn.spanId);
  expect(parts.find(({ name }) => name === model)?.facts).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": expect.any(String),
    "gen_ai.request.model": model.replace("chat ", ""),
    "gen_ai.usage.output_tokens": expect.any(Number),
    "parley.attempt": 1,
    "parley.outcome": "completed",
    "parley.time_to_first_part_ms": expect.any(Number),
  });
  expect(parts.filter(isStatement).map(({ name }) => name)).toContain("chat-move-insert");
  expect(turn.facts).toMatchObject({ "parley.chat_id": expect.any(String), "parley.chat_status": "waiting" });
  expect(collector.requests.map(({ path, headers }) => [path, headers["api-key"]])).toContainEqual([
    "/v1/traces",
    "k 1",
  ]);
  expect(JSON.stringify(collector.spans)).not.toContain("hush");
});

test("operations on WebSockets and event streams are traced, and can have a parent trace", async () => {
  const server = await start();
  const { chatId, follower } = await server.api.quietChat({});
  await follower.close();
  const url = server.api.url.replace("http", "ws");
  const client = createClient({
    url: `${url}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { token: server.api.token },
  });
  const asked = client.iterate({
    query: "query Whoami { viewer { user { id } } }",
    extensions: { traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01` },
  });
  await asked.next();
  await client.dispose();
  const stream = await fetch(`${server.api.url}/graphql/stream`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "text/event-stream",
      authorization: `Bearer ${server.api.token}`,
    },
    body: JSON.stringify({ query: `subscription Watch { chatEvents(chatId: "${chatId}") { __typename } }` }),
  });
  await stream.body?.getReader().read();
  await server.close();
  expect(one("query Whoami")).toMatchObject({ traceId: TRACE_ID, parentSpanId: "b7ad6b7169203331" });
  const request = one("POST /graphql/stream");
  expect(treeOf(request)).toEqual({
    name: "POST /graphql/stream",
    within: [{ name: "subscription Watch", within: [] }],
  });
});

test("traces are not propagated to model vendors, and a failed turn's span has the reason", async () => {
  const heard: IncomingHttpHeaders[] = [];
  const vendor = createServer((request, response) => {
    heard.push(request.headers);
    const error = { type: "authentication_error", message: "the key hush-hush is wrong" };
    response
      .writeHead(401, { "content-type": "application/json" })
      .end(JSON.stringify({ type: "error", error }));
  });
  vendor.listen(0, "127.0.0.1");
  await once(vendor, "listening");
  const { port } = vendor.address() as AddressInfo;
  const server = await start({
    ANTHROPIC_API_KEY: "sk-hush-hush",
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
    PARLEY_MODEL: "claude-of-the-test",
  });
  const chatId = await server.api.createChat("hello");
  const follower = server.api.follow(chatId);
  await follower.until(({ log }) => log.includes("status ERROR"));
  await follower.close();
  await server.close();
  vendor.close();
  expect(heard.length).toBeGreaterThan(0);
  expect(heard.filter((headers) => Object.keys(headers).some((name) => /trace|baggage/.test(name)))).toEqual(
    [],
  );
  const call = one("chat claude-of-the-test");
  expect([call.facts["error.type"], call.status.code, one("turn").facts["error.type"]]).toEqual([
    "auth",
    2,
    "auth",
  ]);
  expect(JSON.stringify(collector.spans)).not.toContain("hush");
});

test("a collector that is down or refuses affects no request, and is logged; shutdown does not wait for it", async () => {
  const lines: { level: number; msg: string; spans?: number }[] = [];
  const log = createLog("warn", "parley", { write: (line) => void lines.push(JSON.parse(line)) });
  const clock = new ManualClock();
  const { traces, close } = openTraces({
    ...{ endpoint: collector.url, headers: {}, serviceName: "x", version: "1", ratio: 1 },
    ...{ log, clock },
  });
  collector.status = 400;
  for (let count = 0; count < 3; count += 1) await traces.within({ name: "work" }, async () => undefined);
  await close();
  expect(lines.map(({ msg, spans }) => ({ msg, spans }))).toEqual([
    { msg: "span export failed; spans lost", spans: 3 },
  ]);
  const silent = openTraces({
    ...{ endpoint: "http://192.0.2.1:4318", headers: {}, serviceName: "x", version: "1", ratio: 1 },
    ...{ log, clock },
  });
  silent.traces.open({ name: "work" }).end();
  const closed = silent.close();
  clock.advance(3_000);
  await closed;
});

test("spans beyond the queue's limit are dropped and logged", async () => {
  const lines: string[] = [];
  const log = createLog("warn", "parley", { write: (line) => void lines.push(JSON.parse(line).err.message) });
  const { traces, close } = openTraces({
    ...{ endpoint: collector.url, headers: {}, serviceName: "x", version: "1", ratio: 1 },
    ...{ log, clock: new ManualClock() },
  });
  for (let count = 0; count <= MAX_WAITING_SPANS; count += 1) traces.open({ name: "work" }).end();
  expect(lines).toEqual(["Span queue is full"]);
  await close();
});

test("with a ratio of 0 nothing is traced, whatever clients request; without an endpoint nothing is loaded", async () => {
  const server = await start({ PARLEY_TRACES_RATIO: "0" });
  const traceparent = `00-${TRACE_ID}-b7ad6b7169203331-01`;
  await post(server, { query: "{ viewer { user { id } } }" }, { traceparent });
  await server.close();
  expect(collector.requests).toEqual([]);
  const quiet = await environment.start({ PARLEY_TRACES: "off", OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  await post(quiet, { query: "{ viewer { user { id } } }" }, { traceparent });
  await quiet.close();
  expect(collector.requests).toEqual([]);
});
