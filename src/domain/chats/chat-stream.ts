/** Events of one chat's subscription, in the order of docs/concepts/events.md. Each has the cursor to resume after it. */
import type { Generation, LiveDelta, MessageRow, QueuedRow } from "./chat-events.js";
import type { ChatStatus, OpenCall, RetryNotice } from "./chat-state.js";
import type { ChatFailure } from "../common/failures.js";
import type { Audience } from "../common/subscription-source.js";
import type { Viewer } from "../users/viewer.js";

export const REFRESH_REASONS = ["first_snapshot", "cursor_too_old", "history_edited", "fell_behind"] as const;
export type RefreshReason = (typeof REFRESH_REASONS)[number];

export const PREVIEW_RESET_REASONS = ["retry", "interrupt", "worker_lost"] as const;
export type PreviewResetReason = (typeof PREVIEW_RESET_REASONS)[number];

export type ChatEvent = { cursor: string } & (
  | { type: "refresh"; reason: RefreshReason; chatId: string }
  | { type: "caught-up"; replayedEvents: number }
  | { type: "message"; message: MessageRow }
  | ({ type: "part"; generation: Generation } & LiveDelta)
  | { type: "preview-reset"; generation: Generation; reason: PreviewResetReason }
  | { type: "status"; status: ChatStatus; chatId: string }
  | { type: "error"; failure: ChatFailure }
  | { type: "queue"; queue: QueuedRow[] }
  /** Calls of tools that the client runs, with their arguments. */
  | { type: "action-required"; calls: OpenCall[]; deadline: number | null }
  | { type: "retry"; retry: RetryNotice; generation: Generation }
  | { type: "title"; title: string }
  /** The status of the chat's branch is read when the event is delivered. */
  | { type: "diff-status"; chatId: string }
);

/** Text deltas are most of a stream. Whole parts may link to files and MCP servers, which are read with the viewer's rights. */
const AUDIENCE_OF_DELTA = {
  "text-delta": "every_subscriber",
  "reasoning-delta": "every_subscriber",
  "tool-input-delta": "every_subscriber",
  "tool-output-delta": "every_subscriber",
  "tool-call": "same_viewer",
  "tool-result": "same_viewer",
  source: "every_subscriber",
  notice: "same_viewer",
} as const satisfies Record<LiveDelta["delta"]["type"], Audience>;

/** Events that link to the chat, to users, models, files or MCP servers are read with the viewer's rights. */
const AUDIENCE_OF_EVENT = {
  refresh: "same_viewer",
  "caught-up": "every_subscriber",
  message: "same_viewer",
  "preview-reset": "every_subscriber",
  status: "same_viewer",
  error: "every_subscriber",
  queue: "same_viewer",
  "action-required": "same_viewer",
  retry: "every_subscriber",
  title: "every_subscriber",
  "diff-status": "same_viewer",
} as const satisfies Record<Exclude<ChatEvent["type"], "part">, Audience>;

/** Which of the chat's subscribers may share one execution of the event. */
export function audienceOfChatEvent(event: ChatEvent): Audience {
  return event.type === "part" ? AUDIENCE_OF_DELTA[event.delta.type] : AUDIENCE_OF_EVENT[event.type];
}

/** Port of the chat hub. */
export interface ChatEventsSource {
  /**
   * Snapshot or catch-up, then live events. Null when the viewer may not read the chat or it does not exist. An
   * unusable `after` is no error: the stream then begins with a refresh.
   */
  subscribe(
    viewer: Viewer,
    chatId: string,
    after: string | null,
  ): Promise<AsyncIterableIterator<ChatEvent> | null>;
}
