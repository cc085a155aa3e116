// Sums of what was spent, against the slow sum over all messages and the calls that left none.
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DateRange } from "../../src/domain/usage/date-range.js";
import {
  addSpending,
  listChatSpending,
  listUserSpending,
  readChatSpending,
  readUserSpending,
} from "../../src/store/usage/costs.js";
import { Database, type Statement } from "../../src/store/common/database.js";
import { insertModelCall } from "../../src/store/usage/model-calls.js";
import { createTestDatabase, type TestDatabase } from "../support/database/database.js";
import { insertChat, insertViewer } from "../support/database/rows.js";

let own: TestDatabase;
let db: Database;
beforeAll(async () => {
  own = await createTestDatabase();
  db = new Database(own.dataSource);
});
afterAll(() => own.drop());

const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 10, 1);
const FIRST_PAGE = { direction: "forwards", limit: 100, after: null, before: null } as const;
const MODELS = [randomUUID(), randomUUID()] as const;

type Call = { chat: number; model: number; at: number; tokens: number | null; micros: number | null };
type Act = { call: Call; fate: "stays" | "is edited away" | "left no message" | "takes longer" };

const call = fc.record({
  chat: fc.nat({ max: 6 }),
  model: fc.nat({ max: 1 }),
  // Midnights are what a rollup by days gets wrong first.
  at: fc.oneof(
    fc.integer({ min: 0, max: 4 * DAY_MS }),
    fc.constantFrom(0, DAY_MS - 1, DAY_MS, DAY_MS + 1, 2 * DAY_MS - 1, 2 * DAY_MS),
  ),
  tokens: fc.option(fc.nat({ max: 2_000_000_000 })),
  micros: fc.option(fc.oneof(fc.constant(0), fc.nat({ max: 2 ** 31 }))),
});
const act = fc.record({
  call,
  fate: fc.constantFrom("stays", "is edited away", "left no message", "takes longer"),
}) as fc.Arbitrary<Act>;
const moment = fc.oneof(
  fc.integer({ min: -DAY_MS, max: 5 * DAY_MS }),
  fc.constantFrom(0, DAY_MS, 2 * DAY_MS, 3 * DAY_MS),
);

const INSERT: Statement = {
  name: "test.insert-call",
  text: `INSERT INTO chat_messages (chat_id, role, visibility, content_version, content, model_config_id, input_tokens,
      output_tokens, reasoning_tokens, cache_read_tokens, cache_write_tokens, cost_micros, runtime_ms, revision, created_at)
    VALUES ($1, 'assistant', 'both', 1, '[]', $2, $3, $3, 0, $3, $3, $4, 7, 1, $5) RETURNING id`,
};
const DELETE: Statement = {
  name: "test.delete",
  text: "UPDATE chat_messages SET is_deleted = true, revision = 2 WHERE id = $1",
};
const LENGTHEN: Statement = {
  name: "test.lengthen",
  text: "UPDATE chat_messages SET runtime_ms = coalesce(runtime_ms, 0) + 5 WHERE id = $1",
};

async function perform(chats: string[], { call: { chat, model, at, tokens, micros }, fate }: Act) {
  const chatId = chats[chat] ?? "";
  const modelConfigId = MODELS[model] ?? "";
  if (fate === "left no message" && tokens !== null) {
    const usage = {
      inputTokens: tokens,
      outputTokens: tokens,
      reasoningTokens: 0,
      cacheReadTokens: tokens,
      cacheWriteTokens: tokens,
    };
    const costMicros = micros === null ? null : BigInt(micros);
    const call = { chatId, modelConfigId, purpose: "title", usage, costMicros, runtimeMs: 3 } as const;
    return insertModelCall(db, { ...call, now: START + at });
  }
  const values = [chatId, modelConfigId, tokens, micros, new Date(START + at)];
  const [row] = await db.query<{ id: string }>(INSERT, values);
  if (fate === "is edited away") await db.query(DELETE, [row?.id]);
  if (fate === "takes longer") await db.query(LENGTHEN, [row?.id]);
}

const SLOW: Statement = {
  name: "test.slow-sum",
  text: `SELECT c.owner_id, m.chat_id, coalesce(c.root_chat_id, c.id) AS root_chat_id, m.model_config_id, coalesce(sum(m.cost_micros), 0)::text AS micros,
      count(*)::int AS calls, count(m.cost_micros)::int AS priced,
      (count(*) FILTER (WHERE m.cost_micros IS NULL AND m.input_tokens IS NOT NULL))::int AS unpriced,
      coalesce(sum(m.input_tokens), 0)::text AS tokens, coalesce(sum(m.runtime_ms), 0)::text AS runtime
    FROM (
      SELECT chat_id, model_config_id, cost_micros, input_tokens, runtime_ms, created_at
      FROM chat_messages WHERE role = 'assistant'
      UNION ALL
      SELECT chat_id, model_config_id, cost_micros, input_tokens, runtime_ms, created_at
      FROM model_calls WHERE message_id IS NULL) m JOIN chats c ON c.id = m.chat_id
    WHERE c.owner_id = ANY ($1::uuid[]) AND m.created_at >= $2 AND m.created_at < $3
    GROUP BY 1, 2, 3, 4`,
};
type SlowRow = {
  owner_id: string;
  chat_id: string;
  root_chat_id: string;
  model_config_id: string;
} & SlowSums;
type SlowSums = {
  micros: string;
  calls: number;
  priced: number;
  unpriced: number;
  tokens: string;
  runtime: string;
};

