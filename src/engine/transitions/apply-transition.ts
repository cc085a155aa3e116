/**
 * The one place that changes a chat: decide (domain/chat-lifecycle), write, commit, then tell.
 *
 * When the chat's state is already known and the writes fit one statement, the change is one round trip that is
 * guarded by the version; if the chat has moved on meanwhile, or nothing is known, the row is locked and the
 * decision made on what stands there. Either way nobody hears of a change before it is committed.
 */
import type { QueuedRow, MessageRow, SavedChange } from "../../domain/chats/chat-events.js";
import { transitionAll } from "../../domain/chats/chat-lifecycle.js";
import type { Changed, Command, RefusalReason } from "../../domain/chats/transition.js";
import type { ChatState } from "../../domain/chats/chat-state.js";
import type { Bus } from "../../events/bus/bus.js";
import type { Clock } from "../../lib/clock.js";
import type { Database, Queryable } from "../../store/common/database.js";
import {
  encodeAhead,
  fitsOneStatement,
  lockChat,
  readQueue,
  writeInOneStatement,
  writeLocked,
} from "../../store/chats/transitions.js";
import type { ChatCache } from "./chat-cache.js";

/** News travels with its rows up to this size of JSON; readers fetch larger rows themselves. */
const MAX_CARRIED_CHARACTERS = 64 * 1024;

export type TransitionDependencies = {
  database: Database;
  bus: Bus;
  clock: Clock;
  chatCache: ChatCache;
  /** A chat waits for its turn from now on. Never throws. */
  onChatPending?: (chatId: string) => void;
};

/** What to do, as one transaction and one snapshot. */
export type TransitionRequest = {
  chatId: string;
  commands: Command[];
  /** The state as the caller knows it; a hint, never trusted beyond its version. */
  known?: { ownerId: string; state: ChatState };
  /** Runs in the same transaction after the writes; whatever it throws undoes them. */
  alongside?: (transaction: Queryable, written: Applied) => Promise<void>;
};

export type Applied = { state: ChatState; messages: MessageRow[]; queue: QueuedRow[] | null };

export type TransitionResult =
  | ({ outcome: "changed" } & Applied)
  | { outcome: "unchanged"; state: ChatState }
  | { outcome: "refused"; reason: RefusalReason; state: ChatState }
  | { outcome: "not_found" };

/** Rejects only when the database does; then nothing was changed. */
export async function applyTransition(
  parts: TransitionDependencies,
  request: TransitionRequest,
): Promise<TransitionResult> {
  return (await applyAgainstKnown(parts, request)) ?? (await applyUnderLock(parts, request));
}

/** Null when the way through the lock must be taken. */
async function applyAgainstKnown(
  parts: TransitionDependencies,
  { chatId, commands, known, alongside }: TransitionRequest,
): Promise<TransitionResult | null> {
  if (!known || alongside) return null;
  const now = parts.clock.now();
  const decided = transitionAll(known.state, commands, now);
  if (decided.outcome !== "changed" || !fitsOneStatement(decided.writes)) return null;
  const change = { chatId, previous: known.state, next: decided.next, now };
  const messages = await writeInOneStatement(parts.database, change, decided.writes);
  if (messages === null) {
    parts.chatCache.forget(chatId);
    return null;
  }
  const applied = { state: decided.next, messages, queue: null };
  publishChange(parts, toNews(chatId, known, decided.next, applied), messages);
  return { outcome: "changed", ...applied };
}

async function applyUnderLock(
  parts: TransitionDependencies,
  request: TransitionRequest,
): Promise<TransitionResult> {
  const { chatId, commands, alongside } = request;
  encodeAhead(commands);
  let tell: (() => void) | undefined;
  const result = await parts.database.transaction<TransitionResult>(async (transaction) => {
    const locked = await lockChat(transaction, chatId);
    if (!locked) return { outcome: "not_found" };
    const change = await changeLocked(parts, transaction, { chatId, ...locked }, commands);
    if (change.result.outcome === "changed") await alongside?.(transaction, change.result);
    tell = change.tell;
    return change.result;
  });
  tell?.();
  return result;
}

/** A chat whose row the transaction holds. */
export type LockedChat = { chatId: string; ownerId: string; state: ChatState };

/** `tell` after the commit. */
export type LockedChange = {
  result: Exclude<TransitionResult, { outcome: "not_found" }>;
  tell: () => void;
};

/** Decides and writes within a transaction; nobody hears of it yet. */
export async function changeLocked(
  parts: TransitionDependencies,
  transaction: Queryable,
  locked: LockedChat,
  commands: Command[],
): Promise<LockedChange> {
  const { chatId, state } = locked;
  const now = parts.clock.now();
  const decided = transitionAll(state, commands, now);
  if (decided.outcome !== "changed") return { result: { ...decided, state }, tell: () => undefined };
  const change = { chatId, previous: state, next: decided.next, now };
  const messages = await writeLocked(transaction, change, decided.writes);
  const queue = await changedQueue(transaction, chatId, decided);
  const applied = { state: decided.next, messages, queue };
  const news = toNews(chatId, locked, decided.next, applied);
  return { result: { outcome: "changed", ...applied }, tell: () => publishChange(parts, news, messages) };
}

async function changedQueue(
  transaction: Queryable,
  chatId: string,
  { next }: Changed,
): Promise<QueuedRow[] | null> {
  if (next.queueVersion !== next.snapshotVersion) return null;
  return next.queuedIds.length === 0 ? [] : readQueue(transaction, chatId);
}

function toNews(
  chatId: string,
  before: { ownerId: string; state: ChatState },
  state: ChatState,
  { messages, queue }: Applied,
): SavedChange {
  const queueNews = queue === null ? {} : { queue: isSmall(queue) ? queue : null };
  const { status, isArchived, titleVersion, diffVersion } = before.state;
  return {
    chatId,
    ownerId: before.ownerId,
    previousVersion: before.state.snapshotVersion,
    before: { status, isArchived, titleVersion, diffVersion },
    state,
    messages: isSmall(messages) ? messages : null,
    ...queueNews,
  };
}

/**
 * Tells everyone of a committed change: this replica's memory, subscribers, and workers when there is work.
 * `messages` are the rows written, also when they are too large for the news to carry.
 */
export function publishChange(
  parts: Pick<TransitionDependencies, "bus" | "chatCache" | "onChatPending">,
  news: SavedChange,
  messages: MessageRow[],
): void {
  parts.chatCache.apply({ ...news, messages });
  parts.bus.publishSaved(news);
  if (news.state.status !== "pending") return;
  parts.onChatPending?.(news.chatId);
  parts.bus.wakeWorkers();
}

function isSmall(rows: (MessageRow | QueuedRow)[]): boolean {
  let characters = 0;
  for (const row of rows) {
    for (const part of row.parts) {
      characters += "text" in part ? part.text.length : JSON.stringify(part).length;
    }
  }
  return characters <= MAX_CARRIED_CHARACTERS;
}
