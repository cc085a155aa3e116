/**
 * Sums of what was spent. Whole days come from `usage_days`, which has a row for each day, chat and model. The parts of
 * days that a range begins or ends with come from the ledger, of the chats that were active on those days.
 */
import type { QueryResultRow } from "pg";
import { DAY_MS, splitRange, type DateRange } from "../../domain/usage/date-range.js";
import type { Database, Queryable, Statement } from "../common/database.js";
import { GREATEST_UUID, type Page, type PageRequest, toPage } from "../common/pages.js";

/** Sums of model calls, whatever became of their messages. */
export type Spending = {
  totalMicros: bigint;
  /** All calls, those without a known use of tokens included. */
  messageCount: number;
  /** Those with a cost, 0 included. */
  pricedMessageCount: number;
  /** Those that used tokens and have no cost. */
  unpricedMessageCount: number;
  inputTokens: bigint;
  outputTokens: bigint;
  cacheReadTokens: bigint;
  cacheWriteTokens: bigint;
  runtimeMs: bigint;
};

export type SpendingOfModel = Spending & { modelConfigId: string };
export type SpendingOfChat = Spending & { rootChatId: string };
export type SpendingOfUser = Spending & { userId: string; chatCount: number };

const COUNTS = [
  "cost_micros",
  "message_count",
  "priced_message_count",
  "unpriced_message_count",
  "input_tokens",
  "output_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "runtime_ms",
] as const;

type SumsDbRow = Record<(typeof COUNTS)[number], string>;

/** Sums of counts are numeric in PostgreSQL; nothing here comes near the end of int8. */
const sums = COUNTS.map((name) => `sum(${name})::bigint AS ${name}`).join(", ");

/** The chats that called a model on a range's edges, once per edge: `$3`, `$4` and `$5` are the edges' days, beginnings and ends. */
const edgeChats = (who: string) => `(
  SELECT DISTINCT u.owner_id, u.root_chat_id, u.chat_id, edge."from", edge."to"
  FROM unnest($3::date[], $4::timestamptz[], $5::timestamptz[]) AS edge (day, "from", "to")
    JOIN usage_days u ON u.day = edge.day AND ${who})`;

const edgeCalls = (who: string) => `${edgeChats(who)} e
  JOIN model_calls m ON m.chat_id = e.chat_id AND m.created_at >= e."from" AND m.created_at < e."to"`;

/**
 * Rows of a range: one per day, chat and model, and one per call in a part of a day. `$1`/`$2` are the first whole day and
 * the one after the last. `who` is a condition on `u`.
 * Indexes: usage_days_pkey, usage_days_day_idx or usage_days_root_idx, by `who`; for edges model_calls_chat_idx.
 */
const spent = (who: string) => `
  SELECT u.owner_id, u.root_chat_id, u.model_config_id, ${COUNTS.map((name) => `u.${name}`).join(", ")}
  FROM usage_days u WHERE ${who} AND u.day >= $1::date AND u.day < $2::date
  UNION ALL
  SELECT e.owner_id, e.root_chat_id, m.model_config_id, coalesce(m.cost_micros, 0), 1,
    (m.cost_micros IS NOT NULL)::int, (m.cost_micros IS NULL AND m.input_tokens IS NOT NULL)::int,
    coalesce(m.input_tokens, 0), coalesce(m.output_tokens, 0), coalesce(m.cache_read_tokens, 0),
    coalesce(m.cache_write_tokens, 0), coalesce(m.runtime_ms, 0)
  FROM ${edgeCalls(who)}`;

/** The cost alone of all users' calls in a range: there may be hundreds of thousands of rows, so they are narrow. */
const ALL_MICROS = `
  SELECT u.owner_id, u.cost_micros FROM usage_days u WHERE u.day >= $1::date AND u.day < $2::date
  UNION ALL
  SELECT e.owner_id, coalesce(m.cost_micros, 0) FROM ${edgeCalls("true")}`;

function rangeValues(range: DateRange): unknown[] {
  const { days, edges } = splitRange(range);
  const whole = days ?? { from: 0, to: 0 };
  return [
    dayOf(whole.from),
    dayOf(whole.to),
    edges.map(({ from }) => dayOf(from)),
    edges.map(({ from }) => new Date(from)),
    edges.map(({ to }) => new Date(to)),
  ];
}

