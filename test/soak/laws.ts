// What must be true of every chat when all is quiet, whatever was done to it: of its rows alone, and of its rows held
// against what its person was told. Pure.
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

/** Sentences about what is wrong with a chat at rest. */
export function breachesOf(rows: ChatRows, entries: readonly Entry[]): string[] {
  return [
    ...breachesOfRest(rows.chat),
    ...breachesOfTheEnd(rows),
    ...breachesOfVersions(rows),
    ...breachesOfCalls(
      rows.messages.filter((message) => !message.is_deleted),
      rows.chat.open_calls.map(({ toolCallId }) => toolCallId),
    ),
    ...breachesOfGenerations(rows.messages),
    ...breachesOfQueue(rows),
    ...breachesOfWords(rows, entries),
    ...breachesOfEdits(rows.messages, entries),
  ];
}

function breachesOfRest(chat: ChatRow): string[] {
  const isRest = chat.status === "waiting" || (chat.archived_at !== null && chat.status === "error");
  return when([
    [!isRest, `is ${chat.status}`],
    [chat.worker_id !== null || chat.runner_id !== null, "is held although it rests"],
    [chat.retry_state !== null, "still tells of a retry"],
    [chat.action_deadline_at !== null, "still has a deadline"],
    [chat.compaction_requested_at !== null && chat.status !== "error", "still wants a summary"],
    [
      (chat.last_error !== null) !== (chat.status === "error"),
      "has an error without its status, or the reverse",
    ],
    [chat.status === "waiting" && chat.open_calls.length > 0, "rests with open calls"],
  ]);
}

/** The last that was said to a chat outside the archive was said in the calm, so it has an answer. */
function breachesOfTheEnd({ chat, messages }: ChatRows): string[] {
  const last = messages.findLast((message) => !message.is_deleted);
  const isAnswered = last?.role === "assistant";
  return when([[chat.archived_at === null && !isAnswered, `ends with message ${last?.id} of ${last?.role}`]]);
}

function breachesOfVersions({ chat, messages }: ChatRows): string[] {
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
 * Every call has one result, which comes after it and before anybody speaks again; no result is without a call. Only
 * a turn that failed may leave calls open, and the chat knows them: they are answered with the next message.
 */
function breachesOfCalls(history: readonly MessageRow[], known: readonly string[]): string[] {
  const breaches: string[] = [];
  const open = new Set<string>();
  const answered = new Set<string>();
  for (const { id, role, content, is_summary: isSummary } of history) {
    if (role === "user" && open.size > 0 && !isSummary)
      breaches.push(`message ${id} was said before ${[...open].join()} had results`);
    for (const { type, toolCallId = "", isProviderExecuted } of content) {
      if (isProviderExecuted) continue;
      if (type === "tool-call") {
        if (open.has(toolCallId) || answered.has(toolCallId))
          breaches.push(`call ${toolCallId} is there twice`);
        open.add(toolCallId);
      }
      if (type === "tool-result") {
        if (!open.delete(toolCallId))
          breaches.push(
            `result ${toolCallId} in message ${id} ${answered.has(toolCallId) ? "is there twice" : "has no call before it"}`,
          );
        answered.add(toolCallId);
      }
    }
  }
  if ([...open].sort().join() !== [...known].sort().join())
    breaches.push(
      `calls without a result: ${[...open].join()}, but the chat knows of ${known.join() || "none"}`,
    );
  return breaches;
}

/** A run of streamed pieces becomes one message at most. */
function breachesOfGenerations(messages: readonly MessageRow[]): string[] {
  const seen = new Map<string, number>();
  for (const { generation, visibility } of messages) {
    if (generation !== null && visibility !== "model") seen.set(generation, (seen.get(generation) ?? 0) + 1);
  }
  return [...seen]
    .filter(([, times]) => times > 1)
    .map(([generation]) => `two messages of generation ${generation}`);
}

function breachesOfQueue({ chat, queue }: ChatRows): string[] {
  const rows = queue.map(({ id }) => id).sort();
  const named = [...chat.queued_ids].sort();
  return when([[rows.join() !== named.join(), `queues ${named.join()} but has the rows ${rows.join()}`]]);
}

/** What was acknowledged is there, once; what was refused is not; what is there was said. */
function breachesOfWords({ messages, queue }: ChatRows, entries: readonly Entry[]): string[] {
  const breaches: string[] = [];
  const places = new Map<string, string[]>();
  const place = (content: PartRow[], where: string) => {
    const text = content[0]?.text ?? "";
    places.set(text, [...(places.get(text) ?? []), where]);
  };
  for (const message of messages)
    if (message.author_id !== null) place(message.content, `message ${message.id}`);
  for (const queued of queue) place(queued.content, `queue ${queued.id}`);
  for (const entry of entries) {
    if (entry.text === undefined) continue;
    const found = places.get(entry.text) ?? [];
    places.delete(entry.text);
    const name = `"${entry.text}" (${entry.command}, ${entry.outcome})`;
    if (found.length > 1) breaches.push(`${name} is there more than once: ${found.join(", ")}`);
    if (entry.outcome === "refused" && found.length > 0)
      breaches.push(`${name} is there: ${found.join(", ")}`);
    if (entry.outcome === "done" && found.length === 0 && !mayHaveLeftQueue(entry, entries))
      breaches.push(`${name} is nowhere`);
  }
  for (const [text, where] of places) breaches.push(`nobody said "${text}" in ${where.join(", ")}`);
  return breaches;
}

/** Taken back by a deletion that names it, or swept away with the queue by an edit that was not over before it. */
function mayHaveLeftQueue(said: Entry, entries: readonly Entry[]): boolean {
  if (said.command === "edit" || said.command === "create" || said.isInHistory) return false;
  return entries.some(({ command, outcome, ended, queuedId }) => {
    if (outcome === "refused" || ended < said.begun) return false;
    if (command === "edit") return true;
    // A lost answer, or one given after the message had been promoted, does not tell where the message went.
    return command === "delete queued" && (said.queuedId === queuedId || said.queuedId === null);
  });
}

/** Only edits take messages away, and each takes at least one, all in one snapshot. */
function breachesOfEdits(messages: readonly MessageRow[], entries: readonly Entry[]): string[] {
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

function when(breaches: [isBroken: boolean, sentence: string][]): string[] {
  return breaches.filter(([isBroken]) => isBroken).map(([, sentence]) => sentence);
}
