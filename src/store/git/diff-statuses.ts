/**
 * What is known of the branches that chats work on, and when to look again. All times are the database's: replicas
 * claim by one clock. Each row is in one of three states: due (`stale_at` is past), claimed (`stale_at` was moved on, and
 * `claimed_at` is that look's name), and known until `stale_at`.
 */
import { type BranchFacts, type DiffStatusView, unknownBranch } from "../../domain/git/branch-facts.js";
import { CLAIM_MS } from "../../domain/git/diff-status.js";
import type { Queryable, Statement } from "../common/database.js";
import { type Selected, selectionOf } from "../common/entity-columns.js";
import { toJsonb } from "../common/jsonb-text.js";
import { ChatDiffStatusEntity } from "./chat-diff-status.entity.js";

/** Rows that could not be refreshed for so long are not to be trusted, whatever the reason. */
const MAX_AGE = "interval '1 hour'";

/** Work was seen since the last answer, the host did not answer, or that is long ago; for the row `d`. */
const isStaleSql = `(d.refreshed_at IS NULL OR d.marked_at > d.refreshed_at OR d.failure IS NOT NULL
  OR d.refreshed_at < now() - ${MAX_AGE})`;

/** A branch, and where it is pushed to; without user name and password. */
export type BranchWork = Pick<ChatDiffStatusEntity, "branch" | "remoteOrigin">;

const MARK: Statement = {
  name: "diff-statuses.mark",
  text: `
    INSERT INTO chat_diff_statuses AS d (chat_id, git_branch, git_remote_origin, stale_at, marked_at)
    VALUES ($1, $2, $3, clock_timestamp() - interval '1 second', clock_timestamp())
    ON CONFLICT (chat_id) DO UPDATE SET git_branch = excluded.git_branch,
      git_remote_origin = excluded.git_remote_origin, stale_at = excluded.stale_at, marked_at = excluded.marked_at,
      -- What was known is of another branch.
      facts = CASE WHEN d.git_branch = excluded.git_branch AND d.git_remote_origin = excluded.git_remote_origin
        THEN d.facts END,
      failure = NULL`,
};

/** This chat's git has spoken with a host; of other chats in the same workspace that says nothing. */
export async function markDiffStale(db: Queryable, chatId: string, work: BranchWork): Promise<void> {
  await db.query(MARK, [chatId, work.branch, work.remoteOrigin]);
}

const SHOWS_MARK: Statement = {
  name: "diff-statuses.shows-mark",
  text: `
    SELECT 1 FROM chat_diff_statuses d
    WHERE d.chat_id = $1 AND d.git_branch = $2 AND d.git_remote_origin = $3 AND ${isStaleSql}`,
};

/** Whether users see already what a mark would show. */
export async function isMarkShown(db: Queryable, chatId: string, work: BranchWork): Promise<boolean> {
  return (await db.query(SHOWS_MARK, [chatId, work.branch, work.remoteOrigin])).length > 0;
}

const polled = selectionOf(ChatDiffStatusEntity, "d", ["chatId", "branch", "remoteOrigin", "facts"]);

/** A claimed poll of a chat's branch. */
export type ClaimedPoll = ReturnType<(typeof polled)["read"]> & {
  ownerId: string;
  /** Identifies the claim; a later claim voids it. */
  claim: string;
  /** Whether users saw a stale status when it was claimed. */
  isStale: boolean;
  /** Milliseconds since work on the branch was last seen. */
  sinceMarkedMs: number;
};

const CLAIMED = `${polled.columns}, d.owner_id AS "ownerId", d.claimed_at::text AS claim, d.was_stale AS "isStale",
  extract(epoch FROM clock_timestamp() - d.marked_at)::float8 * 1000 AS "sinceMarkedMs"`;

type ClaimedDbRow = Selected<ReturnType<(typeof polled)["read"]>> &
  Pick<ClaimedPoll, "ownerId" | "claim" | "isStale" | "sinceMarkedMs">;