function dayOf(time: number): string {
  return new Date(Math.floor(time / DAY_MS) * DAY_MS).toISOString().slice(0, 10);
}

const OF_USER: Statement = {
  name: "costs.of-user",
  text: `SELECT model_config_id, ${sums} FROM (${spent("u.owner_id = $6")}) s
    GROUP BY model_config_id ORDER BY sum(cost_micros) DESC, model_config_id`,
};

/** The cost of a user's chats in the range, by model, the dearest first. */
export async function readUserSpending(
  db: Queryable,
  userId: string,
  range: DateRange,
): Promise<SpendingOfModel[]> {
  type Row = SumsDbRow & { model_config_id: string };
  const rows = await db.query<Row>(OF_USER, [...rangeValues(range), userId]);
  return rows.map((row) => ({ modelConfigId: row.model_config_id, ...toSpending(row) }));
}

// Indexes: usage_days_root_idx for whole families, usage_days_chat_idx for single subagents.
const OF_CHATS: Statement = {
  name: "costs.of-chats",
  text: `SELECT asked_id, model_config_id, ${sums} FROM (
      SELECT root_chat_id AS asked_id, u.* FROM usage_days u WHERE u.root_chat_id = ANY ($1::uuid[])
      UNION ALL
      SELECT chat_id, u.* FROM usage_days u WHERE u.chat_id = ANY ($1::uuid[]) AND u.root_chat_id <> u.chat_id) s
    GROUP BY asked_id, model_config_id ORDER BY sum(cost_micros) DESC, model_config_id`,
};

/**
 * The cost of chats so far, by model, the dearest first: of a root with its subagents, of a subagent alone. Every chat
 * asked for has an entry. The caller checks the chats' visibility.
 */
export async function readChatSpending(
  db: Queryable,
  chatIds: readonly string[],
): Promise<Map<string, SpendingOfModel[]>> {
  type Row = SumsDbRow & { asked_id: string; model_config_id: string };
  const found = new Map(chatIds.map((id) => [id, [] as SpendingOfModel[]]));
  for (const row of await db.query<Row>(OF_CHATS, [chatIds])) {
    found.get(row.asked_id)?.push({ modelConfigId: row.model_config_id, ...toSpending(row) });
  }
  return found;
}

const CHATS_OF_USER: Statement = {
  name: "costs.chats-of-user",
  text: `SELECT * FROM (
      SELECT root_chat_id, ${sums} FROM (${spent("u.owner_id = $6")}) s GROUP BY root_chat_id) c
    WHERE (cost_micros, root_chat_id) < ($7::bigint, $8::uuid)
    ORDER BY cost_micros DESC, root_chat_id DESC LIMIT $9`,
};

/** A user's chats that had a model call in the range, the dearest first; forwards only. */
export async function listChatSpending(
  db: Queryable,
  { userId, range }: { userId: string; range: DateRange },
  page: PageRequest,
): Promise<Page<SpendingOfChat>> {
  type Row = SumsDbRow & { root_chat_id: string };
  const values = [...rangeValues(range), userId, ...cursorValues(page), page.limit + 1];
  const rows = await db.query<Row>(CHATS_OF_USER, values);
  const found = rows.map((row) => ({
    cursor: { key: row.cost_micros, id: row.root_chat_id },
    row: { rootChatId: row.root_chat_id, ...toSpending(row) },
  }));
  return toPage(page, found);
}

// All users are summed once, by cost alone, which is the order; the other sums are made for the page only.
const USERS: Statement = {
  name: "costs.users",
  text: `WITH spenders AS (
      SELECT s.owner_id, sum(s.cost_micros)::bigint AS total FROM (${ALL_MICROS}) s
      WHERE $6::text IS NULL OR s.owner_id IN (SELECT id FROM users WHERE username ILIKE $6 OR name ILIKE $6)
      GROUP BY s.owner_id),
    page AS (
      SELECT * FROM spenders WHERE (total, owner_id) < ($7::bigint, $8::uuid)
      ORDER BY total DESC, owner_id DESC LIMIT $9)
    SELECT page.owner_id, own.*, (SELECT sum(total)::bigint FROM spenders) AS all_micros
    FROM page CROSS JOIN LATERAL (
      SELECT count(DISTINCT s.root_chat_id) AS chat_count, ${sums} FROM (${spent("u.owner_id = page.owner_id")}) s) own
    ORDER BY page.total DESC, page.owner_id DESC`,
};

