// Recorded model calls: enabled by the operator, readable by admins only, deleted after some days.
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CallRecordSweep } from "../../../src/services/models/call-record-sweep.js";
import { CallRecords, MAX_WAITING_RECORDS } from "../../../src/services/models/call-records.js";
import type { RecordedCall } from "../../../src/services/models/recorded-call.js";
import { Database } from "../../../src/store/common/database.js";
import { decodeId } from "../../../src/domain/common/ids.js";
import { hasModelCallRecords } from "../../../src/store/models/model-call-records.js";
import type { ApiClient } from "../../support/clients/api-client.js";
import { freePort } from "../../support/network/free-port.js";
import { ManualClock } from "../../http/support.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";

const FIELDS =
  "purpose generation attempt provider model firstPartMs durationMs outcome request response isTruncated";
const RECORDS = `query ($id: ID!, $first: Int, $after: String) {
  modelCallRecords(chatId: $id, first: $first, after: $after) {
    nodes { ${FIELDS} } pageInfo { hasNextPage endCursor }
  }
}`;
type Shown = {
  purpose: string;
  attempt: number;
  outcome: string;
  generation: string | null;
  firstPartMs: number | null;
  request: { system: string; messages: { role: string; parts: { text?: string }[] }[]; tools: object[] };
  response: { parts: { type: string }[]; usage: object | null; failure?: { kind: string } };
};
type Page = { modelCallRecords: { nodes: Shown[]; pageInfo: { hasNextPage: boolean; endCursor: string } } };

let environment: TestEnvironment;
let server: TestParley;
let member: ApiClient;
let chatId: string;
beforeAll(async () => {
  environment = await createTestEnvironment();
  server = await environment.start({ PARLEY_DEBUG_RECORDS: "on", PARLEY_TITLES: "on" });
  member = await server.addUser("member");
  const { follower, ...made } = await member.quietChat({});
  chatId = made.chatId;
  const before = follower.transcript.log.length;
  await member.send(chatId, "tell me \u0000 more [[demo: error=529 times=1 retry-after=0]]");
  await follower.until(({ log }) => log.lastIndexOf("status WAITING") >= before);
  await follower.close();
});
afterAll(() => environment.remove());

/** Polls until there are `count` records, because they are written asynchronously. */
async function records(count: number, id = chatId): Promise<Shown[]> {
  for (;;) {
    const { modelCallRecords } = await server.api.get<Page>(RECORDS, { id, first: 20 });
    if (modelCallRecords.nodes.length >= count) return modelCallRecords.nodes;
  }
}

test("each attempt of a turn is recorded with request and response, newest first", async () => {
  const found = await records(3);
  expect(
    found.map(({ purpose, attempt, outcome, response }) => [
      ...[purpose, attempt, outcome],
      response.failure?.kind ?? null,
    ]),
  ).toEqual([
    ["STEP", 2, "COMPLETED", null],
    ["STEP", 1, "FAILED", "overloaded"],
    ["STEP", 1, "COMPLETED", null],
  ]);
  const [last] = found;
  expect(last?.request.messages.at(-1)).toMatchObject({ role: "user" });
  expect(JSON.stringify(last?.request.messages)).toContain("tell me");
  expect(last?.response).toMatchObject({
    parts: [{ type: "text" }],
    usage: { outputTokens: expect.any(Number) },
  });
  expect([typeof last?.firstPartMs, typeof last?.generation]).toEqual(["number", "string"]);
  expect(JSON.stringify(found)).not.toContain("Parley-Owner-Id");
});

test("pages follow each other, and are small", async () => {
  await records(3);
  const first = await server.api.get<Page>(RECORDS, { id: chatId, first: 2 });
  const { pageInfo, nodes } = first.modelCallRecords;
  const rest = await server.api.get<Page>(RECORDS, { id: chatId, first: 2, after: pageInfo.endCursor });
  expect([
    nodes.length,
    pageInfo.hasNextPage,
    rest.modelCallRecords.nodes.map(({ attempt }) => attempt),
  ]).toEqual([2, true, [1]]);
  const { errors } = await server.api.ask(RECORDS, { id: chatId, first: 21 });
  expect(errors[0]?.message).toBe("first must be between 1 and 20, but is 21.");
});

