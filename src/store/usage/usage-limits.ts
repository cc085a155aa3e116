/** Spending limits: the deployment's policy, the limits of single users, and a user's spending against theirs. */
import {
  type LimitStatus,
  type UsageLimitPolicy,
  effectiveLimit,
  LIMIT_PERIODS,
  periodAt,
} from "../../domain/usage/usage-limits.js";
import type { Queryable, Statement } from "../common/database.js";
import { type Selected, selectionOf } from "../common/entity-columns.js";
import { type Page, type PageRequest, toPage } from "../common/pages.js";
import { fromUsernameKey, toUsernameKey } from "../users/user-administration.js";
import { UsageLimitOverrideEntity } from "./usage-limit-override.entity.js";
import { UsageLimitPolicyEntity } from "./usage-limit-policy.entity.js";

const policy = selectionOf(UsageLimitPolicyEntity, "p", ["isEnabled", "period", "defaultLimitMicros"]);
type PolicyDbRow = Selected<UsageLimitPolicy>;

const POLICY: Statement = {
  name: "usage-limits.policy",
  text: `SELECT ${policy.columns} FROM usage_limit_policy p`,
};

export async function readUsageLimitPolicy(db: Queryable): Promise<UsageLimitPolicy> {
  return requirePolicy(await db.query<PolicyDbRow>(POLICY, []));
}

/** A policy, and the users with a limit of their own where the policy has none for all. */
export type KnownLimits = UsageLimitPolicy & { limitedUserIds: ReadonlySet<string> };

const KNOWN: Statement = {
  name: "usage-limits.known",
  text: `SELECT ${policy.columns},
      CASE WHEN p.is_enabled AND p.default_limit_micros IS NULL
        THEN ARRAY(SELECT user_id::text FROM usage_limit_overrides) ELSE '{}' END AS limited
    FROM usage_limit_policy p`,
};

/** What decides whether a user has a limit at all. Users' own limits are read only where the policy has none. */
export async function readKnownLimits(db: Queryable): Promise<KnownLimits> {
  const rows = await db.query<PolicyDbRow & { limited: string[] }>(KNOWN, []);
  return { ...requirePolicy(rows), limitedUserIds: new Set(rows[0]?.limited) };
}

const LOCK_POLICY: Statement = { name: "usage-limits.lock-policy", text: `${POLICY.text} FOR UPDATE` };

const SET_POLICY: Statement = {
  name: "usage-limits.set-policy",
  text: `UPDATE usage_limit_policy SET is_enabled = $1, period = $2, default_limit_micros = $3, updated_at = now()`,
};

/** Locks the policy until the transaction ends. */
export async function lockUsageLimitPolicy(transaction: Queryable): Promise<UsageLimitPolicy> {
  return requirePolicy(await transaction.query<PolicyDbRow>(LOCK_POLICY, []));
}

export async function setUsageLimitPolicy(transaction: Queryable, policy: UsageLimitPolicy): Promise<void> {
  const { isEnabled, period, defaultLimitMicros } = policy;
  await transaction.query(SET_POLICY, [isEnabled, period, defaultLimitMicros?.toString() ?? null]);
}

const override = selectionOf(UsageLimitOverrideEntity, "o", ["userId", "limitMicros", "updatedAt"]);

/** One user's own limit. */
export type UsageLimitOverrideRecord = ReturnType<(typeof override)["read"]>;
type OverrideDbRow = Selected<UsageLimitOverrideRecord>;

// Index: usage_limit_overrides_pkey.
const LOCK_OVERRIDE: Statement = {
  name: "usage-limits.lock-override",
  text: `SELECT ${override.columns} FROM usage_limit_overrides o WHERE o.user_id = $1 FOR UPDATE`,
};

/** Null when the user has no limit of their own. */
export async function lockUsageLimitOverride(
  transaction: Queryable,
  userId: string,
): Promise<UsageLimitOverrideRecord | null> {
  const [row] = await transaction.query<OverrideDbRow>(LOCK_OVERRIDE, [userId]);
  return row ? override.read(row) : null;
}

const SET_OVERRIDE: Statement = {
  name: "usage-limits.set-override",
  text: `INSERT INTO usage_limit_overrides AS o (user_id, limit_micros) VALUES ($1, $2)
    ON CONFLICT (user_id) DO UPDATE SET limit_micros = excluded.limit_micros, updated_at = now()
    RETURNING ${override.columns}`,
};

