// Deployments from before the usage ledger: what was spent comes through the migration to the last microdollar, there and back.
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  addSpending,
  listUserSpending,
  readChatSpending,
  readUserSpending,
  type Spending,
} from "../../src/store/usage/costs.js";
import { Database } from "../../src/store/common/database.js";
import { createTestDatabase, type TestDatabase } from "../support/database/database.js";
import { insertChat, insertMessage, insertViewer } from "../support/database/rows.js";

const NAME = "ModelCalls1763700000027";
const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 10, 1);
const MODELS = [randomUUID(), randomUUID()] as const;

let own: TestDatabase;
let db: Database;
beforeAll(async () => {
  own = await createTestDatabase();
  db = new Database(own.dataSource);
});
afterAll(() => own.drop());
beforeEach(() => own.dataSource.query("TRUNCATE chats CASCADE"));

async function migrateDown(): Promise<void> {
  for (let undone = ""; undone !== NAME;) {
    const [row] = await own.dataSource.query<{ name: string }[]>(
      "SELECT name FROM migrations ORDER BY id DESC LIMIT 1",
    );
    if (row === undefined) throw new Error(`${NAME} was never run.`);
    undone = row.name;
    await own.dataSource.undoLastMigration();
  }
}

/** As the version before wrote them: messages of models, and rows that only billed a call. */
const KINDS = {
  answer: { visibility: "both", content: '[{"type":"text","text":"Hi"}]', generation: "3.1" },
  "edited answer": { visibility: "both", content: '[{"type":"text","text":"Hi"}]', isDeleted: true },
  "empty answer": { visibility: "both", content: "[]", generation: "3.2" },
  summary: { visibility: "user", content: '[{"type":"text","text":"So far"}]', isSummary: true },
  "summary for the model": {
    visibility: "model",
    content: '[{"type":"text","text":"So far"}]',
    isSummary: true,
  },
  "edited context": { visibility: "model", content: '[{"type":"text","text":"Hi"}]', isDeleted: true },
  title: { visibility: "model", content: "[]", isDeleted: true, runtimeMs: 40 },
  "failed attempt": { visibility: "model", content: "[]", isDeleted: true, runtimeMs: null },
} as const;
type Kind = keyof typeof KINDS;
const BILLING_ROWS: readonly Kind[] = ["title", "failed attempt"];

type Call = {
  kind: Kind;
  chat: number;
  model: number;
  at: number;
  tokens: number | null;
  micros: number | null;
  isEstimated: boolean;
  toolsMs: number | null;
};
const call: fc.Arbitrary<Call> = fc.record({
  kind: fc.constantFrom(...(Object.keys(KINDS) as Kind[])),
  chat: fc.nat({ max: 3 }),
  model: fc.nat({ max: 1 }),
  at: fc.oneof(fc.nat({ max: 3 * DAY_MS }), fc.constantFrom(0, DAY_MS - 1, DAY_MS, 2 * DAY_MS)),
  tokens: fc.option(fc.nat({ max: 2_000_000_000 })),
  micros: fc.option(fc.oneof(fc.constant(0), fc.nat({ max: 2 ** 31 }))),
  isEstimated: fc.boolean(),
  toolsMs: fc.option(fc.nat({ max: 10_000 })),
});

async function write(chats: readonly string[], given: Call): Promise<void> {
  const { visibility, content, ...more } = KINDS[given.kind];
  const facts = { generation: null, isDeleted: false, isSummary: false, runtimeMs: 7, ...more };
  const [row] = await own.dataSource.query<{ id: string }[]>(
    `INSERT INTO chat_messages (chat_id, role, visibility, content_version, content, model_config_id, input_tokens,
      output_tokens, reasoning_tokens, cache_read_tokens, cache_write_tokens, cost_micros, runtime_ms,
      is_usage_estimated, generation, is_summary, is_deleted, revision, created_at)
    VALUES ($1, 'assistant', $2, 1, $3, $4, $5, $5, 0, $5, $5, $6, $7, $8, $9, $10, $11, 1, $12) RETURNING id`,
    [
      ...[chats[given.chat], visibility, content, MODELS[given.model], given.tokens, given.micros],
      ...[facts.runtimeMs, given.isEstimated, facts.generation, facts.isSummary, facts.isDeleted],
      new Date(START + given.at),
    ],
  );
  if (given.toolsMs !== null && !BILLING_ROWS.includes(given.kind)) {
    await own.dataSource.query("UPDATE chat_messages SET runtime_ms = runtime_ms + $2 WHERE id = $1", [
      row?.id,
      given.toolsMs,
    ]);
  }
}

