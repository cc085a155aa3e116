/**
 * Reducer from a chat's events to the state that a user sees: saved messages by id, and the preview of the message in
 * progress. It implements the contract of docs/concepts/events.md, needs no framework, and works with the events of any client
 * that subscribes with `ChatEventsDocument`. States are immutable: compare them by identity.
 */
import type {
  ChatEventsSubscription,
  ChatStatus,
  DiffStatusFieldsFragment,
  FailureFieldsFragment,
  MessageContentFragment,
  MessageRole,
  QueuedMessageFieldsFragment,
  RetryFieldsFragment,
  ToolCallFieldsFragment,
} from "./generated.js";

type ChatEvent = ChatEventsSubscription["chatEvents"];
type RefreshedChat = Extract<ChatEvent, { __typename: "ChatRefreshEvent" }>["chat"];
type PartEvent = Extract<ChatEvent, { __typename: "ChatPartEvent" }>;
type Delta = PartEvent["delta"];

/** A saved message. Author and model are present on messages from a refresh or a query only. */
export type TranscriptMessage = MessageContentFragment & {
  author?: { id: string; name: string } | null;
  modelConfig?: { id: string; displayName: string } | null;
};

/** Arguments of a tool call in progress: partial JSON, until the complete call replaces it. */
export type ToolInput = { __typename: "ToolInput"; toolCallId: string; toolName: string; text: string };

/**
 * Output of a running tool so far, until its result replaces it; only the newest `TOOL_OUTPUT_CHARACTERS` of it.
 */
export type ToolOutput = { __typename: "ToolOutput"; toolCallId: string; text: string };

/** Limit of a running tool's output: a command may write for hours. */
export const TOOL_OUTPUT_CHARACTERS = 256 * 1024;

type TextDeltaName = "TextDelta" | "ReasoningDelta" | "ToolInputDelta" | "ToolOutputDelta";

export type PreviewPart =
  | { __typename: "TextPart"; text: string }
  | { __typename: "ReasoningPart"; text: string }
  | ToolInput
  | ToolOutput
  | Exclude<Delta, { __typename: TextDeltaName }>;

/** The message in progress. */
export type Preview = {
  generation: string;
  /** Counted from 1. */
  attempt: number;
  role: MessageRole;
  /** The sequence number of the last applied delta. */
  sequence: number;
  /** In the order of the message; `index` is the part's index in it. */
  parts: readonly { index: number; part: PreviewPart }[];
};

export type TranscriptState = {
  /** Null before the first refresh. */
  title: string | null;
  /** Status of the chat's branch at its git host; null while there is none, or before the first refresh. */
  diffStatus: DiffStatusFieldsFragment | null;
  status: ChatStatus | null;
  /** Oldest first. */
  messages: readonly TranscriptMessage[];
  /** Cursor of older messages: pass it as `before` to the query `chat`, then the page to `addOlder`. Null = there are none. */
  olderCursor: string | null;
  preview: Preview | null;
  /** Queued messages in order. Of a long message `parts` has the beginning, and `isTruncated` is true: `queuedMessage({ id })` has the whole. */
  queue: readonly QueuedMessageFieldsFragment[];
  /** Set while a failed model call waits for its retry. */
  retry: RetryFieldsFragment | null;
  /** Why the last turn failed. */
  failure: FailureFieldsFragment | null;
  /** Tool calls that wait for the client's results; `actionDeadline` is their deadline, if known. */
  pendingToolCalls: readonly ToolCallFieldsFragment[];
  actionDeadline: string | null;
  /** False until the stream has caught up for the first time. */
  isCaughtUp: boolean;
  /** Whether no turn is in progress: the chat waits for the user, or the last turn failed and `failure` says why. */
  isAtRest: boolean;
  /** Resume with `chatEvents({ chatId, after: cursor })`. */
  cursor: string | null;
};

const EMPTY: TranscriptState = {
  title: null,
  diffStatus: null,
  status: null,
  messages: [],
  olderCursor: null,
  preview: null,
  queue: [],
  retry: null,
  failure: null,
  pendingToolCalls: [],
  actionDeadline: null,
  isCaughtUp: false,
  isAtRest: false,
  cursor: null,
};

export class ChatTranscript {
  /** Replaced on each change. */
  state: TranscriptState;

  constructor(state: TranscriptState = EMPTY) {
    this.state = state;
  }

  /** From the result of the query `chat`. Subscribe from `state.cursor` on, and no event is missed. */
  static from(chat: RefreshedChat): ChatTranscript {
    return new ChatTranscript(after(EMPTY, stateFromRefresh(chat), chat.eventCursor));
  }

  /** Applies an event, in the order of the stream. Unknown events of a newer server only change the cursor. */
  apply(event: ChatEvent): TranscriptState {
    this.state = after(this.state, changesBy(event, this.state), event.cursor);
    return this.state;
  }

  /** Prepends a page of older messages, oldest first. */
  addOlder(page: { nodes: readonly TranscriptMessage[]; pageInfo: PageEnd }): TranscriptState {
    const known = new Set(this.state.messages.map(({ id }) => id));
    const older = page.nodes.filter(({ id }) => !known.has(id));
    const messages = [...older, ...this.state.messages];
    this.state = { ...this.state, messages, olderCursor: olderCursorOf(page.pageInfo) };
    return this.state;
  }
}

