/**
 * Chat transitions, the only way to change a chat: decide (domain/chats/chat-lifecycle), write, commit, then publish.
 *
 * When the chat's state is already known and the writes fit one statement, the change is one round trip that is
 * guarded by the version; if the chat has changed meanwhile, or nothing is known, the row is locked and the decision
 * made on its current state. Either way a change is published only after its commit.
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

/** A published change carries its rows up to this size of JSON; readers fetch larger rows themselves. */
const MAX_CARRIED_CHARACTERS = 64 * 1024;

export type TransitionDependencies = {
  database: Database;
  bus: Bus;
  clock: Clock;
  chatCache: ChatCache;
  /** The chat has become pending. Never throws. */
  onChatPending?: (chatId: string) => void;
};

/** Commands that are applied in one transaction, as one snapshot. */
export type TransitionRequest = {
  chatId: string;
  commands: Command[];
  /** The state known to the caller; a hint, never trusted beyond its version. */
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
  dependencies: TransitionDependencies,
  request: TransitionRequest,
): Promise<TransitionResult> {
  return (await applyAgainstKnown(dependencies, request)) ?? (await applyUnderLock(dependencies, request));
}

/** Null when the change must be made under the lock. */
async function applyAgainstKnown(
  dependencies: TransitionDependencies,
  { chatId, commands, known, alongside }: TransitionRequest,
): Promise<TransitionResult | null> {
  if (!known || alongside) return null;
  const now = dependencies.clock.now();
  const decided = transitionAll(known.state, commands, now);
  if (decided.outcome !== "changed" || !fitsOneStatement(decided.writes)) return null;
  const change = { chatId, previous: known.state, next: decided.next, now };
  const messages = await writeInOneStatement(dependencies.database, change, decided.writes);
  if (messages === null) {
    dependencies.chatCache.delete(chatId);
    return null;
  }
  const applied = { state: decided.next, messages, queue: null };
  publishChange(dependencies, savedChange(chatId, known, decided.next, applied), messages);
  return { outcome: "changed", ...applied };
}

async function applyUnderLock(
  dependencies: TransitionDependencies,
  request: TransitionRequest,
): Promise<TransitionResult> {
  const { chatId, commands, alongside } = request;
  encodeAhead(commands);
  let publish: (() => void) | undefined;
  const result = await dependencies.database.transaction<TransitionResult>(async (transaction) => {
    const locked = await lockChat(transaction, chatId);
    if (!locked) return { outcome: "not_found" };
    const change = await changeLocked(dependencies, transaction, { chatId, ...locked }, commands);
    if (change.result.outcome === "changed") await alongside?.(transaction, change.result);
    publish = change.publish;
    return change.result;
  });
  publish?.();
  return result;
}

/** A chat whose row the transaction has locked. */
type LockedChat = { chatId: string; ownerId: string; state: ChatState };

/** Call `publish` after the commit. */
export type LockedChange = {
  result: Exclude<TransitionResult, { outcome: "not_found" }>;
  publish: () => void;
};

/** Decides and writes within a transaction; nothing is published yet. */
export async function changeLocked(
  dependencies: TransitionDependencies,
  transaction: Queryable,
  locked: LockedChat,
  commands: Command[],
): Promise<LockedChange> {
  const { chatId, state } = locked;
  const now = dependencies.clock.now();
  const decided = transitionAll(state, commands, now);
  if (decided.outcome !== "changed") return { result: { ...decided, state }, publish: () => undefined };
  const change = { chatId, previous: state, next: decided.next, now };
  const messages = await writeLocked(transaction, change, decided.writes);
  const queue = await changedQueue(transaction, chatId, decided);
  const applied = { state: decided.next, messages, queue };
  const saved = savedChange(chatId, locked, decided.next, applied);
  const publish = () => publishChange(dependencies, saved, messages);
  return { result: { outcome: "changed", ...applied }, publish };
}

async function changedQueue(
  transaction: Queryable,
  chatId: string,
  { next }: Changed,
): Promise<QueuedRow[] | null> {
  if (next.queueVersion !== next.snapshotVersion) return null;
  return next.queuedIds.length === 0 ? [] : readQueue(transaction, chatId);
}

function savedChange(
  chatId: string,
  before: { ownerId: string; state: ChatState },
  state: ChatState,
  { messages, queue }: Applied,
): SavedChange {
  const queueChange = queue === null ? {} : { queue: isSmall(queue) ? queue : null };
  const { status, isArchived, titleVersion, diffVersion } = before.state;
  return {
    chatId,
    ownerId: before.ownerId,
    previousVersion: before.state.snapshotVersion,
    before: { status, isArchived, titleVersion, diffVersion },
    state,
    messages: isSmall(messages) ? messages : null,
    ...queueChange,
  };
}

/**
 * Publishes a committed change: updates the chat cache, notifies subscribers, and wakes workers when the chat is
 * pending. `messages` are the rows written, even when they are too large for the change to carry.
 */
export function publishChange(
  dependencies: Pick<TransitionDependencies, "bus" | "chatCache" | "onChatPending">,
  change: SavedChange,
  messages: MessageRow[],
): void {
  dependencies.chatCache.apply({ ...change, messages });
  dependencies.bus.publishSaved(change);
  if (change.state.status !== "pending") return;
  dependencies.onChatPending?.(change.chatId);
  dependencies.bus.wakeWorkers();
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