const SUMS = `count(*)::int AS calls, count(m.cost_micros)::int AS priced, sum(m.cost_micros)::text AS micros,
  sum(m.input_tokens)::text AS input, sum(m.output_tokens)::text AS output, sum(m.reasoning_tokens)::text AS reasoning,
  sum(m.cache_read_tokens)::text AS read, sum(m.cache_write_tokens)::text AS write,
  count(*) FILTER (WHERE m.is_usage_estimated)::int AS estimated, sum(m.runtime_ms)::text AS runtime`;
const BY = `(m.created_at AT TIME ZONE 'UTC')::date::text AS day`;
const SPENT_IN_MESSAGES = `SELECT c.owner_id, m.chat_id, m.model_config_id, ${BY}, ${SUMS}
  FROM chat_messages m JOIN chats c ON c.id = m.chat_id
  WHERE m.role = 'assistant' AND m.model_config_id IS NOT NULL GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`;
const SPENT_IN_LEDGER = `SELECT m.owner_id, m.chat_id, m.model_config_id, ${BY}, ${SUMS}
  FROM model_calls m GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`;
const SPENT_DAILY = "SELECT * FROM usage_days ORDER BY owner_id, day, chat_id, model_config_id";

/** As the version before read a range: whole days from the daily sums, parts of days from the messages. */
const OLD_COUNTS = `cost_micros, message_count, priced_message_count, unpriced_message_count, input_tokens,
  output_tokens, cache_read_tokens, cache_write_tokens, runtime_ms`;
const OLD_SPENDING = `
  SELECT ${OLD_COUNTS.split(",")
    .map((name) => `coalesce(sum(${name}), 0)::text AS ${name}`)
    .join(",")} FROM (
    SELECT ${OLD_COUNTS} FROM usage_days u WHERE u.owner_id = $1 AND u.day >= $2::date AND u.day < $3::date
    UNION ALL
    SELECT coalesce(m.cost_micros, 0), 1, (m.cost_micros IS NOT NULL)::int,
      (m.cost_micros IS NULL AND m.input_tokens IS NOT NULL)::int, coalesce(m.input_tokens, 0),
      coalesce(m.output_tokens, 0), coalesce(m.cache_read_tokens, 0), coalesce(m.cache_write_tokens, 0),
      coalesce(m.runtime_ms, 0)
    FROM (
      SELECT DISTINCT u.chat_id, edge."from", edge."to"
      FROM (VALUES ($2::date - 1, $4::timestamptz, $2::date::timestamptz AT TIME ZONE 'UTC' AT TIME ZONE 'UTC'),
          ($3::date, $3::date::timestamptz, $5::timestamptz)) AS edge (day, "from", "to")
        JOIN usage_days u ON u.day = edge.day AND u.owner_id = $1) e
      JOIN chat_messages m ON m.chat_id = e.chat_id AND m.role = 'assistant' AND m.model_config_id IS NOT NULL
        AND m.created_at >= e."from" AND m.created_at < e."to") s`;

/** Begins and ends in the middle of days. */
const RANGE = { from: START + DAY_MS / 3, to: START + 2 * DAY_MS + DAY_MS / 2 };

async function oldSpending(userId: string): Promise<string[]> {
  const day = (time: number) => new Date(Math.floor(time / DAY_MS) * DAY_MS).toISOString().slice(0, 10);
  const values = [userId, day(RANGE.from + DAY_MS), day(RANGE.to), new Date(RANGE.from), new Date(RANGE.to)];
  const rows = await db.transaction(async (transaction) => {
    await transaction.query({ name: "test.utc", text: "SET LOCAL TIME ZONE 'UTC'" }, []);
    return transaction.query<Record<string, string>>(
      { name: "test.old-spending", text: OLD_SPENDING },
      values,
    );
  });
  return Object.values(rows[0] ?? {});
}

function asOld(spending: Spending): string[] {
  const { totalMicros, messageCount, pricedMessageCount, unpricedMessageCount } = spending;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, runtimeMs } = spending;
  const counts = [totalMicros, messageCount, pricedMessageCount, unpricedMessageCount];
  return [...counts, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, runtimeMs].map(String);
}

const OTHER_MESSAGES = `SELECT * FROM chat_messages m
  WHERE NOT (visibility = 'model' AND is_deleted AND content = '[]') ORDER BY id`;
const query = (text: string) => own.dataSource.query<object[]>(text);