test("only admins can read them, and their reads of other users' chats are audited", async () => {
  const { errors } = await member.ask(RECORDS, { id: chatId });
  expect(errors.map(({ extensions }) => extensions.code)).toEqual(["FORBIDDEN"]);
  await records(1);
  const own = await server.api.createChat("mine", {});
  await records(1, own);
  const { auditLog } = await server.api.get<{ auditLog: { nodes: object[] } }>(
    "{ auditLog(filter: { actions: [MODEL_CALLS_READ] }) { nodes { action actorName targetId changes { field } } } }",
  );
  expect(auditLog.nodes).toEqual([
    { action: "MODEL_CALLS_READ", actorName: "admin", targetId: chatId, changes: [] },
  ]);
});

test("title generation is recorded, too", async () => {
  await member.change("regenerateChatTitle", { chatId }, "chat { title }");
  const [title] = await records(4);
  expect(title).toMatchObject({
    purpose: "TITLE",
    generation: null,
    firstPartMs: null,
    outcome: "COMPLETED",
  });
});

test("when disabled, turns do no recording", async () => {
  const quiet = await createTestEnvironment();
  const address = `127.0.0.1:${await freePort()}`;
  const { api, parley } = await quiet.start({ PARLEY_METRICS_ADDRESS: address });
  const { follower } = await api.quietChat({});
  await follower.close();
  const metrics = await (await fetch(`http://${address}/metrics`)).text();
  const asked = metrics.split("\n").filter((line) => /seconds_count.*model-call-records/.test(line));
  // The only query looks for records from a time when recording was enabled.
  expect(asked.map((line) => line.replace(/^.*statement="([^"]+)".* /, "$1 "))).toEqual([
    "model-call-records.any 1",
  ]);
  expect(await hasModelCallRecords(parley.database)).toBe(false);
  await quiet.remove();
});

const silent = pino({ level: "silent" });

test("expired records are deleted on any replica, even if recording is disabled", async () => {
  await records(4);
  const database = new Database(environment.database.dataSource);
  const clock = new ManualClock();
  const DAY_MS = 86_400_000;
  clock.advance(Date.now() - clock.now() + 2 * DAY_MS);
  const sweep = new CallRecordSweep({ database, clock, log: silent }, { keepDays: 3, isRecording: false });
  const count = (await records(4)).length;
  expect(await sweep.prune()).toBe(0);
  clock.advance(DAY_MS + 60_000);
  // Two concurrent runs delete each record once.
  const other = new CallRecordSweep({ database, clock, log: silent }, { keepDays: 3, isRecording: true });
  const pruned = await Promise.all([sweep.prune(), other.prune()]);
  expect(pruned.reduce((sum, one) => sum + one)).toBeGreaterThanOrEqual(count);
  expect(await hasModelCallRecords(database)).toBe(false);
});

test("with recording disabled and no records left, the sweep queries once and then never again", async () => {
  const asked: string[] = [];
  const clock = new ManualClock();
  const database = {
    query: async ({ name }: { name: string }) => (asked.push(name), [{ found: false }] as never),
  };
  const sweep = new CallRecordSweep({ database, clock, log: silent }, { keepDays: 3, isRecording: false });
  await sweep.prune();
  sweep.start();
  await sweep.close();
  expect(clock.pending()).toBe(0);
  expect(asked).toEqual(["model-call-records.any", "model-call-records.any"]);
});

test("a slow database loses records but delays no turn: excess records are dropped, counted and logged", async () => {
  const outcomes: string[] = [];
  const lines: string[] = [];
  let release: () => void = () => undefined;
  const blocked = new Promise<void>((resolve) => (release = resolve));
  const database = { query: async () => (await blocked, []) };
  const log = pino({ level: "info" }, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
  const meter = { callRecord: (outcome: string) => void outcomes.push(outcome) };
  const recording = new CallRecords({ database, clock: new ManualClock(), log, meter });
  const call = {
    ...{
      chatId: decodeId("chat", chatId),
      generation: null,
      attempt: 1,
      purpose: "step",
      provider: "openai",
    },
    ...{ startedAt: 0, firstPartMs: null, durationMs: 1 },
    request: { model: "m", system: "", messages: [], tools: [], maxOutputTokens: 1 },
    outcome: { type: "stopped", parts: [], usage: null },
  } as unknown as RecordedCall;
  for (let count = 0; count < MAX_WAITING_RECORDS + 3; count += 1) recording.record(call);
  expect([outcomes, lines]).toEqual([["dropped", "dropped"], ["model call records were lost"]]);
  release();
  await recording.close();
  expect(outcomes.filter((outcome) => outcome === "written")).toHaveLength(MAX_WAITING_RECORDS + 1);
});
