// Invariants of every settled chat: of its database rows, and of its rows compared with its user's acknowledged commands.
// Pure.
import type { JsonValue } from "../../src/domain/common/json.js";
import type { Entry } from "./record.js";

export type ChatRow = {
  id: string;
  status: string;
  archived_at: string | null;
  worker_id: string | null;
  runner_id: string | null;
  retry_state: JsonValue;
  last_error: JsonValue;
  action_deadline_at: string | null;
  compaction_requested_at: string | null;
  open_calls: { toolCallId: string }[];
  queued_ids: string[];
  snapshot_version: number;
  history_version: number;
  reset_version: number;
  queue_version: number;
  status_version: number;
  retry_version: number;
  title_version: number;
  diff_version: number;
};

export type PartRow = {
  type: string;
  text?: string;
  toolCallId?: string;
  toolName?: string;
  isProviderExecuted?: boolean;
};

export type MessageRow = {
  id: number;
  role: string;
  visibility: string;
  content: PartRow[];
  author_id: string | null;
  revision: number;
  generation: string | null;
  is_summary: boolean;
  is_deleted: boolean;
};

export type QueuedRow = { id: string; content: PartRow[] };

export type ChatRows = { chat: ChatRow; messages: MessageRow[]; queue: QueuedRow[] };

/** Describes the violated invariants of a settled chat. */
export function violationsOf(rows: ChatRows, entries: readonly Entry[]): string[] {
  return [
    ...violationsOfSettledState(rows.chat),
    ...violationsOfLastMessage(rows),
    ...violationsOfVersions(rows),
    ...violationsOfCalls(
      rows.messages.filter((message) => !message.is_deleted),
      rows.chat.open_calls.map(({ toolCallId }) => toolCallId),
    ),
    ...violationsOfGenerations(rows.messages),
    ...violationsOfQueue(rows),
    ...violationsOfMessages(rows, entries),
    ...violationsOfEdits(rows.messages, entries),
  ];
}

function violationsOfSettledState(chat: ChatRow): string[] {
  const isRest = chat.status === "waiting" || (chat.archived_at !== null && chat.status === "error");
  return when([
    [!isRest, `is ${chat.status}`],
    [chat.worker_id !== null || chat.runner_id !== null, "is claimed although it is settled"],
    [chat.retry_state !== null, "still has a retry state"],
    [chat.action_deadline_at !== null, "still has a deadline"],
    [chat.compaction_requested_at !== null && chat.status !== "error", "still has a compaction request"],
    [
      (chat.last_error !== null) !== (chat.status === "error"),
      "has an error without the error status, or vice versa",
    ],
    [chat.status === "waiting" && chat.open_calls.length > 0, "is settled with open calls"],
  ]);
}

/** The last message of a chat that is not archived was sent without faults, so that it has an answer. */
function violationsOfLastMessage({ chat, messages }: ChatRows): string[] {
  const last = messages.findLast((message) => !message.is_deleted);
  const isAnswered = last?.role === "assistant";
  return when([[chat.archived_at === null && !isAnswered, `ends with message ${last?.id} of ${last?.role}`]]);
}

function violationsOfVersions({ chat, messages }: ChatRows): string[] {
  const versions = {
    history_version: chat.history_version,
    reset_version: chat.reset_version,
    queue_version: chat.queue_version,
    status_version: chat.status_version,
    retry_version: chat.retry_version,
    title_version: chat.title_version,
    diff_version: chat.diff_version,
  };
  const ahead = Object.entries(versions).filter(([, version]) => version > chat.snapshot_version);
  const newest = Math.max(...messages.map(({ revision }) => revision));
  return when([
    [ahead.length > 0, `has versions ahead of its snapshot: ${JSON.stringify(ahead)}`],
    [newest > chat.history_version, `has a message of revision ${newest}, after its history's version`],
  ]);
}

/**
 * Every call has one result, which comes after it and before the next user message; no result is without a call. Only a
 * failed turn may leave calls open, and the chat records them: they are answered with the next message.
 */
