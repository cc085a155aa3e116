// The SQL of transitions against the pure decisions that it writes down, on a real database.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { MessageRow } from "../../src/domain/chats/chat-events.js";
import type { ChatState, MessageDraft } from "../../src/domain/chats/chat-state.js";
import type { Command } from "../../src/domain/chats/transition.js";
import {
  readChat,
  readChatAndRowsFrom,
  readHistory,
  readRowsFrom,
  readVersions,
} from "../../src/store/chats/chat-source.js";
import { UnknownContentVersion } from "../../src/store/chats/rows.js";
import type { Queryable } from "../../src/store/common/database.js";
import { MessageGone } from "../../src/store/chats/transitions.js";
import { World } from "../engine/world.js";
import { apply, newChat, said, type Path } from "./chats-fixture.js";

let world: World;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());

/** Runs the script of commands on a chat of its own, and tells everything that it left in the database. */
async function play(script: ((state: ChatState) => Command[])[], path: Path) {
  const chat = await newChat(world);
  const first = Number((await readHistory(world.database, chat.chatId))[0]?.id);
  // Both plays must know their runners by the same names.
  let { state } = chat;
  const written: unknown[] = [];
  const retell = (row: MessageRow) => ({
    ...row,
    chatId: "",
    id: Number(row.id) - first,
  });
  for (const step of script) {
    const result = await apply(world, { ...chat, state }, step(state), path);
    state = result.state;
    written.push(result.rows?.map(retell) ?? null);
  }
  const stored = await readChat(world.database, chat.chatId);
  expect(stored?.state).toEqual(state);
  const history = (await readHistory(world.database, chat.chatId)).map(retell);
  return { state, written, history };
}

const workerId = randomUUID();
const runnerId = randomUUID();
const fence = ({ historyVersion }: ChatState) => ({ runnerId, historyVersion });
const acquire: Command = { type: "acquire", workerId, runnerId, isLeaseDead: false };
const usage = {
  inputTokens: 1,
  outputTokens: 2,
  reasoningTokens: 3,
  cacheReadTokens: 4,
  cacheWriteTokens: 5,
};

/** Every writing command that fits one statement, with every column of a message used. */
const script: ((state: ChatState) => Command[])[] = [
  () => [acquire],
  (state) => [{ type: "begin-attempt", fence: fence(state) }],
  (state) => [
    {
      type: "record-retry",
      fence: fence(state),
      delayMs: 500,
      failure: { kind: "overloaded", message: "Busy \u0000", isRetryable: true },
    },
  ],
  (state) => [{ type: "begin-attempt", fence: fence(state) }],
  (state) => [
    {
      type: "commit-step",
      fence: fence(state),
      openCalls: [{ toolCallId: "a", toolName: "t", isClient: true, arguments: { x: "\u0000\uE000" } }],
      messages: [
        {
          role: "assistant",
          visibility: "both",
          parts: [{ type: "tool-call", toolCallId: "a", toolName: "t", arguments: {} }],
          usage,
          costMicros: 12_345_678_901n,
          runtimeMs: 10.4,
          generation: "gen_1_2",
          modelConfigId: world.modelConfigId,
          reasoningEffort: "high",
        },
        { role: "system", visibility: "model", parts: [{ type: "text", text: "for the model" }] },
        {
          role: "system",
          visibility: "user",
          parts: [{ type: "text", text: "for users" }],
          isSummary: true,
        },
      ],
    },
  ],
  (state) => [{ type: "await-client", fence: fence(state) }],
  () => [
    { type: "submit-tool-results", results: [{ toolCallId: "a", result: [null, 1.5, "x"], isError: false }] },
  ],
  () => [acquire],
  (state) => [
    { type: "fail", fence: fence(state), failure: { kind: "auth", message: "No.", isRetryable: false } },
  ],
  () => [{ type: "send-message", whenBusy: "queue", message: said(world, "Again"), queuedId: randomUUID() }],
  () => [{ type: "interrupt" }],
  () => [{ type: "archive" }],
  () => [{ type: "unarchive" }],
];

