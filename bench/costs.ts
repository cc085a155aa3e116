// What sums cost when there are many messages: generates them in a database of its own, which is dropped afterwards,
// asks through the store's own functions, holds the answers against slow sums, and prints times and plans.
// `npm run bench:costs -- --messages=10000000 --plans`; DATABASE_URL names a server whose user may create databases.
import { randomUUID } from "node:crypto";
import { parseArgs } from "node:util";
import type { QueryResultRow } from "pg";
import { FILL } from "../migrations/0008-costs.js";
import { FILL_MODEL_CALLS } from "../migrations/0027-model-calls.js";
import type { DateRange } from "../src/domain/usage/date-range.js";
import {
  addSpending,
  listUserSpending,
  readChatSpending,
  readUserSpending,
} from "../src/store/usage/costs.js";
import { createDataSource, migrate } from "../src/store/data-source.js";
import type { PooledDataSource } from "../src/store/pooled-data-source.js";
import { Database, type Queryable, type Statement } from "../src/store/common/database.js";

const { values } = parseArgs({
  options: { messages: { type: "string", default: "10000000" }, plans: { type: "boolean", default: false } },
});
const MESSAGES = Number(values.messages);
const MESSAGES_PER_CHAT = 100;
const CHATS = Math.ceil(MESSAGES / MESSAGES_PER_CHAT);
const USERS = 1_000;
const YEAR_MS = 365 * 86_400_000;
const END = Date.UTC(2026, 10, 21, 17, 0);
/** Both begin and end in the middle of a day. */
const RANGES = {
  month: { from: END - 30 * 86_400_000 + 12_345_678, to: END - 3_456_789 },
  year: { from: END - YEAR_MS + 12_345_678, to: END },
};
const ANY_CHAT = "SELECT id, owner_id FROM chats ORDER BY id LIMIT 1";
const REPEATS = 9;
const FIRST_PAGE = { direction: "forwards", limit: 25, after: null, before: null } as const;

/** Chats begin evenly over a year; each has a message every three minutes: question, answer, tools, answer. */
const GENERATE = [
  `INSERT INTO users (id, username, name) SELECT gen_random_uuid(), 'user-' || n, 'User ' || n FROM generate_series(1, ${USERS}) n`,
  `INSERT INTO chats (id, owner_id, title, status, snapshot_version, history_version, reset_version, queue_version,
      status_version, retry_version, attempt, created_at)
    SELECT gen_random_uuid(), p.ids[1 + n % ${USERS}], 'Chat ' || n, 'waiting', 1, 1, 0, 0, 1, 0, 0,
      to_timestamp(${(END - YEAR_MS) / 1000}) + n * interval '1 second' * ${YEAR_MS / 1000 / CHATS}
    FROM generate_series(1, ${CHATS}) n, (SELECT array_agg(id) AS ids FROM users) p`,
  "ALTER TABLE chat_messages DISABLE TRIGGER ALL",
  "DROP INDEX chat_messages_history_idx, chat_messages_revision_idx",
  `INSERT INTO chat_messages (chat_id, role, visibility, content_version, content, model_config_id, input_tokens,
      output_tokens, reasoning_tokens, cache_read_tokens, cache_write_tokens, cost_micros, runtime_ms, revision,
      is_deleted, created_at)
    SELECT c.id, (CASE n % 4 WHEN 0 THEN 'user' WHEN 2 THEN 'tool' ELSE 'assistant' END)::message_role, 'both', 1, '[]',
      CASE WHEN n % 2 = 1 THEN (CASE WHEN n % 10 = 1 THEN $1 ELSE $2 END)::uuid END,
      CASE WHEN n % 2 = 1 THEN 1000 + n END, CASE WHEN n % 2 = 1 THEN 300 + n END, 0,
      CASE WHEN n % 2 = 1 THEN n * 500 END, 0, CASE WHEN n % 2 = 1 AND n % 20 <> 3 THEN n * 137 END, n * 10, n,
      n % 50 = 7, c.created_at + n * interval '3 minutes'
    FROM chats c, generate_series(0, ${MESSAGES_PER_CHAT - 1}) n`,
  "ALTER TABLE chat_messages ENABLE TRIGGER ALL",
  FILL,
  "ALTER TABLE model_calls DISABLE TRIGGER ALL",
  FILL_MODEL_CALLS,
  "ALTER TABLE model_calls ENABLE TRIGGER ALL",
  "VACUUM ANALYZE",
];

/** Its values are part of the text: a plan that must serve all of them would take a day. */
const slowSum = ([userId, chatId, from, to]: Scope) => `
  SELECT coalesce(sum(m.cost_micros), 0)::text AS micros, count(*)::int AS calls
  FROM chat_messages m JOIN chats c ON c.id = m.chat_id
  WHERE m.role = 'assistant' AND m.created_at >= '${new Date(from).toISOString()}'
    AND m.created_at < '${new Date(to).toISOString()}'
    ${userId === null ? "" : `AND c.owner_id = '${userId}'`} ${chatId === null ? "" : `AND c.id = '${chatId}'`}`;

