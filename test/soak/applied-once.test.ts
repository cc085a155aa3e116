// The law that no event is applied twice can be broken, and only by events that are.
import { expect, test } from "vitest";
import { endOfVersion, type Position, STAGES } from "../../src/domain/chats/chat-events.js";
import { encodeEventCursor } from "../../src/domain/common/cursors.js";
import type { ChatEvent } from "../support/clients/transcript.js";
import { AppliedOnce } from "./applied-once.js";

const at = (position: Position) => encodeEventCursor({ position, generation: null, sequence: 0 });
const message = (version: number, id: number) =>
  ({
    cursor: at({ version, stage: STAGES.message, messageId: id }),
    __typename: "ChatMessageEvent",
    replaced: null,
    message: { id: `msg_${id}`, role: "USER", parts: [] },
  }) satisfies ChatEvent;
const status = (version: number) =>
  ({
    cursor: at({ version, stage: STAGES.status, messageId: 0 }),
    __typename: "ChatStatusEvent",
    status: "RUNNING",
  }) satisfies ChatEvent;
const delta = (attempt: number, sequence: number) =>
  ({
    cursor: at(endOfVersion(3)),
    __typename: "ChatPartEvent",
    generation: { id: `gen_3_${attempt}`, attempt, startedAt: null },
    ...{ sequence, role: "ASSISTANT", partIndex: 0, delta: { __typename: "TextDelta", append: "a" } },
  }) satisfies ChatEvent;
const reset = {
  cursor: at(endOfVersion(3)),
  __typename: "ChatPreviewResetEvent",
  generation: { id: "gen_3_1", attempt: 1, startedAt: null },
  resetReason: "WORKER_LOST",
} satisfies ChatEvent;
const refresh = (version: number) =>
  ({
    cursor: at(endOfVersion(version)),
    __typename: "ChatRefreshEvent",
    reason: "CURSOR_TOO_OLD",
    chat: {
      ...{ id: "chat_1", title: "", status: "RUNNING", eventCursor: "", lastError: null },
      ...{ pendingToolCalls: [], queuedMessages: [], messages: { nodes: [] } },
    },
  }) satisfies ChatEvent;
const caughtUp = (version: number) =>
  ({
    cursor: at(endOfVersion(version)),
    __typename: "ChatCaughtUpEvent",
    replayedEvents: 0,
  }) satisfies ChatEvent;

function applyAll(...events: ChatEvent[]) {
  const once = new AppliedOnce();
  for (const event of events) once.apply(event);
  return { applied: once.applied, repeats: once.repeats };
}

test.each<[string, ChatEvent[], string[]]>([
  ["a message twice", [message(2, 1), status(2), message(2, 1)], ["ChatMessageEvent of 2.0.1 was repeated"]],
  ["a status twice", [status(2), status(2)], ["ChatStatusEvent of 2.2.0 was repeated"]],
  ["an older status late", [status(2), message(3, 1), status(2)], ["ChatStatusEvent of 2.2.0 was repeated"]],
  ["the content of a refresh", [refresh(3), message(3, 1)], ["ChatMessageEvent of 3.0.1 was repeated"]],
  ["what a catch-up ended", [caughtUp(3), status(3)], ["ChatStatusEvent of 3.2.0 was repeated"]],
  ["a delta twice", [delta(1, 1), delta(1, 2), delta(1, 2)], ["delta 2 of gen_3_1 was repeated"]],
  [
    "a delta after its message",
    [delta(1, 1), message(4, 1), delta(1, 1)],
    ["delta 1 of gen_3_1 was repeated"],
  ],
  ["a delta of an older try", [delta(1, 1), delta(2, 1), delta(1, 2)], ["delta 2 of gen_3_1 was repeated"]],
])("%s is found out", (_name, events, repeats) => {
  expect(applyAll(...events)).toEqual({ applied: events.filter(isSaying).length - 1, repeats });
});

const isSaying = ({ __typename }: ChatEvent) => __typename !== "ChatCaughtUpEvent";

test("events sent once, again after a refresh or in a new preview are no violation", () => {
  const events = [
    ...[refresh(1), caughtUp(1), message(2, 1), status(2), delta(1, 1), delta(1, 2), reset],
    ...[delta(1, 1), delta(2, 1), message(4, 1), message(4, 2), message(5, 1), refresh(9), refresh(7)],
    ...[message(8, 1), delta(2, 1)],
  ];
  expect(applyAll(...events)).toEqual({ applied: 14, repeats: [] });
});
