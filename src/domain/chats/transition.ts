/** Types of the chat lifecycle: commands, the writes that go with a transition, and its outcomes. */
import type { ChatState, MessageDraft, OpenCall, TitleSource, UserMessage } from "./chat-state.js";
import type { ChatFailure } from "../common/failures.js";
import type { ToolResultPart } from "./message-parts.js";

/** Fencing token of a runner's command: if either value has changed since, the command is refused as stale. */
export type Fence = { runnerId: string; historyVersion: number };

export type Command =
  | { type: "send-message"; whenBusy: "queue" | "interrupt"; message: UserMessage; queuedId: string }
  | { type: "edit-message"; messageId: string; message: UserMessage }
  /** `keepsQueue`: the chat becomes idle even when messages are queued. */
  | { type: "interrupt"; keepsQueue?: true }
  | { type: "promote-queued"; queuedId: string }
  | { type: "delete-queued"; queuedId: string }
  | { type: "request-compaction" }
  /**
   * Retries the failed turn. `without`: the message that is deleted first, with all after it; refused when history is no
   * longer at `historyVersion`.
   */
  | { type: "retry"; without?: { messageId: string; historyVersion: number } }
  | { type: "clear-context"; messages: MessageDraft[] }
  | { type: "submit-tool-results"; results: ClientResult[] }
  /** `onlyIf`: the title and source that the chat must still have; otherwise nothing changes. */
  | {
      type: "set-title";
      title: string;
      source: Exclude<TitleSource, "first_message">;
      onlyIf?: Pick<ChatState, "title" | "titleSource">;
    }
  /** The displayed status of the chat's branch has changed. */
  | { type: "note-diff" }
  | { type: "archive" }
  | { type: "unarchive" }
  | { type: "acquire"; workerId: string; runnerId: string; isLeaseDead: boolean }
  | { type: "begin-attempt"; fence: Fence }
  | { type: "record-retry"; fence: Fence; delayMs: number; failure: ChatFailure }
  | {
      type: "commit-step";
      fence: Fence;
      messages: MessageDraft[];
      openCalls: OpenCall[];
      addRuntime?: AddedRuntime;
      /** The step is the summary that the user requested, or the failed attempt at it. */
      settlesCompaction?: true;
    }
  /** `timeoutMs`: time limit for the client; null = no deadline, absent = `CLIENT_TOOL_DEADLINE_MS`. */
  | { type: "await-client"; fence: Fence; timeoutMs?: number | null }
  | { type: "finish-turn"; fence: Fence }
  | {
      type: "finish-interrupt";
      fence: Fence;
      /** The chat becomes idle even when messages are queued. */
      keepsQueue?: true;
      messages: MessageDraft[];
      openCalls: OpenCall[];
      addRuntime?: AddedRuntime;
    }
  | { type: "fail"; fence: Fence; failure: ChatFailure }
  | { type: "release"; fence: Fence }
  | { type: "expire" };

/** A command of the chat's runner. */
export type FencedCommand = Extract<Command, { fence: Fence }>;

/** A client's answer to one of its own calls. */
export type ClientResult = Pick<ToolResultPart, "toolCallId" | "result" | "isError">;

/** Wall time of a step's tools, added to the assistant message that asked for them. */
export type AddedRuntime = { messageId: string; runtimeMs: number };

/** Rows that the store writes besides the chat's own, in this order. */
export type Write =
  | { type: "delete-from"; messageId: string }
  | { type: "insert-messages"; messages: MessageDraft[] }
  | { type: "add-runtime"; messageId: string; runtimeMs: number }
  | { type: "enqueue"; queuedId: string; message: UserMessage }
  | { type: "promote"; queuedId: string }
  | { type: "delete-queued"; queuedIds: string[] };

export type RefusalReason =
  | "archived"
  /** The subagent's parent chat is archived. */
  | "parent_archived"
  | "wrong_status"
  | "queue_full"
  | "queue_not_empty"
  | "stale_fence"
  | "lease_alive"
  | "deadline_not_reached"
  | "results_mismatch"
  | "open_calls";

export type Changed = { outcome: "changed"; next: ChatState; writes: Write[] };
type Unchanged = { outcome: "unchanged" };
export type Refused = { outcome: "refused"; reason: RefusalReason };
export type Transition = Changed | Unchanged | Refused;

export function changed(state: ChatState, writes: Write[]): Changed {
  return { outcome: "changed", next: state, writes };
}

export function unchanged(): Unchanged {
  return { outcome: "unchanged" };
}

export function refused(reason: RefusalReason): Refused {
  return { outcome: "refused", reason };
}