function after(before: TranscriptState, changes: Partial<TranscriptState>, cursor: string): TranscriptState {
  const state = { ...before, ...changes, cursor };
  const { status, failure } = state;
  // The failure arrives right after the status ERROR.
  const isAtRest = state.isCaughtUp && (status === "WAITING" || (status === "ERROR" && failure !== null));
  return { ...state, isAtRest };
}

type PageEnd = { hasPreviousPage: boolean; startCursor: string | null };

function olderCursorOf({ hasPreviousPage, startCursor }: PageEnd): string | null {
  return hasPreviousPage ? startCursor : null;
}

function stateFromRefresh(chat: RefreshedChat): Partial<TranscriptState> {
  return {
    title: chat.title,
    diffStatus: chat.diffStatus,
    status: chat.status,
    messages: chat.messages.nodes,
    olderCursor: olderCursorOf(chat.messages.pageInfo),
    preview: null,
    queue: chat.queuedMessages,
    retry: chat.retry,
    failure: chat.lastError,
    pendingToolCalls: chat.pendingToolCalls,
    actionDeadline: null,
  };
}

function changesBy(event: ChatEvent, state: TranscriptState): Partial<TranscriptState> {
  switch (event.__typename) {
    case "ChatRefreshEvent":
      return stateFromRefresh(event.chat);
    case "ChatCaughtUpEvent":
      return { isCaughtUp: true };
    case "ChatMessageEvent":
      return saved(event.message, event.replacedGeneration?.id ?? null, state);
    case "ChatPartEvent":
      return { preview: previewAfter(state.preview, event), retry: null };
    case "ChatPreviewResetEvent":
      return state.preview?.generation === event.generation.id ? { preview: null } : {};
    case "ChatStatusEvent":
      return statusEntered(event.status, state);
    case "ChatErrorEvent":
      return { failure: event.failure };
    case "ChatQueueEvent":
      return { queue: event.queuedMessages };
    case "ChatTitleEvent":
      return { title: event.title };
    case "ChatDiffStatusEvent":
      return { diffStatus: event.diffStatus };
    case "ChatRetryEvent":
      return { retry: event.retry };
    case "ChatActionRequiredEvent":
      return { pendingToolCalls: event.toolCalls, actionDeadline: event.deadline };
    default:
      return {};
  }
}

function saved(
  message: MessageContentFragment,
  generation: string | null,
  state: TranscriptState,
): Partial<TranscriptState> {
  const isPreviewOver = generation !== null && state.preview?.generation === generation;
  return {
    messages: withMessage(state.messages, message),
    ...(isPreviewOver && { preview: null }),
    ...(generation !== null && { retry: null }),
  };
}

function withMessage(
  messages: readonly TranscriptMessage[],
  message: MessageContentFragment,
): readonly TranscriptMessage[] {
  const known = messages.findLastIndex(({ id }) => id === message.id);
  if (known < 0) return [...messages, message];
  // The message was updated; fields that only a refresh has stay.
  return messages.with(known, { ...messages[known], ...message });
}

function statusEntered(status: ChatStatus, state: TranscriptState): Partial<TranscriptState> {
  const isWaitingForClient = status === "REQUIRES_ACTION";
  return {
    status,
    retry: null,
    failure: status === "ERROR" ? state.failure : null,
    pendingToolCalls: isWaitingForClient ? state.pendingToolCalls : [],
    actionDeadline: isWaitingForClient ? state.actionDeadline : null,
  };
}

function previewAfter(preview: Preview | null, event: PartEvent): Preview {
  const { generation, sequence, role, partIndex, delta } = event;
  const before = preview?.generation === generation.id ? preview.parts : [];
  const position = before.findLastIndex(({ index }) => index <= partIndex);
  const known = before[position]?.index === partIndex ? before[position].part : undefined;
  const part = applyDelta(known, delta);
  return {
    ...{ generation: generation.id, attempt: generation.attempt, role, sequence },
    parts: part ? withPart(before, { index: partIndex, part }, position) : before,
  };
}

/** `parts` with `one` inserted or replaced; `position` is that of the last part with no higher index, or -1. */
function withPart(
  parts: Preview["parts"],
  one: Preview["parts"][number],
  position: number,
): Preview["parts"] {
  const isKnown = parts[position]?.index === one.index;
  return isKnown ? parts.with(position, one) : parts.toSpliced(position + 1, 0, one);
}

/** The part with the delta applied; unchanged for an unknown delta of a newer server. */
function applyDelta(known: PreviewPart | undefined, delta: Delta): PreviewPart | undefined {
  switch (delta.__typename) {
    case "TextDelta": {
      const text = known?.__typename === "TextPart" ? known.text : "";
      return { __typename: "TextPart", text: text + delta.append };
    }
    case "ReasoningDelta": {
      const text = known?.__typename === "ReasoningPart" ? known.text : "";
      return { __typename: "ReasoningPart", text: text + delta.append };
    }
    case "ToolInputDelta": {
      const { toolCallId, toolName } = delta;
      const text = known?.__typename === "ToolInput" ? known.text : "";
      return { __typename: "ToolInput", toolCallId, toolName, text: text + delta.append };
    }
    case "ToolOutputDelta": {
      const output = known?.__typename === "ToolOutput" ? known.text : "";
      const text = (output + delta.append).slice(-TOOL_OUTPUT_CHARACTERS);
      return { __typename: "ToolOutput", toolCallId: delta.toolCallId, text };
    }
    case "ToolCallPart":
    case "ToolResultPart":
    case "SourcePart":
    case "NoticePart":
      return delta;
    default:
      return known;
  }
}