async function main(): Promise<void> {
  const url = process.env["DATABASE_URL"] ?? "postgres://postgres@127.0.0.1:5432/postgres";
  const name = `parley_bench_costs_${randomUUID().slice(0, 8)}`;
  const admin = createDataSource({ url, poolSize: 1 });
  await admin.initialize();
  await admin.query(`CREATE DATABASE ${name}`);
  const own = new URL(url);
  own.pathname = `/${name}`;
  const dataSource = createDataSource({ url: own.href, poolSize: 2 });
  try {
    await dataSource.initialize();
    await migrate(dataSource);
    await generate((text, given) => dataSource.query(text, given));
    await measure(new Database(dataSource));
    if (values.plans) await printPlans(dataSource);
  } finally {
    if (dataSource.isInitialized) await dataSource.destroy();
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await admin.destroy();
  }
}

async function generate(query: (text: string, given?: unknown[]) => Promise<unknown>): Promise<void> {
  const models = [randomUUID(), randomUUID()];
  for (const text of GENERATE) await query(text, text.includes("$1") ? models : undefined);
}

async function measure(db: Database): Promise<void> {
  const [facts] = await db.dataSource.query<{ messages: string; days: string; size: string }[]>(
    `SELECT (SELECT count(*) FROM chat_messages) AS messages, (SELECT count(*) FROM usage_days) AS days,
      pg_size_pretty(pg_database_size(current_database())) AS size`,
  );
  console.log(
    `${facts?.messages} messages in ${CHATS} chats of ${USERS} users, ${facts?.days} daily sums, ${facts?.size}\n`,
  );
  const [chat] = await db.dataSource.query<{ id: string; owner_id: string }[]>(ANY_CHAT);
  const { id: chatId, owner_id: userId } = chat ?? { id: "", owner_id: "" };
  const { month, year } = RANGES;
  const total = async (range: DateRange) =>
    (await listUserSpending(db, { range, pattern: null }, FIRST_PAGE)).totalMicros;
  const own = async (range: DateRange) => addSpending(await readUserSpending(db, userId, range)).totalMicros;
  const ofChat = async () =>
    addSpending((await readChatSpending(db, [chatId])).get(chatId) ?? []).totalMicros;
  const always = { from: 0, to: END * 2 };
  await report(db, "viewer.cost, 30 days", () => own(month), [userId, null, month.from, month.to]);
  await report(db, "viewer.cost, a year", () => own(year), [userId, null, year.from, year.to]);
  await report(db, "userCosts, first page, 30 days", () => total(month), [null, null, month.from, month.to]);
  await report(db, "userCosts, first page, a year", () => total(year), [null, null, year.from, year.to]);
  await report(db, "chat.cost", ofChat, [null, chatId, always.from, always.to]);
}

/** Prints how each statement that reads is done, instead of answering it. */
class Explaining extends Database {
  override async query<Row extends QueryResultRow>(statement: Statement, given: unknown[]): Promise<Row[]> {
    return this.#explain({ query: (...asked) => super.query(...asked) }, statement, given);
  }

  override async transaction<T>(work: (transaction: Queryable) => Promise<T>): Promise<T> {
    return super.transaction((inner) =>
      work({ query: async (statement, given) => this.#explain(inner, statement, given) }),
    );
  }

  async #explain<Row extends QueryResultRow>(
    db: Queryable,
    { name, text }: Statement,
    given: unknown[],
  ): Promise<Row[]> {
    if (!/^\s*(select|with)/i.test(text)) return db.query<Row>({ name, text }, given);
    const explained = { name: `${name}.explained`, text: `EXPLAIN (ANALYZE, TIMING OFF) ${text}` };
    const rows = await db.query<{ "QUERY PLAN": string }>(explained, given);
    console.log(`\n${name}\n${rows.map((row) => row["QUERY PLAN"]).join("\n")}`);
    return [];
  }
}

async function printPlans(dataSource: PooledDataSource): Promise<void> {
  const db = new Explaining(dataSource);
  const { month, year } = RANGES;
  const [chat] = await dataSource.query<{ id: string; owner_id: string }[]>(ANY_CHAT);
  const { id: chatId, owner_id: userId } = chat ?? { id: "", owner_id: "" };
  await readUserSpending(db, userId, month);
  await listUserSpending(db, { range: year, pattern: null }, FIRST_PAGE);
  await readChatSpending(db, [chatId]);
}

type Scope = [userId: string | null, chatId: string | null, from: number, to: number];

async function report(db: Database, name: string, ask: () => Promise<bigint>, scope: Scope): Promise<void> {
  const times: number[] = [];
  let answer = 0n;
  for (let round = 0; round < REPEATS; round += 1) {
    const start = performance.now();
    answer = await ask();
    times.push(performance.now() - start);
  }
  const start = performance.now();
  const [slow] = await db.dataSource.query<{ micros: string; calls: number }[]>(slowSum(scope));
  const slowMs = performance.now() - start;
  const [first = 0] = times;
  const median = times.toSorted((a, b) => a - b)[Math.floor(REPEATS / 2)] ?? 0;
  const isEqual = slow?.micros === answer.toString();
  console.log(
    `${name}: median ${median.toFixed(1)} ms, first ${first.toFixed(1)} ms; slow sum ${slowMs.toFixed(0)} ms over ${slow?.calls} calls; ${answer} microdollars, ${isEqual ? "equal" : `NOT EQUAL: ${slow?.micros}`}`,
  );
  if (!isEqual) process.exitCode = 1;
}

await main();