function toClaimed(row: ClaimedDbRow): ClaimedPoll {
  const { ownerId, claim, isStale, sinceMarkedMs } = row;
  return { ownerId, claim, isStale, sinceMarkedMs, ...polled.read(row) };
}

/** `due` names rows as `chat_id, owner_id, is_parked, was_stale`. Parked ones are postponed by a day, and not returned. */
const claiming = (due: string) => `
  WITH due AS (${due}),
  claimed AS (
    UPDATE chat_diff_statuses d SET claimed_at = clock_timestamp(),
      stale_at = now() + CASE WHEN due.is_parked THEN interval '1 day' ELSE interval '${CLAIM_MS} milliseconds' END
    FROM due WHERE d.chat_id = due.chat_id
    RETURNING d.*, due.owner_id, due.is_parked, due.was_stale)
  SELECT ${CLAIMED} FROM claimed d WHERE NOT d.is_parked ORDER BY d.claimed_at`;

// Index: chat_diff_statuses_stale_idx. Rows that another replica is claiming are skipped.
const CLAIM_DUE: Statement = {
  name: "diff-statuses.claim-due",
  text: claiming(`
    SELECT d.chat_id, c.owner_id, ${isStaleSql} AS was_stale,
      c.archived_at IS NOT NULL OR u.deactivated_at IS NOT NULL AS is_parked
    FROM chat_diff_statuses d JOIN chats c ON c.id = d.chat_id JOIN users u ON u.id = c.owner_id
    WHERE d.stale_at <= now() ORDER BY d.stale_at LIMIT $1 FOR NO KEY UPDATE OF d SKIP LOCKED`),
};

// Index: chat_diff_statuses_pkey. Voids an earlier claim.
const CLAIM_ONE: Statement = {
  name: "diff-statuses.claim-one",
  text: claiming(`
    SELECT d.chat_id, c.owner_id, false AS is_parked, ${isStaleSql} AS was_stale
    FROM chat_diff_statuses d JOIN chats c ON c.id = d.chat_id
    WHERE d.chat_id = $1 FOR NO KEY UPDATE OF d`),
};

/**
 * Claims at most `limit` polls that are due, the longest due first. Archived chats and those of deactivated users are
 * parked.
 */
export async function claimDuePolls(db: Queryable, limit: number): Promise<ClaimedPoll[]> {
  return (await db.query<ClaimedDbRow>(CLAIM_DUE, [limit])).map(toClaimed);
}

/** Null when the chat's branch is not known. */
export async function claimPoll(db: Queryable, chatId: string): Promise<ClaimedPoll | null> {
  const [row] = await db.query<ClaimedDbRow>(CLAIM_ONE, [chatId]);
  return row ? toClaimed(row) : null;
}

// Index: chat_diff_statuses_pkey. Work that was marked meanwhile stays due.
const FINISH: Statement = {
  name: "diff-statuses.finish",
  text: `
    UPDATE chat_diff_statuses d SET facts = coalesce($3::jsonb, d.facts), failure = $4,
      refreshed_at = CASE WHEN $4::text IS NULL THEN d.claimed_at ELSE d.refreshed_at END,
      stale_at = CASE WHEN d.marked_at > d.claimed_at THEN d.stale_at
        ELSE now() + $5::float8 * interval '1 millisecond' END
    WHERE d.chat_id = $1 AND d.claimed_at = $2::timestamptz AND d.git_branch = $6 AND d.git_remote_origin = $7
    RETURNING 1`,
};

/**
 * Writes the result of a poll: facts or the name of a failure, and when to poll again. False, and nothing written, when
 * the claim is void: there is a later one, or the chat works on another branch by now.
 */
export async function finishPoll(
  db: Queryable,
  poll: ClaimedPoll,
  result: { facts: BranchFacts | null; failure: string | null; nextInMs: number },
): Promise<boolean> {
  const { chatId, claim, branch, remoteOrigin } = poll;
  const facts = result.facts && toJsonb(result.facts);
  const values = [chatId, claim, facts, result.failure, result.nextInMs, branch, remoteOrigin];
  return (await db.query(FINISH, values)).length > 0;
}