const ALL_USERS: Statement = {
  name: "costs.all-users",
  text: `SELECT coalesce(sum(s.cost_micros), 0)::bigint AS all_micros FROM (${ALL_MICROS}) s
    WHERE $6::text IS NULL OR s.owner_id IN (SELECT id FROM users WHERE username ILIKE $6 OR name ILIKE $6)`,
};

/**
 * Statements are planned once for all values, which suits index lookups. Here the best plan depends on how many days the
 * range has: planned for its values, a year takes a third of the time.
 */
const PLAN_FOR_VALUES: Statement = {
  name: "costs.plan-for-values",
  text: "SET LOCAL plan_cache_mode = force_custom_plan",
};

async function queryPlanned<Row extends QueryResultRow>(
  db: Pick<Database, "transaction">,
  statement: Statement,
  values: unknown[],
): Promise<Row[]> {
  return db.transaction(async (transaction) => {
    await transaction.query(PLAN_FOR_VALUES, []);
    return transaction.query<Row>(statement, values);
  });
}

/** `totalMicros`: of all users who match, not only of the page. */
export type UserSpendingPage = Page<SpendingOfUser> & { totalMicros: bigint };

/**
 * Users who had a model call in the range, the dearest first; forwards only. `pattern` is for ILIKE on username and
 * name; null = all users.
 */
export async function listUserSpending(
  db: Pick<Database, "transaction">,
  { range, pattern }: { range: DateRange; pattern: string | null },
  page: PageRequest,
): Promise<UserSpendingPage> {
  type Row = SumsDbRow & { owner_id: string; chat_count: string; all_micros: string };
  const asked = [...rangeValues(range), pattern];
  const rows = await queryPlanned<Row>(db, USERS, [...asked, ...cursorValues(page), page.limit + 1]);
  const found = rows.map((row) => ({
    cursor: { key: row.cost_micros, id: row.owner_id },
    row: { userId: row.owner_id, chatCount: Number(row.chat_count), ...toSpending(row) },
  }));
  // A page behind the last user has no row to carry the sum.
  const [{ all_micros: total } = { all_micros: "0" }] =
    rows.length > 0 ? rows : await queryPlanned<{ all_micros: string }>(db, ALL_USERS, asked);
  return { ...toPage(page, found), totalMicros: BigInt(total) };
}

const GREATEST_INT8 = "9223372036854775807";

/** Strictly behind `after`; the dearest come first. */
function cursorValues({ after }: PageRequest): unknown[] {
  return [after?.key ?? GREATEST_INT8, after?.id ?? GREATEST_UUID];
}

export function addSpending(parts: readonly Spending[]): Spending {
  const total = { ...NOTHING_SPENT };
  for (const part of parts) {
    total.totalMicros += part.totalMicros;
    total.messageCount += part.messageCount;
    total.pricedMessageCount += part.pricedMessageCount;
    total.unpricedMessageCount += part.unpricedMessageCount;
    total.inputTokens += part.inputTokens;
    total.outputTokens += part.outputTokens;
    total.cacheReadTokens += part.cacheReadTokens;
    total.cacheWriteTokens += part.cacheWriteTokens;
    total.runtimeMs += part.runtimeMs;
  }
  return total;
}

const NOTHING_SPENT: Spending = {
  totalMicros: 0n,
  messageCount: 0,
  pricedMessageCount: 0,
  unpricedMessageCount: 0,
  inputTokens: 0n,
  outputTokens: 0n,
  cacheReadTokens: 0n,
  cacheWriteTokens: 0n,
  runtimeMs: 0n,
};

function toSpending(row: SumsDbRow): Spending {
  return {
    totalMicros: BigInt(row.cost_micros),
    messageCount: Number(row.message_count),
    pricedMessageCount: Number(row.priced_message_count),
    unpricedMessageCount: Number(row.unpriced_message_count),
    inputTokens: BigInt(row.input_tokens),
    outputTokens: BigInt(row.output_tokens),
    cacheReadTokens: BigInt(row.cache_read_tokens),
    cacheWriteTokens: BigInt(row.cache_write_tokens),
    runtimeMs: BigInt(row.runtime_ms),
  };
}