describe("one statement and many under a lock", () => {
  test("write the same", async () => {
    const [fast, slow] = [await play(script, "one statement"), await play(script, "locked")];
    expect(fast).toEqual(slow);
    expect(fast.history.map(({ id, role }) => [id, role])).toEqual([
      [0, "user"],
      [1, "assistant"],
      [2, "system"],
      [4, "tool"],
      [5, "user"],
    ]);
  });

  test("add the tools' time to the message that asked for them", async () => {
    for (const path of ["one statement", "locked"] as const) {
      const { chatId, state } = await newChat(world);
      const running = await apply(world, { chatId, state }, [acquire]);
      const call = { toolCallId: "a", toolName: "t", isClient: false };
      const asking = await apply(world, running, [
        {
          type: "commit-step",
          fence: fence(running.state),
          openCalls: [call],
          messages: [{ role: "assistant", visibility: "both", parts: [], runtimeMs: 100 }],
        },
      ]);
      const messageId = asking.rows?.[0]?.id ?? "";
      const answered = await apply(
        world,
        asking,
        [
          {
            type: "commit-step",
            fence: fence(asking.state),
            openCalls: [],
            messages: [{ role: "tool", visibility: "both", parts: [] }],
            addRuntime: { messageId, runtimeMs: 23.6 },
          },
        ],
        path,
      );
      expect(answered.rows?.map(({ role, runtimeMs, revision }) => [role, runtimeMs, revision])).toEqual([
        ["assistant", 124, 4],
        ["tool", null, 4],
      ]);
    }
  });

  test("write nothing when the chat has moved on", async () => {
    const { chatId, state } = await newChat(world);
    await apply(world, { chatId, state }, [{ type: "interrupt" }]);
    const history = await readHistory(world.database, chatId);
    const stale = { ...state, status: "waiting" as const };
    const send: Command = {
      type: "send-message",
      whenBusy: "queue",
      message: said(world, "Late"),
      queuedId: randomUUID(),
    };
    expect((await apply(world, { chatId, state: stale }, [send], "one statement")).rows).toBeNull();
    expect((await apply(world, { chatId, state }, [acquire], "one statement")).rows).toBeNull();
    await expect(apply(world, { chatId, state: stale }, [send], "locked")).rejects.toThrow("moved on");
    expect(await readHistory(world.database, chatId)).toEqual(history);
    expect((await readChat(world.database, chatId))?.state.snapshotVersion).toBe(2);
  });
});

test("a thousand messages of one insert get ids in their order", async () => {
  const texts = Array.from({ length: 1_000 }, (_, index) => `message ${(index * 7_919) % 1_000}`);
  const { chatId } = await newChat(world, ...texts);
  const rows = await readHistory(world.database, chatId);
  expect(rows.map(({ parts }) => parts)).toEqual(texts.map((text) => [{ type: "text", text }]));
});

test("null bytes, their escape character and lone surrogates survive, in history, queue and state", async () => {
  const nasty = "a\u0000b\uE000c\uE000\uE001d\u0000\uE000";
  const { chatId, state } = await newChat(world, nasty);
  const queued: Command = {
    type: "send-message",
    whenBusy: "queue",
    message: said(world, `${nasty}\uD83D`),
    queuedId: randomUUID(),
  };
  await apply(world, { chatId, state }, [queued]);
  const chat = await readChat(world.database, chatId);
  expect([
    (await readHistory(world.database, chatId)).map(({ parts }) => parts),
    chat?.queue.map(({ parts }) => parts),
  ]).toEqual([[[{ type: "text", text: nasty }]], [[{ type: "text", text: `${nasty}\uFFFD` }]]]);
});

test("a row of a newer Parley is not read", async () => {
  const { chatId } = await newChat(world);
  await world.run("UPDATE chat_messages SET content_version = 2 WHERE chat_id = $1", [chatId]);
  await expect(readHistory(world.database, chatId)).rejects.toThrow(UnknownContentVersion);
});