// Index: chat_diff_statuses_pkey.
const RELEASE: Statement = {
  name: "diff-statuses.release",
  text: `
    UPDATE chat_diff_statuses d SET stale_at = now() FROM unnest($1::uuid[], $2::text[]) AS r (chat_id, claim)
    WHERE d.chat_id = r.chat_id AND d.claimed_at = r.claim::timestamptz`,
};

/** Returns claimed polls that were not made: they are due again. */
export async function releasePolls(db: Queryable, polls: readonly ClaimedPoll[]): Promise<void> {
  const [chatIds, claims] = [polls.map(({ chatId }) => chatId), polls.map(({ claim }) => claim)];
  await db.query(RELEASE, [chatIds, claims]);
}

const shown = selectionOf(ChatDiffStatusEntity, "d", ["chatId", "branch", "facts", "refreshedAt"]);

// Index: chat_diff_statuses_pkey.
const READ: Statement = {
  name: "diff-statuses.read",
  text: `
    SELECT ${shown.columns}, ${isStaleSql} AS "isStale"
    FROM chat_diff_statuses d WHERE d.chat_id = ANY ($1::uuid[])`,
};

/** The diff status of each chat's branch; chats without one are left out. The caller checks visibility. */
export async function readDiffStatuses(
  db: Queryable,
  chatIds: readonly string[],
): Promise<Map<string, DiffStatusView>> {
  type Row = Selected<ReturnType<(typeof shown)["read"]>> & Pick<DiffStatusView, "isStale">;
  const rows = await db.query<Row>(READ, [chatIds]);
  return new Map(
    rows.map((row) => {
      const { chatId, branch, facts, refreshedAt } = shown.read(row);
      return [chatId, { ...(facts ?? unknownBranch(branch)), refreshedAt, isStale: row.isStale }];
    }),
  );
}

const known = selectionOf(ChatDiffStatusEntity, "d", ["branch", "remoteOrigin", "facts"]);

const FIND_WORK: Statement = {
  name: "diff-statuses.find-work",
  text: `
    SELECT ${known.columns}, c.owner_id AS "ownerId",
      CASE WHEN d.failure = 'rate-limited' AND d.stale_at > now() THEN d.stale_at END AS "limitedUntil"
    FROM chat_diff_statuses d JOIN chats c ON c.id = d.chat_id WHERE d.chat_id = $1`,
};

/** The branch that a chat works on, and its last known facts. */
export type KnownWork = ReturnType<(typeof known)["read"]> & {
  ownerId: string;
  /** Until then the host rejects requests, by its rate limit; null = it does not. */
  limitedUntil: Date | null;
};

/** Null when the chat's branch is not known. */
export async function findBranchWork(db: Queryable, chatId: string): Promise<KnownWork | null> {
  type Row = Selected<ReturnType<(typeof known)["read"]>> & Pick<KnownWork, "ownerId" | "limitedUntil">;
  const [row] = await db.query<Row>(FIND_WORK, [chatId]);
  return row ? { ownerId: row.ownerId, limitedUntil: row.limitedUntil, ...known.read(row) } : null;
}

// Index: chats_owner_created_idx, then chat_diff_statuses_pkey.
const POLL_AGAIN: Statement = {
  name: "diff-statuses.poll-again",
  text: `
    UPDATE chat_diff_statuses d SET stale_at = now() FROM chats c
    WHERE c.id = d.chat_id AND c.owner_id = $1 AND d.failure IN ('no-token', 'unauthorized', 'no-host')`,
};

/** Makes polls due that failed for want of a token, after the user has connected a host. */
export async function pollAgainWithToken(db: Queryable, ownerId: string): Promise<void> {
  await db.query(POLL_AGAIN, [ownerId]);
}
