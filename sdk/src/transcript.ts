/**
 * What a person sees of a chat, made from its events: saved messages by id, and the preview of the message that is
 * being written. It keeps the contract of docs/events.md, needs no framework, and works with the events of any client
 * that asks with `ChatEventsDocument`. States are never changed, only replaced: compare them by identity.
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

/** A saved message. Who said it to which model is known of those that came with a refresh or a query. */
export type TranscriptMessage = MessageContentFragment & {
  author?: { id: string; name: string } | null;
  modelConfig?: { id: string; displayName: string } | null;
};

/** Arguments of a tool call while the model writes them: not JSON before the whole call comes in their place. */
export type ToolInput = { __typename: "ToolInput"; toolCallId: string; toolName: string; text: string };

/**
 * What a running tool has said so far, until its result comes in its place: the newest of it, where that is more than
 * `TOOL_OUTPUT_CHARACTERS`.
 */
export type ToolOutput = { __typename: "ToolOutput"; toolCallId: string; text: string };

/** A command may run and talk for hours; nobody reads more of it than this. */
export const TOOL_OUTPUT_CHARACTERS = 256 * 1024;

type TextDeltaName = "TextDelta" | "ReasoningDelta" | "ToolInputDelta" | "ToolOutputDelta";

export type PreviewPart =
  | { __typename: "TextPart"; text: string }
  | { __typename: "ReasoningPart"; text: string }
  | ToolInput
  | ToolOutput
  | Exclude<Delta, { __typename: TextDeltaName }>;

/** The message that is being written. */
export type Preview = {
  generation: string;
  /** Which try this is, from 1. */
  attempt: number;
  role: MessageRole;
  /** The last delta that is in it. */
  sequence: number;
  /** In the order of the message; `index` is the place of the part in it. */
  parts: readonly { index: number; part: PreviewPart }[];
};

export type TranscriptState = {
  /** Null before the first refresh. */
  title: string | null;
  /** How the chat's branch stands at its git host; null while there is none, or before the first refresh. */
  diffStatus: DiffStatusFieldsFragment | null;
  status: ChatStatus | null;
  /** Oldest first. */
  messages: readonly TranscriptMessage[];
  /** Older messages are before this one: pass it as `before` to the query `chat`, then its nodes to `addOlder`. */
  olderCursor: string | null;
  preview: Preview | null;
  /** In the order of saying. Of a long message `parts` has the beginning, and `isTruncated` is true: `queuedMessage({ id })` has the whole. */
  queue: readonly QueuedMessageFieldsFragment[];
  /** The model is about to be asked again. */
  retry: RetryFieldsFragment | null;
  /** Why the last turn failed. */
  failure: FailureFieldsFragment | null;
  /** Calls that wait for the client's results, and until when if that is known. */
  pendingToolCalls: readonly ToolCallFieldsFragment[];
  actionDeadline: string | null;
  /** False until the stream has caught up for the first time. */
  isCaughtUp: boolean;
  /** No turn is under way: it is the person's turn, or the last one failed and `failure` says why. */
  isAtRest: boolean;
  /** Where to go on: `chatEvents({ chatId, after: cursor })`. */
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
  /** Replaced by each change. */
  state: TranscriptState;

  constructor(state: TranscriptState = EMPTY) {
    this.state = state;
  }

  /** From what the query `chat` answered; follow the chat from `state.cursor` on and nothing falls between. */
  static from(chat: RefreshedChat): ChatTranscript {
    return new ChatTranscript(after(EMPTY, readAnew(chat), chat.eventCursor));
  }

  /** Takes one event, in the order of the stream. Events of a newer server that it does not know change the cursor only. */
  apply(event: ChatEvent): TranscriptState {
    this.state = after(this.state, changesBy(event, this.state), event.cursor);
    return this.state;
  }

  /** Puts a page of older messages, oldest first, before those that are there. */
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
  // The reason for an error comes right behind its status.
  const isAtRest = state.isCaughtUp && (status === "WAITING" || (status === "ERROR" && failure !== null));
  return { ...state, isAtRest };
}

type PageEnd = { hasPreviousPage: boolean; startCursor: string | null };

function olderCursorOf({ hasPreviousPage, startCursor }: PageEnd): string | null {
  return hasPreviousPage ? startCursor : null;
}

function readAnew(chat: RefreshedChat): Partial<TranscriptState> {
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
      return readAnew(event.chat);
    case "ChatCaughtUpEvent":
      return { isCaughtUp: true };
    case "ChatMessageEvent":
      return saved(event.message, event.replacedGeneration?.id ?? null, state);
    case "ChatPartEvent":
      return { preview: grow(state.preview, event), retry: null };
    case "ChatPreviewResetEvent":
      return state.preview?.generation === event.generation.id ? { preview: null } : {};
    case "ChatStatusEvent":
      return entered(event.status, state);
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
  // It was written again; what only a refresh tells stays.
  return messages.with(known, { ...messages[known], ...message });
}

function entered(status: ChatStatus, state: TranscriptState): Partial<TranscriptState> {
  const isWaitingForClient = status === "REQUIRES_ACTION";
  return {
    status,
    retry: null,
    failure: status === "ERROR" ? state.failure : null,
    pendingToolCalls: isWaitingForClient ? state.pendingToolCalls : [],
    actionDeadline: isWaitingForClient ? state.actionDeadline : null,
  };
}

function grow(preview: Preview | null, event: PartEvent): Preview {
  const { generation, sequence, role, partIndex, delta } = event;
  const before = preview?.generation === generation.id ? preview.parts : [];
  const place = before.findLastIndex(({ index }) => index <= partIndex);
  const known = before[place]?.index === partIndex ? before[place].part : undefined;
  const part = grown(known, delta);
  return {
    ...{ generation: generation.id, attempt: generation.attempt, role, sequence },
    parts: part ? placed(before, { index: partIndex, part }, place) : before,
  };
}

/** The parts with this one at its index; `place` is where the last part with no higher index is, or -1. */
function placed(parts: Preview["parts"], one: Preview["parts"][number], place: number): Preview["parts"] {
  const isKnown = parts[place]?.index === one.index;
  return isKnown ? parts.with(place, one) : parts.toSpliced(place + 1, 0, one);
}

/** Undefined for a delta of a newer server. */
function grown(known: PreviewPart | undefined, delta: Delta): PreviewPart | undefined {
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
      const said = known?.__typename === "ToolOutput" ? known.text : "";
      const text = (said + delta.append).slice(-TOOL_OUTPUT_CHARACTERS);
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
