import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clientCall, failure, stateOf } from "../../../test/support/chat-states.js";
import {
  compareGenerations,
  comparePositions,
  endOfVersion,
  generationId,
  parseGenerationId,
  savedEventsAfter,
  STAGES,
  type MessageRow,
  type QueuedRow,
  type SavedEvent,
} from "./chat-events.js";
import type { ChatState } from "./chat-state.js";

function row(id: number, revision: number, changes: Partial<MessageRow> = {}): MessageRow {
  return {
    id: `${id}`,
    chatId: "chat",
    role: "user",
    visibility: "both",
    parts: [],
    authorId: null,
    modelConfigId: null,
    reasoningEffort: null,
    mcpServerIds: null,
    usage: null,
    costMicros: null,
    runtimeMs: null,
    generation: null,
    finishReason: null,
    responseId: null,
    isSummary: false,
    revision,
    createdAt: 0,
    ...changes,
  };
}

const queue: QueuedRow[] = [
  {
    id: "q1",
    chatId: "chat",
    parts: [],
    isCut: false,
    authorId: "ada",
    modelConfigId: null,
    reasoningEffort: null,
    createdAt: 0,
  },
];
const retry = { attempt: 2, delayMs: 5, retryingAt: 6, failure };

/** `message 3`, `queue`, `status waiting`… with the version it belongs to. */
function words(item: SavedEvent): string {
  const detail =
    item.type === "message" ? ` ${item.message.id}` : item.type === "status" ? ` ${item.status}` : "";
  return `${item.position.version} ${item.type}${detail}`;
}

function delivered(
  after: Parameters<typeof savedEventsAfter>[0],
  state: ChatState,
  messages: MessageRow[] = [],
): string[] {
  return savedEventsAfter(after, state, { messages, queue }).map(words);
}

describe("saved events are delivered", () => {
  test("in the order of versions, and within one version messages first and by id", () => {
    const state = stateOf("waiting", { snapshotVersion: 9, statusVersion: 9, queueVersion: 8 });
    const messages = [row(12, 9), row(11, 9), row(3, 7), row(4, 8)];
    expect(delivered(endOfVersion(0), state, messages)).toEqual([
      "7 message 3",
      "8 message 4",
      "8 queue",
      "9 message 11",
      "9 message 12",
      "9 status waiting",
    ]);
  });

  test.each<[string, ChatState, string[]]>([
    [
      "an error after its status",
      stateOf("error", { statusVersion: 9, queueVersion: 9 }),
      ["9 queue", "9 status error", "9 error"],
    ],
    [
      "the client's calls after their status",
      stateOf("requires_action", { statusVersion: 9, openCalls: [clientCall] }),
      ["9 status requires_action", "9 action-required"],
    ],
    [
      "a retry after everything else",
      stateOf("running", { statusVersion: 9, queueVersion: 9, retry, retryVersion: 9 }),
      ["9 queue", "9 status running", "9 retry"],
    ],
  ])("with %s", (_name, state, expected) => {
    expect(delivered(endOfVersion(8), state)).toEqual(expected);
  });

  test("only after the reader's position, also in the middle of a version", () => {
    const state = stateOf("running", { statusVersion: 9, queueVersion: 9 });
    const messages = [row(11, 9), row(12, 9)];
    const positions = [
      { version: 9, stage: STAGES.message, messageId: 11 },
      { version: 9, stage: STAGES.message, messageId: 12 },
      { version: 9, stage: STAGES.queue, messageId: 0 },
      { version: 9, stage: STAGES.status, messageId: 0 },
      endOfVersion(9),
    ];
    expect(positions.map((position) => delivered(position, state, messages))).toEqual([
      ["9 message 12", "9 queue", "9 status running"],
      ["9 queue", "9 status running"],
      ["9 status running"],
      [],
      [],
    ]);
  });

  test("without messages that only the model may see", () => {
    const messages = [row(1, 9, { visibility: "model" }), row(2, 9, { visibility: "user" })];
    expect(delivered(endOfVersion(8), stateOf("waiting"), messages)).toEqual(["9 message 2"]);
  });

  test("with everything a client needs to act on them", () => {
    const state = stateOf("running", { retry, retryVersion: 9, queueVersion: 9 });
    expect(savedEventsAfter(endOfVersion(8), state, { messages: [], queue })).toEqual([
      { type: "queue", queue, position: { version: 9, stage: STAGES.queue, messageId: 0 } },
      {
        type: "retry",
        retry,
        generation: { historyVersion: 7, attempt: 2, startedAt: null },
        position: { version: 9, stage: STAGES.retry, messageId: 0 },
      },
    ]);
  });
});

describe("a generation", () => {
  const number = fc.nat({ max: 999_999_999_999_999 });
  const generation = fc.record({ historyVersion: number, attempt: number });

  test("is parsed from its id", () => {
    fc.assert(
      fc.property(generation, (input) => {
        expect(parseGenerationId(generationId(input))).toEqual(input);
      }),
    );
  });

  test.each([
    "",
    "gen_",
    "gen_1",
    "gen_1_",
    "gen_1_2_3",
    "gen_-1_2",
    "gen_1_2 ",
    "gen_1_2\n",
    "GEN_1_2",
    `gen_${"9".repeat(16)}_1`,
  ])("is not named by %j", (id) => {
    expect(parseGenerationId(id)).toBeNull();
  });

  test("of a later history comes after every attempt of an earlier one", () => {
    const order = [
      { historyVersion: 3, attempt: 0 },
      { historyVersion: 3, attempt: 9 },
      { historyVersion: 12, attempt: 1 },
    ];
    expect([...order].reverse().sort(compareGenerations)).toEqual(order);
  });
});

test("the end of a version is after everything in it and before everything in the next", () => {
  const stages = Object.values(STAGES).filter((stage) => stage !== STAGES.end);
  const within = stages.map((stage) => ({ version: 4, stage, messageId: 999 }));
  const following = stages.map((stage) => ({ version: 5, stage, messageId: 0 }));
  expect({
    before: within.every((position) => comparePositions(position, endOfVersion(4)) < 0),
    after: following.every((position) => comparePositions(position, endOfVersion(4)) > 0),
  }).toEqual({ before: true, after: true });
});