describe("an edit", () => {
  test("takes the message and all after it out of history but keeps the rows, and empties the queue", async () => {
    const { chatId, state } = await newChat(world, "one", "two", "three");
    const busy = await apply(world, { chatId, state }, [
      { type: "send-message", whenBusy: "queue", message: said(world, "later"), queuedId: randomUUID() },
    ]);
    const [, two] = await readHistory(world.database, chatId);
    const edit: Command = { type: "edit-message", messageId: two?.id ?? "", message: said(world, "zwei") };
    const edited = await apply(world, busy, [edit]);
    expect(edited.rows).toMatchObject([
      { role: "user", parts: [{ type: "text", text: "zwei" }], revision: 3 },
    ]);
    expect((await readHistory(world.database, chatId)).map(({ parts }) => parts)).toEqual([
      [{ type: "text", text: "one" }],
      [{ type: "text", text: "zwei" }],
    ]);
    expect(await readChat(world.database, chatId)).toMatchObject({ queue: [], state: edited.state });
    expect(
      await world.run("SELECT is_deleted, revision::int FROM chat_messages WHERE chat_id = $1 ORDER BY id", [
        chatId,
      ]),
    ).toEqual([
      { is_deleted: false, revision: 1 },
      { is_deleted: true, revision: 3 },
      { is_deleted: true, revision: 3 },
      { is_deleted: false, revision: 3 },
    ]);
    await expect(apply(world, edited, [edit])).rejects.toThrow(MessageGone);
    expect((await readChat(world.database, chatId))?.state).toEqual(edited.state);
  });

  test("of another chat's message is refused and changes neither chat", async () => {
    const [mine, other] = [await newChat(world), await newChat(world)];
    const [foreign] = await readHistory(world.database, other.chatId);
    const edit: Command = {
      type: "edit-message",
      messageId: foreign?.id ?? "",
      message: said(world, "stolen"),
    };
    await expect(apply(world, mine, [edit])).rejects.toThrow(MessageGone);
    expect(await readHistory(world.database, other.chatId)).toEqual([foreign]);
    expect((await readChat(world.database, mine.chatId))?.state).toEqual(mine.state);
  });
});

test("rows since a revision leave out deleted messages and those for the model only", async () => {
  const { chatId, state } = await newChat(world);
  const running = await apply(world, { chatId, state }, [acquire]);
  const message = (visibility: MessageDraft["visibility"]): MessageDraft => ({
    role: "assistant",
    visibility,
    parts: [{ type: "text", text: visibility }],
  });
  await apply(world, running, [
    {
      type: "commit-step",
      fence: fence(running.state),
      openCalls: [],
      messages: [message("model"), message("user"), message("both")],
    },
  ]);
  const { fresh, rows } = (await readChatAndRowsFrom(world.database, chatId, 2, 10)) ?? {};
  expect([fresh?.state.snapshotVersion, rows?.map(({ revision }) => revision)]).toEqual([3, [3, 3]]);
  expect(await readChatAndRowsFrom(world.database, randomUUID(), 0, 10)).toBeNull();
  const visibilities = (rows: { visibility: string }[] | null) => rows?.map(({ visibility }) => visibility);
  expect({
    rows: visibilities(await readRowsFrom(world.database, chatId, 2, 10)),
    limited: visibilities(await readRowsFrom(world.database, chatId, 1, 2)),
    history: visibilities(await readHistory(world.database, chatId)),
    versions: await readVersions(world.database, [chatId, randomUUID()]),
  }).toEqual({
    rows: ["user", "both"],
    limited: ["both", "user"],
    history: ["both", "model", "both"],
    versions: new Map([[chatId, 3]]),
  });
});

test("reads of one snapshot see nothing that was committed after the first of them", async () => {
  const { chatId } = await newChat(world);
  const version = async (queryable: Queryable) => (await readVersions(queryable, [chatId])).get(chatId);
  const seen = await world.database.snapshot(async (queryable) => {
    const before = await version(queryable);
    await world.run("UPDATE chats SET snapshot_version = snapshot_version + 1 WHERE id = $1", [chatId]);
    return [before, await version(queryable)];
  });
  expect([...seen, await version(world.database)]).toEqual([1, 1, 2]);
});
