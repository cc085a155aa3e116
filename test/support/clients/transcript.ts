// Reference client of a chat's events, by the contract of docs/concepts/events.md: saved messages by id, and the
// preview of the message being written. Every breach of the contract is noted in `breaches`.
import { isDeepStrictEqual } from "node:util";
import { CHAT_FIELDS, MESSAGE_FIELDS } from "./api-shapes.js";
import type { ChatShown, Message, Part, Queued } from "./api-shapes.js";

const GENERATION = "generation { id attempt startedAt }";
const FAILURE = "failure { kind message httpStatus isRetryable }";

export const DIFF_STATUS_FIELDS = `url additions deletions changedFiles headBranch baseBranch isStale
  pullRequest { number title state isDraft hasChangesRequested authorLogin }`;

export const CHAT_EVENTS_DOCUMENT = `subscription ($chatId: ID!, $after: String) {
  chatEvents(chatId: $chatId, after: $after) {
    __typename
    ... on StreamEvent { cursor }
    ... on ChatRefreshEvent { reason chat { ${CHAT_FIELDS} } }
    ... on ChatCaughtUpEvent { replayedEvents }
    ... on ChatMessageEvent { replaced: replacedGeneration { id attempt startedAt } message { ${MESSAGE_FIELDS} } }
    ... on ChatStatusEvent { status }
    ... on ChatErrorEvent { ${FAILURE} }
    ... on ChatQueueEvent { queuedMessages { id parts { ... on TextPart { text } } } }
    ... on ChatActionRequiredEvent { deadline toolCalls { toolCallId toolName arguments } }
    ... on ChatTitleEvent { title }
    ... on ChatDiffStatusEvent { diffStatus { ${DIFF_STATUS_FIELDS} } }
    ... on ChatRetryEvent { ${GENERATION} retry { attempt delayMs ${FAILURE} } }
    ... on ChatPreviewResetEvent { ${GENERATION} resetReason }
    ... on ChatPartEvent { ${GENERATION} sequence role partIndex delta {
      __typename
      ... on TextDelta { append }
      ... on ReasoningDelta { append }
      ... on ToolInputDelta { toolCallId toolName append }
      ... on ToolOutputDelta { toolCallId append }
      ... on ToolCallPart { toolCallId toolName arguments }
      ... on ToolResultPart { toolCallId toolName result isError }
      ... on SourcePart { url title }
      ... on NoticePart { level text }
    } }
  }
}`;

export type DiffStatusShown = {
  url: string | null;
  additions: number;
  deletions: number;
  changedFiles: number;
  headBranch: string | null;
  baseBranch: string | null;
  isStale: boolean;
  pullRequest: {
    number: number;
    title: string;
    state: string;
    isDraft: boolean;
    hasChangesRequested: boolean;
    authorLogin: string | null;
  } | null;
};

type Generation = { id: string; attempt: number; startedAt: string | null };
type Failure = { kind: string; message: string; httpStatus: number | null; isRetryable: boolean };

export type ChatEvent = { cursor: string } & (
  | { __typename: "ChatRefreshEvent"; reason: string; chat: ChatShown }
  | { __typename: "ChatCaughtUpEvent"; replayedEvents: number }
  | { __typename: "ChatMessageEvent"; replaced: Generation | null; message: Message }
  | { __typename: "ChatStatusEvent"; status: string }
  | { __typename: "ChatErrorEvent"; failure: Failure }
  | { __typename: "ChatQueueEvent"; queuedMessages: Queued[] }
  | { __typename: "ChatTitleEvent"; title: string }
  | { __typename: "ChatDiffStatusEvent"; diffStatus: DiffStatusShown | null }
  | {
      __typename: "ChatActionRequiredEvent";
      deadline: string | null;
      toolCalls: { toolCallId: string; toolName: string; arguments: unknown }[];
    }
  | {
      __typename: "ChatRetryEvent";
      generation: Generation;
      retry: { attempt: number; delayMs: number; failure: Failure };
    }
  | { __typename: "ChatPreviewResetEvent"; generation: Generation; resetReason: string }
  | {
      __typename: "ChatPartEvent";
      generation: Generation;
      sequence: number;
      role: string;
      partIndex: number;
      delta: Part;
    }
);

