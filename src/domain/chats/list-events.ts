/**
 * Events of a user's chat list: what a sidebar needs and no more. They are derived from committed changes of chats and
 * from read marks. Each has an id in the owner's log and a checksum delta, by which readers detect lost updates.
 */
import type { SavedChange } from "./chat-events.js";
import { CHAT_STATUSES, type ChatState, type ChatStatus } from "./chat-state.js";
import type { RefreshReason } from "./chat-stream.js";
import type { Audience } from "../common/subscription-source.js";
import type { Viewer } from "../users/viewer.js";

export const CHAT_REMOVAL_REASONS = ["archived", "deleted", "access_lost"] as const;
export type ChatRemovalReason = (typeof CHAT_REMOVAL_REASONS)[number];

/** `isUnread` null: unknown where the change was made; read when the event is delivered. */
export type ListChange =
  | { type: "created"; chatId: string }
  | { type: "removed"; chatId: string; reason: ChatRemovalReason }
  | { type: "title"; chatId: string; title: string }
  /** The status of the chat's branch is read when the event is delivered. */
  | { type: "diff-status"; chatId: string }
  | { type: "status"; chatId: string; status: ChatStatus; isUnread: boolean | null };

/**
 * An update of a user's chat list. `checksumDelta` is added to the checksum of the list; it may be negative. Two replicas
 * may publish updates of one chat in the wrong order: of those with the same `subject`, the greater `rank` is the newer.
 */
export type ListUpdate = {
  /** Null: a newer update of the same subject was published before, so only the checksum counts. */
  change: ListChange | null;
  checksumDelta: number;
  subject: string;
  rank: number;
};

/**
 * An update with its position: `id` grows within the owner's log, `after` is the id before it. Both are null when the
 * update could not be logged and is delivered on one replica only.
 */
export type ListEntry = ListUpdate & { id: string | null; after: string | null };

/** A list reader's position: the last entry it has received, and its checksum of the list. */
export type ListCursor = { id: string; checksum: number };

export type ListEvent = { cursor: string } & (
  { type: "refresh"; reason: RefreshReason } | { type: "caught-up"; replayedEvents: number } | ListChange
);

/** Events that link to a chat are read with the viewer's rights. */
const AUDIENCES = {
  refresh: "every_subscriber",
  "caught-up": "every_subscriber",
  created: "same_viewer",
  removed: "every_subscriber",
  title: "same_viewer",
  "diff-status": "same_viewer",
  status: "same_viewer",
} as const satisfies Record<ListEvent["type"], Audience>;

/** Which of the list's subscribers may share one execution of the event. */
export function audienceOfListEvent(event: ListEvent): Audience {
  return AUDIENCES[event.type];
}

/** Port of the list hub. */
export interface ChatListEventsSource {
  /** Events of the viewer's own chats. An unusable `after` is no error: the stream then begins with a refresh. */
  subscribe(viewer: Viewer, after: string | null): Promise<AsyncIterableIterator<ListEvent>>;
}

/** The state of a chat that its owner's list shows; title and branch are represented by their versions. */
type ListedState = Pick<ChatState, "status" | "isArchived" | "titleVersion" | "diffVersion">;

/** Added to a status's index in `CHAT_STATUSES` when the chat is archived; more than there are statuses. */
export const ARCHIVED_FACTOR = 8;

/**
 * A chat's contribution to the checksum of its owner's list. Lists that show the same have the same checksum; lists that
 * differ collide only by rare chance, since each chat is weighted by its own id. Read marks are added by the store, whose
 * `LIST_CHECKSUMS` statement repeats the same sum.
 */
function checksumOf(chatId: string, { status, isArchived, titleVersion, diffVersion }: ListedState): number {
  const own = Number.parseInt(chatId.slice(0, 8), 16);
  const factor = CHAT_STATUSES.indexOf(status) + 1 + (isArchived ? ARCHIVED_FACTOR : 0);
  return own * factor + titleVersion + diffVersion;
}

/** The list updates that follow from a committed change; empty for most changes, and for subagents, which no list shows. */
export function listUpdatesOf(saved: SavedChange): ListUpdate[] {
  const { chatId, state } = saved;
  if (state.isSubagent) return [];
  const before = saved.previousVersion === 0 ? null : listedBefore(saved);
  const changes = changesOf(saved, before);
  const checksumDelta = checksumOf(chatId, state) - (before ? checksumOf(chatId, before) : 0);
  return changes.map((change, index) => ({
    change,
    checksumDelta: index === 0 ? checksumDelta : 0,
    subject: subjectOf(change),
    rank: 2 * state.snapshotVersion,
  }));
}

function subjectOf({ chatId, type }: ListChange): string {
  return `${chatId} ${type === "created" || type === "removed" ? "presence" : type}`;
}

/** A change without `before` is a worker's claim: if it changed the status, the status was `pending`. */
function listedBefore({ before, state }: SavedChange): ListedState {
  if (before) return before;
  return state.statusVersion === state.snapshotVersion ? { ...state, status: "pending" } : state;
}

function changesOf({ chatId, state, messages }: SavedChange, before: ListedState | null): ListChange[] {
  if (before === null || (before.isArchived && !state.isArchived)) return [{ type: "created", chatId }];
  if (!before.isArchived && state.isArchived) return [{ type: "removed", chatId, reason: "archived" }];
  const changes: ListChange[] = [];
  if (before.titleVersion !== state.titleVersion) changes.push({ type: "title", chatId, title: state.title });
  if (before.diffVersion !== state.diffVersion) changes.push({ type: "diff-status", chatId });
  if (before.status !== state.status) {
    const hasAnswer = messages?.some(
      ({ role, visibility }) => role === "assistant" && visibility !== "model",
    );
    changes.push({ type: "status", chatId, status: state.status, isUnread: hasAnswer ? true : null });
  }
  return changes;
}

/** A chat that its owner has read, with the state that the list shows of it. */
export type ReadChat = {
  chatId: string;
  ownerId: string;
  status: ChatStatus;
  /** The chat's snapshot when it was read. */
  version: number;
  /** How far the read mark moved, in message ids. */
  markAdvance: number;
};

/** The update for a moved read mark. Ranks above the update of the version that was read. */
export function readUpdate({ chatId, status, version, markAdvance: moved }: ReadChat): ListUpdate {
  const change: ListChange = { type: "status", chatId, status, isUnread: false };
  return { change, checksumDelta: moved, subject: subjectOf(change), rank: 2 * version + 1 };
}

/** Whether this change ended a turn or made it wait for the client: there may be something new to read. */
export function settlesTurn({ state }: SavedChange): boolean {
  const isResting =
    state.status === "waiting" || state.status === "error" || state.status === "requires_action";
  return isResting && state.statusVersion === state.snapshotVersion;
}

/** Log ids are two numbers joined by a hyphen. Negative when `a` came before `b`. */
export function compareListIds(a: string, b: string): number {
  const [left, right] = [a, b].map((id) => id.split("-").map(Number));
  return (left?.[0] ?? 0) - (right?.[0] ?? 0) || (left?.[1] ?? 0) - (right?.[1] ?? 0);
}