/** Sums of the slow rows by a key, as text, so that whole answers can be compared. */
function slowBy(rows: SlowRow[], key: (row: SlowRow) => string): Record<string, string> {
  const keys = [...new Set(rows.map(key))];
  return Object.fromEntries(
    keys.map((name) => {
      const own = rows.filter((row) => key(row) === name);
      const sum = (pick: (row: SlowRow) => string | number) =>
        own.reduce((total, row) => total + BigInt(pick(row)), 0n);
      const counts = [sum((row) => row.calls), sum((row) => row.priced), sum((row) => row.unpriced)];
      return [
        name,
        [sum((row) => row.micros), ...counts, sum((row) => row.tokens), sum((row) => row.runtime)].join(" "),
      ];
    }),
  );
}

type Sums = ReturnType<typeof addSpending>;
function asText(sums: Sums): string {
  const { totalMicros, messageCount, pricedMessageCount, unpricedMessageCount, inputTokens, runtimeMs } =
    sums;
  return [totalMicros, messageCount, pricedMessageCount, unpricedMessageCount, inputTokens, runtimeMs].join(
    " ",
  );
}

test("every sum is the slow sum, for any history and any range", async () => {
  const history = fc.array(act, { minLength: 1, maxLength: 25 });
  await fc.assert(
    fc.asyncProperty(
      history,
      fc.array(fc.tuple(moment, moment), { minLength: 3, maxLength: 3 }),
      async (acts, ranges) => {
        await own.dataSource.query("TRUNCATE chats CASCADE");
        const users = [(await insertViewer(db)).userId, (await insertViewer(db)).userId];
        const chats: string[] = [];
        for (const index of [0, 1, 2, 3]) {
          chats.push(await insertChat(db, { ownerId: users[index % 2] ?? "" }));
        }
        // The first has two subagents, one of which has one too.
        for (const index of [0, 0, 4]) {
          const parentId = chats[index] ?? "";
          chats.push(await insertChat(db, { ownerId: users[0] ?? "", parentId }));
        }
        for (const each of acts) await perform(chats, each);
        for (const [one, other] of ranges) {
          const range = { from: START + Math.min(one, other), to: START + Math.max(one, other) };
          await expectSlowSums(users, range);
        }
        const slow = await slowRows(users, { from: 0, to: START * 2 });
        const found = await readChatSpending(db, chats);
        const spent = [...found].filter(([, models]) => models.length > 0);
        const belowOthers = slow.filter((row) => row.chat_id !== row.root_chat_id);
        expect(Object.fromEntries(spent.map(([id, models]) => [id, asText(addSpending(models))]))).toEqual({
          ...slowBy(belowOthers, (row) => row.chat_id),
          ...slowBy(slow, (row) => row.root_chat_id),
        });
      },
    ),
    { numRuns: 25 },
  );
});

async function slowRows(users: string[], { from, to }: DateRange): Promise<SlowRow[]> {
  return db.query<SlowRow>(SLOW, [users, new Date(from), new Date(to)]);
}

async function expectSlowSums(users: string[], range: DateRange): Promise<void> {
  const slow = await slowRows(users, range);
  const spenders = await listUserSpending(db, { range, pattern: null }, FIRST_PAGE);
  expect(Object.fromEntries(spenders.rows.map(({ row }) => [row.userId, asText(row)]))).toEqual(
    slowBy(slow, (row) => row.owner_id),
  );
  expect(spenders.totalMicros).toBe(slow.reduce((total, row) => total + BigInt(row.micros), 0n));
  for (const userId of users) {
    const own = slow.filter((row) => row.owner_id === userId);
    const models = await readUserSpending(db, userId, range);
    expect(Object.fromEntries(models.map((row) => [row.modelConfigId, asText(row)]))).toEqual(
      slowBy(own, (row) => row.model_config_id),
    );
    const chats = await listChatSpending(db, { userId, range }, FIRST_PAGE);
    expect(Object.fromEntries(chats.rows.map(({ row }) => [row.rootChatId, asText(row)]))).toEqual(
      slowBy(own, (row) => row.root_chat_id),
    );
  }
}

test("pages of users and of chats, one at a time, give everyone once and in order, equals included", async () => {
  await own.dataSource.query("TRUNCATE chats CASCADE");
  const range = { from: START, to: START + DAY_MS };
  for (const micros of [5, 0, 5, 9, 5]) {
    const { userId } = await insertViewer(db);
    const chatId = await insertChat(db, { ownerId: userId });
    await db.query(INSERT, [chatId, MODELS[0], 1, micros, new Date(START + 1)]);
  }
  const seen: [string, bigint][] = [];
  let after: { key: string; id: string } | null = null;
  for (;;) {
    const page = { ...FIRST_PAGE, limit: 1, after };
    const found: Awaited<ReturnType<typeof listUserSpending>> = await listUserSpending(
      db,
      { range, pattern: null },
      page,
    );
    expect(found.totalMicros).toBe(24n);
    seen.push(...found.rows.map(({ row }): [string, bigint] => [row.userId, row.totalMicros]));
    after = found.rows[0]?.cursor ?? null;
    if (!found.hasNextPage) break;
  }
  expect(seen.map(([, micros]) => micros)).toEqual([9n, 5n, 5n, 5n, 0n]);
  expect(new Set(seen.map(([id]) => id)).size).toBe(5);
});