type Preview = {
  generation: string;
  sequence: number;
  role: string;
  parts: Map<number, Part>;
  /** Output of running tools, by call; deleted when the result arrives. */
  outputs: Map<string, string>;
};

export class Transcript {
  /** Oldest first. */
  messages: Message[] = [];
  status: string | null = null;
  queue: string[] = [];
  failure: Failure | null = null;
  title: string | null = null;
  /** As of the last event; null before the first. */
  diffStatus: DiffStatusShown | null = null;
  isCaughtUp = false;
  preview: Preview | null = null;
  /** The names of all events in order, with what distinguishes them. */
  readonly log: string[] = [];
  readonly events: ChatEvent[] = [];
  /** A sentence for each breach of the contract. */
  readonly breaches: string[] = [];
  /** How many previews were replaced by a message with exactly the same content. */
  confirmedPreviews = 0;

  /** When each generation began, as its deltas say. */
  readonly #begunAt = new Map<string, string>();

  constructor(public cursor: string | null = null) {}

  /** A client that has read the chat and follows it from there. */
  static from(chat: ChatShown): Transcript {
    const transcript = new Transcript(chat.eventCursor);
    transcript.messages = [...chat.messages.nodes];
    transcript.status = chat.status;
    transcript.title = chat.title;
    return transcript;
  }

  apply(event: ChatEvent): void {
    this.cursor = event.cursor;
    this.events.push(event);
    this.log.push(nameOf(event));
    switch (event.__typename) {
      case "ChatRefreshEvent":
        this.messages = [...event.chat.messages.nodes];
        this.status = event.chat.status;
        this.title = event.chat.title;
        this.failure = event.chat.lastError;
        this.queue = event.chat.queuedMessages.map(({ parts }) => parts[0]?.text ?? "");
        this.preview = null;
        return;
      case "ChatCaughtUpEvent":
        this.isCaughtUp = true;
        return;
      case "ChatMessageEvent":
        return this.#take(event.message, event.replaced);
      case "ChatStatusEvent":
        this.status = event.status;
        if (event.status !== "ERROR") this.failure = null;
        return;
      case "ChatErrorEvent":
        this.failure = event.failure;
        return;
      case "ChatQueueEvent":
        this.queue = event.queuedMessages.map(({ parts }) => parts[0]?.text ?? "");
        return;
      case "ChatTitleEvent":
        this.title = event.title;
        return;
      case "ChatDiffStatusEvent":
        this.diffStatus = event.diffStatus;
        return;
      case "ChatPartEvent":
        return this.#show(event);
      case "ChatPreviewResetEvent":
        if (this.preview?.generation === event.generation.id) this.preview = null;
        return;
      case "ChatActionRequiredEvent":
      case "ChatRetryEvent":
        return;
    }
  }

  /** The connection was lost: what follows is a catch-up. */
  reopened(): void {
    this.isCaughtUp = false;
  }

  /** All text of the assistant, one string per message. */
  get answers(): string[] {
    return this.messages.filter(({ role }) => role === "ASSISTANT").map(textOf);
  }

