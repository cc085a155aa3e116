// Invariants of every chat in the database, whatever happened to it.
import type { TestDatabase } from "../../../support/database/database.js";
import { decodeId } from "../../../../src/domain/common/ids.js";

type StoredPart = { type: string; toolCallId?: string; isProviderExecuted?: boolean };
type ChatRow = Record<string, unknown> & {
  status: string;
  snapshot: number;
  versions: number[];
  queued_ids: string[];
  open_calls: { toolCallId: string }[];
};
type MessageRow = { content: StoredPart[]; revision: number };

/** A sentence for each invariant that the chat violates. */
export async function findLawBreaches(
  database: TestDatabase["dataSource"],
  publicId: string,
): Promise<string[]> {
  const chatId = decodeId("chat", publicId);
  const [[chat], messages, queued] = await Promise.all([
    database.query<ChatRow[]>(
      `SELECT status, runner_id, worker_id, retry_state, compaction_requested_at, action_deadline_at, queued_ids,
        open_calls, snapshot_version::int AS snapshot, ARRAY[history_version, queue_version, status_version,
        retry_version, reset_version, title_version, diff_version]::int[] AS versions FROM chats WHERE id = $1`,
      [chatId],
    ),
    database.query<MessageRow[]>(
      `SELECT content, revision::int AS revision FROM chat_messages WHERE chat_id = $1 AND NOT is_deleted ORDER BY id`,
      [chatId],
    ),
    database.query<{ id: string }[]>(`SELECT id FROM chat_queued_messages WHERE chat_id = $1`, [chatId]),
  ]);
  if (!chat) return ["There is no such chat."];
  return [
    ...unansweredCalls(chat, messages),
    ...leftovers(chat),
    ...wrongVersions(chat, messages),
    ...wrongQueue(chat, queued),
  ];
}

/** Every tool call is followed by exactly one result, or is pending. */
function unansweredCalls({ open_calls: open }: ChatRow, messages: MessageRow[]): string[] {
  const parts = messages.flatMap(({ content }) => content);
  const results = parts.filter(({ type }) => type === "tool-result").map(({ toolCallId }) => toolCallId);
  const calls = parts.filter(({ type }) => type === "tool-call");
  const waited = new Set(open.map(({ toolCallId }) => toolCallId));
  const wrong = calls.filter(({ toolCallId }) => {
    const count = results.filter((id) => id === toolCallId).length;
    return count !== (waited.has(toolCallId ?? "") ? 0 : 1);
  });
  const known = new Set(calls.map(({ toolCallId }) => toolCallId));
  return [
    ...wrong.map(({ toolCallId }) => `the call ${toolCallId} does not have one result`),
    ...results.filter((id) => !known.has(id)).map((id) => `the result ${id} has no call`),
  ];
}

/** An idle chat has no leftovers of a turn. */
function leftovers(chat: ChatRow): string[] {
  if (!["waiting", "error"].includes(chat.status)) return [`the chat is ${chat.status}`];
  const names = ["runner_id", "worker_id", "retry_state", "action_deadline_at"];
  // A failed manual compaction is repeated by a retry.
  if (chat.status !== "error") names.push("compaction_requested_at");
  return names.filter((name) => chat[name] !== null).map((name) => `an idle chat has a ${name}`);
}

function wrongVersions({ snapshot, versions }: ChatRow, messages: MessageRow[]): string[] {
  const all = [...versions, ...messages.map(({ revision }) => revision)];
  return all
    .filter((version) => version > snapshot)
    .map((version) => `version ${version} is above ${snapshot}`);
}

function wrongQueue({ queued_ids: ids }: ChatRow, queued: { id: string }[]): string[] {
  const stored = queued.map(({ id }) => id).sort();
  const listed = [...ids].sort();
  return stored.join() === listed.join()
    ? []
    : [`the queue says ${listed.join()} and holds ${stored.join()}`];
}