function violationsOfCalls(history: readonly MessageRow[], known: readonly string[]): string[] {
  const violations: string[] = [];
  const open = new Set<string>();
  const answered = new Set<string>();
  for (const { id, role, content, is_summary: isSummary } of history) {
    if (role === "user" && open.size > 0 && !isSummary)
      violations.push(`message ${id} was sent before ${[...open].join()} had results`);
    for (const { type, toolCallId = "", isProviderExecuted } of content) {
      if (isProviderExecuted) continue;
      if (type === "tool-call") {
        if (open.has(toolCallId) || answered.has(toolCallId))
          violations.push(`call ${toolCallId} exists twice`);
        open.add(toolCallId);
      }
      if (type === "tool-result") {
        if (!open.delete(toolCallId))
          violations.push(
            `result ${toolCallId} in message ${id} ${answered.has(toolCallId) ? "exists twice" : "has no call before it"}`,
          );
        answered.add(toolCallId);
      }
    }
  }
  if ([...open].sort().join() !== [...known].sort().join())
    violations.push(
      `calls without a result: ${[...open].join()}, but the chat records ${known.join() || "none"}`,
    );
  return violations;
}

/** A generation becomes at most one message. */
function violationsOfGenerations(messages: readonly MessageRow[]): string[] {
  const seen = new Map<string, number>();
  for (const { generation, visibility } of messages) {
    if (generation !== null && visibility !== "model") seen.set(generation, (seen.get(generation) ?? 0) + 1);
  }
  return [...seen]
    .filter(([, times]) => times > 1)
    .map(([generation]) => `two messages of generation ${generation}`);
}

function violationsOfQueue({ chat, queue }: ChatRows): string[] {
  const rows = queue.map(({ id }) => id).sort();
  const named = [...chat.queued_ids].sort();
  return when([[rows.join() !== named.join(), `queues ${named.join()} but has the rows ${rows.join()}`]]);
}

/** An acknowledged message exists exactly once, a refused one does not, and every existing message was sent. */
function violationsOfMessages({ messages, queue }: ChatRows, entries: readonly Entry[]): string[] {
  const violations: string[] = [];
  const locations = new Map<string, string[]>();
  const add = (content: PartRow[], location: string) => {
    const text = content[0]?.text ?? "";
    locations.set(text, [...(locations.get(text) ?? []), location]);
  };
  for (const message of messages)
    if (message.author_id !== null) add(message.content, `message ${message.id}`);
  for (const queued of queue) add(queued.content, `queue ${queued.id}`);
  for (const entry of entries) {
    if (entry.text === undefined) continue;
    const found = locations.get(entry.text) ?? [];
    locations.delete(entry.text);
    const name = `"${entry.text}" (${entry.command}, ${entry.outcome})`;
    if (found.length > 1) violations.push(`${name} exists more than once: ${found.join(", ")}`);
    if (entry.outcome === "refused" && found.length > 0)
      violations.push(`${name} exists: ${found.join(", ")}`);
    if (entry.outcome === "done" && found.length === 0 && !mayHaveLeftQueue(entry, entries))
      violations.push(`${name} is missing`);
  }
  for (const [text, where] of locations) violations.push(`"${text}" in ${where.join(", ")} was never sent`);
  return violations;
}

/** Whether a deletion of this message, or an edit that ended after it and clears the queue, may have removed it. */
function mayHaveLeftQueue(sent: Entry, entries: readonly Entry[]): boolean {
  if (sent.command === "edit" || sent.command === "create" || sent.isInHistory) return false;
  return entries.some(({ command, outcome, ended, queuedId }) => {
    if (outcome === "refused" || ended < sent.begun) return false;
    if (command === "edit") return true;
    // A lost response, or one sent after the message was promoted, does not show where the message went.
    return command === "delete queued" && (sent.queuedId === queuedId || sent.queuedId === null);
  });
}

/** Only edits delete messages, and each deletes at least one, all in one snapshot. */
function violationsOfEdits(messages: readonly MessageRow[], entries: readonly Entry[]): string[] {
  const snapshots = new Set(messages.filter((it) => it.is_deleted).map(({ revision }) => revision)).size;
  const edits = entries.filter(({ command }) => command === "edit");
  const done = edits.filter(({ outcome }) => outcome === "done").length;
  const possible = edits.filter(({ outcome }) => outcome !== "refused").length;
  return when([
    [
      snapshots < done || snapshots > possible,
      `was rewritten ${snapshots} times by ${done} to ${possible} edits`,
    ],
  ]);
}

function when(violations: [isViolated: boolean, sentence: string][]): string[] {
  return violations.filter(([isViolated]) => isViolated).map(([, sentence]) => sentence);
}