  #take(message: Message, generation: Generation | null): void {
    // A known message is sent again when its runtime has grown.
    const index = this.messages.findIndex(({ id }) => id === message.id);
    if (this.preview && generation?.id === this.preview.generation) {
      // Deltas that were missed while disconnected are not sent again once the message is saved.
      if (this.isCaughtUp) this.#compare(message, this.preview);
      this.preview = null;
    } else if (this.preview && index < 0) {
      this.breaches.push(`message ${message.id} came while ${this.preview.generation} was being written`);
    }
    if (index >= 0) this.messages[index] = message;
    else this.messages.push(message);
  }

  #compare(message: Message, preview: Preview): void {
    const shown = [...preview.parts].sort(([a], [b]) => a - b).map(([, part]) => part);
    const [before, after] = [wordsOf(shown), wordsOf(message.parts)];
    if (isDeepStrictEqual(before, after)) this.confirmedPreviews += 1;
    else {
      const texts = [before, after].map((parts) => JSON.stringify(parts).slice(0, 2_000));
      this.breaches.push(`the preview of ${preview.generation} said ${texts[0]}, its message ${texts[1]}`);
    }
  }

  #showOutput({ outputs, parts }: Preview, { __typename, toolCallId: call, append }: Part): void {
    const toolCallId = String(call);
    if (__typename === "ToolResultPart") outputs.delete(toolCallId);
    if (__typename !== "ToolOutputDelta") return;
    outputs.set(toolCallId, (outputs.get(toolCallId) ?? "") + String(append));
    const isAnswered = [...parts.values()].some((part) => part.toolCallId === toolCallId);
    if (isAnswered) this.breaches.push(`${toolCallId} said more after its result`);
  }

  #show(event: ChatEvent & { __typename: "ChatPartEvent" }): void {
    const { generation, sequence, role, partIndex, delta } = event;
    if (this.preview?.generation !== generation.id) {
      if (this.preview)
        this.breaches.push(`${generation.id} began while ${this.preview.generation} was open`);
      const empty = { parts: new Map<number, Part>(), outputs: new Map<string, string>() };
      this.preview = { generation: generation.id, sequence: 0, role, ...empty };
    }
    const { preview } = this;
    const begun = this.#begunAt.get(generation.id) ?? generation.startedAt;
    if (begun === null || begun !== generation.startedAt)
      this.breaches.push(`${generation.id} began at ${begun}, then at ${generation.startedAt}`);
    else this.#begunAt.set(generation.id, begun);
    // Tool output that is no longer retained leaves a gap.
    const isNext = role === "TOOL" ? sequence > preview.sequence : sequence === preview.sequence + 1;
    if (!isNext) this.breaches.push(`${generation.id} went from delta ${preview.sequence} to ${sequence}`);
    preview.sequence = sequence;
    this.#showOutput(preview, delta);
    const known = preview.parts.get(partIndex);
    const typename = DELTAS[delta.__typename];
    if (typename === undefined) preview.parts.set(partIndex, delta);
    else if (typename !== "") {
      const text = known?.__typename === typename ? String(known.text) : "";
      preview.parts.set(partIndex, { __typename: typename, text: text + String(delta.append) });
    }
  }
}

/** The part that a delta extends; empty for a tool's input and output, whose deltas are not compared. */
const DELTAS: Record<string, string> = {
  TextDelta: "TextPart",
  ReasoningDelta: "ReasoningPart",
  ToolInputDelta: "",
  ToolOutputDelta: "",
};

/** The content that is compared between a preview and its message. */
function wordsOf(parts: Part[]): unknown[] {
  return parts
    .map(({ __typename, text, toolCallId, arguments: given, result, url }) => ({
      ...{ __typename, text, toolCallId, given, result, url },
    }))
    .filter((part) => part.text !== "");
}

export function textOf({ parts }: Message): string {
  return parts.map((part) => (part.__typename === "TextPart" ? String(part.text) : "")).join("");
}

function nameOf(event: ChatEvent): string {
  switch (event.__typename) {
    case "ChatRefreshEvent":
      return `refresh ${event.reason}`;
    case "ChatMessageEvent":
      return `message ${event.message.role}`;
    case "ChatStatusEvent":
      return `status ${event.status}`;
    case "ChatPartEvent":
      return `part ${event.role} ${event.delta.__typename}`;
    case "ChatPreviewResetEvent":
      return `preview-reset ${event.resetReason}`;
    case "ChatRetryEvent":
      return `retry ${event.retry.attempt}`;
    case "ChatErrorEvent":
      return `error ${event.failure.kind}`;
    case "ChatQueueEvent":
      return `queue ${event.queuedMessages.length}`;
    case "ChatActionRequiredEvent":
      return `action-required ${event.toolCalls.map(({ toolName }) => toolName).join(" ")}`;
    case "ChatCaughtUpEvent":
      return "caught-up";
    case "ChatTitleEvent":
      return "title";
    case "ChatDiffStatusEvent":
      return "diff-status";
  }
}