async function makeChats(): Promise<{ users: string[]; chats: string[] }> {
  const users = [(await insertViewer(db)).userId, (await insertViewer(db)).userId];
  const [one = "", other = ""] = users;
  const root = await insertChat(db, { ownerId: one });
  const child = await insertChat(db, { ownerId: one, parentId: root });
  const chats = [
    root,
    child,
    await insertChat(db, { ownerId: one }),
    await insertChat(db, { ownerId: other }),
  ];
  for (const chatId of chats) await insertMessage(db, { chatId, text: "Hello" });
  return { users, chats };
}

test("every sum is the same before and after, by user, chat, model and day, and after the way back", async () => {
  const { users, chats } = await makeChats();
  await migrateDown();
  const calls = fc.sample(call, { numRuns: 400, seed: 15 });
  for (const each of calls) await write(chats, each);
  const before = {
    spent: await query(SPENT_IN_MESSAGES),
    daily: await query(SPENT_DAILY),
    messages: await query(OTHER_MESSAGES),
    ofUsers: await Promise.all(users.map(oldSpending)),
  };

  await own.dataSource.runMigrations();
  const [left] = await query(
    "SELECT count(*)::int AS calls, count(message_id)::int AS messages FROM model_calls",
  );
  const billing = calls.filter(({ kind }) => BILLING_ROWS.includes(kind)).length;
  expect(left).toEqual({ calls: calls.length, messages: calls.length - billing });
  expect({
    spent: await query(SPENT_IN_LEDGER),
    daily: await query(SPENT_DAILY),
    messages: await query("SELECT * FROM chat_messages ORDER BY id"),
    ofUsers: await Promise.all(
      users.map(async (userId) => asOld(addSpending(await readUserSpending(db, userId, RANGE)))),
    ),
  }).toEqual(before);
  const page = { direction: "forwards", limit: 10, after: null, before: null } as const;
  const listed = await listUserSpending(db, { range: RANGE, pattern: null }, page);
  expect(listed.totalMicros).toBe(before.ofUsers.reduce((sum, [micros = "0"]) => sum + BigInt(micros), 0n));

  await migrateDown();
  expect({
    spent: await query(SPENT_IN_MESSAGES),
    daily: await query(SPENT_DAILY),
    messages: await query(OTHER_MESSAGES),
  }).toEqual({ spent: before.spent, daily: before.daily, messages: before.messages });
  await own.dataSource.runMigrations();
  expect(await query(SPENT_IN_LEDGER)).toEqual(before.spent);
});

test("calls say what they were for, as far as the old rows tell", async () => {
  const { chats } = await makeChats();
  await migrateDown();
  const rest = { chat: 0, model: 0, at: 0, tokens: 1, micros: 1, isEstimated: false, toolsMs: null };
  for (const kind of Object.keys(KINDS) as Kind[]) await write(chats, { kind, ...rest });
  await own.dataSource.runMigrations();
  expect(
    await query("SELECT purpose, message_id IS NOT NULL AS has_message FROM model_calls ORDER BY id"),
  ).toEqual([
    ...Array.from({ length: 3 }, () => ({ purpose: "step", has_message: true })),
    ...Array.from({ length: 2 }, () => ({ purpose: "compaction", has_message: true })),
    { purpose: "step", has_message: true },
    { purpose: "title", has_message: false },
    { purpose: null, has_message: false },
  ]);
});

test("what a replica of the version before writes beside this one is entered once, and leaves no billing rows", async () => {
  const { chats } = await makeChats();
  const calls = fc.sample(call, { numRuns: 60, seed: 27 });
  for (const each of calls) await write(chats, each);
  const [{ micros } = { micros: 0 }] = await own.dataSource.query<{ micros: string }[]>(
    "SELECT coalesce(sum(cost_micros), 0)::text AS micros FROM usage_days",
  );
  const found = await readChatSpending(db, chats.slice(0, 1).concat(chats.slice(2)));
  const total = addSpending([...found.values()].flat());
  const costs = calls.reduce((sum, each) => sum + BigInt(each.micros ?? 0), 0n);
  expect([total.messageCount, total.totalMicros, micros]).toEqual([calls.length, costs, costs.toString()]);
  expect((await query("SELECT id FROM model_calls")).length).toBe(calls.length);
  const [rows] = await query("SELECT count(*)::int AS count FROM chat_messages WHERE role = 'assistant'");
  expect(rows).toEqual({
    count: calls.filter(({ kind }) => !BILLING_ROWS.includes(kind)).length,
  });
});
