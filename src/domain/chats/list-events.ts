/**
 * News of a person's list of chats: what a sidebar needs and no more. It follows from saved news of chats, and from
 * chats being read. Every piece of it has its place in the person's log, and a weight that lost news betrays itself by.
 */
import type { SavedChange } from "./chat-events.js";
import { CHAT_STATUSES, type ChatState, type ChatStatus } from "./chat-state.js";
import type { RefreshReason } from "./chat-stream.js";
import type { Audience } from "../common/subscription-source.js";
import type { Viewer } from "../users/viewer.js";

export const CHAT_REMOVAL_REASONS = ["archived", "deleted", "access_lost"] as const;
export type ChatRemovalReason = (typeof CHAT_REMOVAL_REASONS)[number];

/** `isUnread` null: not known where the news was made; read it when it is told. */
export type ListChange =
  | { type: "created"; chatId: string }
  | { type: "removed"; chatId: string; reason: ChatRemovalReason }
  | { type: "title"; chatId: string; title: string }
  /** What is known of the chat's branch is read when it is told. */
  | { type: "diff-status"; chatId: string }
  | { type: "status"; chatId: string; status: ChatStatus; isUnread: boolean | null };

/**
 * `weight` is what the change adds to the weight of the person's list; may be negative. Two servers may tell of one
 * chat in the wrong order: of news `about` the same, that with the greater `rank` is the newer.
 */
export type ListUpdate = {
  /** Null: newer news was told before, so that only the weight counts. */
  change: ListChange | null;
  checksumDelta: number;
  subject: string;
  rank: number;
};

/**
 * News in its place: `id` grows within the person's log, `after` is the id before it. Both are null when it could not
 * be logged, and is told on one replica only.
 */
export type ListEntry = ListUpdate & { id: string | null; after: string | null };

/** Where a reader of the list stands: the last entry it was told, and the weight of the list as it knows it. */
export type ListCursor = { id: string; checksum: number };

export type ListEvent = { cursor: string } & (
  { type: "refresh"; reason: RefreshReason } | { type: "caught-up"; replayedEvents: number } | ListChange
);

/** What links to a chat is read with the viewer's rights. */
const AUDIENCES = {
  refresh: "every_subscriber",
  "caught-up": "every_subscriber",
  created: "same_viewer",
  removed: "every_subscriber",
  title: "same_viewer",
  "diff-status": "same_viewer",
  status: "same_viewer",
} as const satisfies Record<ListEvent["type"], Audience>;

/** Which subscribers of the list one execution of the event may answer. */
export function audienceOfListEvent(event: ListEvent): Audience {
  return AUDIENCES[event.type];
}

/** The list hub, as the API sees it. */
export interface ChatListEventsSource {
  /** The viewer's own chats. An `after` that cannot be used is no error: the stream then begins with a refresh. */
  subscribe(viewer: Viewer, after: string | null): Promise<AsyncIterableIterator<ListEvent>>;
}

/** What of a chat its owner's list shows; title and branch stand for their versions. */
type ListedState = Pick<ChatState, "status" | "isArchived" | "titleVersion" | "diffVersion">;

/** Added to a status's place in `CHAT_STATUSES` when the chat is archived; more than there are statuses. */
export const ARCHIVED_FACTOR = 8;

/**
 * What a chat adds to the weight of its owner's list. Lists that show the same weigh the same, and others do not but
 * for a rare chance, since each chat counts by a number of its own. The read mark is counted by the store, in whose
 * `LIST_WEIGHTS` statement the same sum is written once more.
 */
function checksumOf(chatId: string, { status, isArchived, titleVersion, diffVersion }: ListedState): number {
  const own = Number.parseInt(chatId.slice(0, 8), 16);
  const factor = CHAT_STATUSES.indexOf(status) + 1 + (isArchived ? ARCHIVED_FACTOR : 0);
  return own * factor + titleVersion + diffVersion;
}

/** What a committed transition means for the owner's list; empty for most, and for chats that no list shows. */
export function listUpdatesOf(news: SavedChange): ListUpdate[] {
  const { chatId, state } = news;
  if (state.isSubagent) return [];
  const before = news.previousVersion === 0 ? null : listedBefore(news);
  const changes = changesOf(news, before);
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

/** News without `before` is of a worker that took the chat: where that moved the status, it was pending. */
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

/** A chat that its owner has read, and as what it then stands in the list. */
export type ReadChat = {
  chatId: string;
  ownerId: string;
  status: ChatStatus;
  /** The chat's snapshot when it was read. */
  version: number;
  /** How far the mark moved, in message ids. */
  markAdvance: number;
};

/** Newer than the news of the very version that was read. */
export function readUpdate({ chatId, status, version, markAdvance: moved }: ReadChat): ListUpdate {
  const change: ListChange = { type: "status", chatId, status, isUnread: false };
  return { change, checksumDelta: moved, subject: subjectOf(change), rank: 2 * version + 1 };
}

/** Whether a turn has just come to rest, or waits for the client: there may be something new to read. */
export function settlesTurn({ state }: SavedChange): boolean {
  const isResting =
    state.status === "waiting" || state.status === "error" || state.status === "requires_action";
  return isResting && state.statusVersion === state.snapshotVersion;
}

/** Ids of a log are two numbers; negative when `a` came before `b`. */
export function compareListIds(a: string, b: string): number {
  const [left, right] = [a, b].map((id) => id.split("-").map(Number));
  return (left?.[0] ?? 0) - (right?.[0] ?? 0) || (left?.[1] ?? 0) - (right?.[1] ?? 0);
}