/** The user must exist. */
export async function setUsageLimitOverride(
  transaction: Queryable,
  userId: string,
  limitMicros: bigint,
): Promise<UsageLimitOverrideRecord> {
  const [row] = await transaction.query<OverrideDbRow>(SET_OVERRIDE, [userId, limitMicros.toString()]);
  if (!row) throw new Error("A usage limit was not written.");
  return override.read(row);
}

const CLEAR_OVERRIDE: Statement = {
  name: "usage-limits.clear-override",
  text: "DELETE FROM usage_limit_overrides WHERE user_id = $1",
};

export async function clearUsageLimitOverride(transaction: Queryable, userId: string): Promise<void> {
  await transaction.query(CLEAR_OVERRIDE, [userId]);
}

// Indexes: usage_limit_overrides_pkey, users_username_key.
const LIST_OVERRIDES: Statement = {
  name: "usage-limits.overrides",
  text: `SELECT ${override.columns}, u.username
    FROM usage_limit_overrides o JOIN users u ON u.id = o.user_id
    WHERE $1::text IS NULL OR u.username > $1 ORDER BY u.username LIMIT $2`,
};

/** By username; forwards only. Cursor keys are usernames in hexadecimal. */
export async function listUsageLimitOverrides(
  db: Queryable,
  page: PageRequest,
): Promise<Page<UsageLimitOverrideRecord>> {
  const values = [page.after && fromUsernameKey(page.after.key), page.limit + 1];
  const rows = await db.query<OverrideDbRow & { username: string }>(LIST_OVERRIDES, values);
  return toPage(
    page,
    rows.map((row) => {
      const read = override.read(row);
      return { cursor: { key: toUsernameKey(row.username), id: read.userId }, row: read };
    }),
  );
}

export type LimitStatusDbRow = PolicyDbRow & { own_limit_micros: string | null; spent_micros: string };

/**
 * The policy, the user's own limit and their spending in the policy's period, as one row. `userId` is SQL for the
 * user, `days` for the first days of the periods and of those after them, both in the order of `LIMIT_PERIODS`.
 * Indexes: usage_limit_overrides_pkey, usage_days_pkey.
 */
export function limitStatusText(userId: string, days: { from: string; to: string }): string {
  return `SELECT ${policy.columns}, o.limit_micros AS own_limit_micros,
      (SELECT coalesce(sum(d.cost_micros), 0)::bigint FROM usage_days d WHERE d.owner_id = ${userId}
        AND d.day >= (${days.from})[period.index] AND d.day < (${days.to})[period.index]) AS spent_micros
    FROM usage_limit_policy p
      CROSS JOIN LATERAL (SELECT array_position(enum_range(NULL::limit_period), p.period) AS index) period
      LEFT JOIN usage_limit_overrides o ON o.user_id = ${userId}`;
}

/** First days of the periods that `now` lies in and of those after them, as ISO dates. */
export function periodDays(now: number): { from: string[]; to: string[] } {
  const ranges = LIMIT_PERIODS.map((period) => periodAt(period, now));
  return { from: ranges.map(({ from }) => isoDay(from)), to: ranges.map(({ to }) => isoDay(to)) };
}

const isoDay = (time: number) => new Date(time).toISOString().slice(0, 10);

const STATUS: Statement = {
  name: "usage-limits.status",
  text: limitStatusText("$1::uuid", { from: "$2::date[]", to: "$3::date[]" }),
};

/** The user's spending against their limit. Exact, because periods begin and end with days. */
export async function readLimitStatus(db: Queryable, userId: string, now: number): Promise<LimitStatus> {
  const days = periodDays(now);
  const [row] = await db.query<LimitStatusDbRow>(STATUS, [userId, days.from, days.to]);
  return toLimitStatus(row, now);
}

export function toLimitStatus(row: LimitStatusDbRow | undefined, now: number): LimitStatus {
  const read = requirePolicy(row ? [row] : []);
  const own = row?.own_limit_micros ?? null;
  return {
    ...effectiveLimit(read, own === null ? null : BigInt(own)),
    period: read.period,
    spentMicros: BigInt(row?.spent_micros ?? 0),
    range: periodAt(read.period, now),
  };
}

function requirePolicy([row]: PolicyDbRow[]): UsageLimitPolicy {
  if (!row) throw new Error("The usage limit policy is missing; its migration inserts it.");
  return policy.read(row);
}
