// What the transcript makes of single events; whole lives of chats are in the property test.
import { expect, test } from "vitest";
import {
  type ChatEvent,
  ChatTranscript,
  TOOL_OUTPUT_CHARACTERS,
  type TranscriptState,
} from "../../sdk/src/index.js";

const generation = { id: "gen_1_1", attempt: 1 };

/** Events as a server sends them, as far as they matter here. */
function after(...events: object[]): TranscriptState {
  const transcript = new ChatTranscript();
  events.forEach((event, index) => transcript.apply({ cursor: `c${index + 1}`, ...event } as ChatEvent));
  return transcript.state;
}

const part = (sequence: number, partIndex: number, delta: object) => ({
  ...{ __typename: "ChatPartEvent", generation, sequence, role: "ASSISTANT", partIndex, delta },
});
const message = (id: string, more: object = {}) => ({
  ...{
    __typename: "ChatMessageEvent",
    message: { id, role: "ASSISTANT", parts: [] },
    replacedGeneration: generation,
  },
  ...more,
});
const failure = { kind: "AUTH", message: "No." };

test("deltas grow into parts in the order of the message, a tool's input until the call is whole", () => {
  const text = (append: string) => ({ __typename: "TextDelta", append });
  const input = (append: string) => ({
    ...{ __typename: "ToolInputDelta", toolCallId: "call_1", toolName: "execute", append },
  });
  const call = { __typename: "ToolCallPart", toolCallId: "call_1", toolName: "execute", arguments: { a: 1 } };
  const deltas = [
    part(1, 1, text("Hel")),
    part(2, 0, { __typename: "ReasoningDelta", append: "Hm." }),
    part(3, 1, text("lo")),
    part(4, 2, input('{"a"')),
    part(5, 2, input(":1}")),
  ];
  const first = [
    { index: 0, part: { __typename: "ReasoningPart", text: "Hm." } },
    { index: 1, part: { __typename: "TextPart", text: "Hello" } },
  ];
  const growing = { __typename: "ToolInput", toolCallId: "call_1", toolName: "execute", text: '{"a":1}' };
  expect(after(...deltas).preview).toEqual({
    ...{ generation: "gen_1_1", attempt: 1, role: "ASSISTANT", sequence: 5 },
    parts: [...first, { index: 2, part: growing }],
  });
  expect(after(...deltas, part(6, 2, call)).preview?.parts).toEqual([...first, { index: 2, part: call }]);
});

test("a running tool's output grows at its call's index, truncated to the newest, until its result replaces it", () => {
  const says = (sequence: number, partIndex: number, append: string) =>
    part(sequence, partIndex, { __typename: "ToolOutputDelta", toolCallId: `call_${partIndex}`, append });
  const result = { __typename: "ToolResultPart", toolCallId: "call_1", toolName: "execute", result: "all" };
  const running = [says(1, 1, "one "), says(2, 0, "other"), says(7, 1, "two")];
  const other = { index: 0, part: { __typename: "ToolOutput", toolCallId: "call_0", text: "other" } };
  const growing = { __typename: "ToolOutput", toolCallId: "call_1", text: "one two" };
  const flooded = says(8, 1, `${"x".repeat(TOOL_OUTPUT_CHARACTERS)}end`);
  const newest = `${"x".repeat(TOOL_OUTPUT_CHARACTERS - 3)}end`;
  expect([
    after(...running).preview?.parts,
    after(...running, flooded).preview?.parts[1]?.part,
    after(...running, part(8, 1, result)).preview?.parts,
  ]).toEqual([
    [other, { index: 1, part: growing }],
    { ...growing, text: newest },
    [other, { index: 1, part: result }],
  ]);
});

test("a preview ends with its own message or reset, and not with another's", () => {
  const delta = part(1, 0, { __typename: "TextDelta", append: "Hi" });
  const other = { id: "gen_1_2", attempt: 2 };
  const reset = (of: object) => ({
    __typename: "ChatPreviewResetEvent",
    generation: of,
    resetReason: "RETRY",
  });
  const isOpen = (...events: object[]) => after(delta, ...events).preview !== null;
  expect({
    message: isOpen(message("1")),
    reset: isOpen(reset(generation)),
    usersMessage: isOpen(message("1", { replacedGeneration: null })),
    otherReset: isOpen(reset(other)),
    newGeneration: after(delta, { ...delta, generation: other }).preview?.generation,
  }).toEqual({
    message: false,
    reset: false,
    usersMessage: true,
    otherReset: true,
    newGeneration: "gen_1_2",
  });
});

test("a message that is delivered again replaces itself and keeps what only a refresh tells", () => {
  const author = { id: "user_1", name: "Ada" };
  const chat = {
    ...{
      title: "A chat",
      status: "WAITING",
      retry: null,
      lastError: null,
      pendingToolCalls: [],
      queuedMessages: [],
    },
    messages: {
      nodes: [
        { id: "1", author, runtimeMs: null },
        { id: "2", author: null },
      ],
      pageInfo: { hasPreviousPage: true, startCursor: "p1" },
    },
  };
  const again = message("1", { message: { id: "1", runtimeMs: 5 } });
  const { messages, olderCursor } = after({ __typename: "ChatRefreshEvent", chat }, again);
  expect({ messages, olderCursor }).toEqual({
    messages: [
      { id: "1", author, runtimeMs: 5 },
      { id: "2", author: null },
    ],
    olderCursor: "p1",
  });
});

test("the diff status is that of the last event", () => {
  const diffStatus = (additions: number) => ({
    __typename: "ChatDiffStatusEvent",
    diffStatus: { additions },
  });
  const gone = { __typename: "ChatDiffStatusEvent", diffStatus: null };
  expect([after(diffStatus(1), diffStatus(2)).diffStatus, after(diffStatus(1), gone).diffStatus]).toEqual([
    { additions: 2 },
    null,
  ]);
});

test("a failed turn is at rest when its reason is known; the next turn clears it", () => {
  const caughtUp = { __typename: "ChatCaughtUpEvent", replayedEvents: 0 };
  const status = (name: string) => ({ __typename: "ChatStatusEvent", status: name });
  const error = { __typename: "ChatErrorEvent", failure };
  const seen = [[], [error], [error, status("PENDING")]].map((more) => {
    const { isAtRest, failure: reason } = after(caughtUp, status("ERROR"), ...more);
    return [isAtRest, reason];
  });
  expect(seen).toEqual([
    [false, null],
    [true, failure],
    [false, null],
  ]);
});

test("calls wait for the client until the turn continues", () => {
  const status = (name: string) => ({ __typename: "ChatStatusEvent", status: name });
  const toolCalls = [{ toolCallId: "call_1" }];
  const asked = { __typename: "ChatActionRequiredEvent", toolCalls, deadline: "2030-01-01T00:00:00.000Z" };
  const shown = ({ pendingToolCalls, actionDeadline }: TranscriptState) => [pendingToolCalls, actionDeadline];
  expect(shown(after(status("REQUIRES_ACTION"), asked))).toEqual([toolCalls, asked.deadline]);
  expect(shown(after(status("REQUIRES_ACTION"), asked, status("PENDING")))).toEqual([[], null]);
});

test("events and deltas of a newer server move the cursor and nothing else", () => {
  const delta = part(1, 0, { __typename: "TextDelta", append: "Hi" });
  const before = after(delta);
  const later = after(
    delta,
    { __typename: "ChatHologramEvent" },
    part(2, 1, { __typename: "HologramDelta" }),
  );
  expect(later).toEqual({ ...before, cursor: "c3", preview: { ...before.preview, sequence: 2 } });
});
