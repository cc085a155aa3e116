// The MCP servers of a message: what was selected when it entered history, whatever way it came.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ChatState } from "../../src/domain/chats/chat-state.js";
import type { Command } from "../../src/domain/chats/transition.js";
import { updateMetadata } from "../../src/store/chats/chat-metadata.js";
import { readHistory } from "../../src/store/chats/chat-source.js";
import { findChat } from "../../src/store/chats/chats.js";
import { World } from "../engine/world.js";
import { apply, newChat, said, type Path } from "./chats-fixture.js";

let world: World;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());

const workerId = randomUUID();
const runnerId = randomUUID();
const fence = ({ historyVersion }: ChatState) => ({ runnerId, historyVersion });
const acquire: Command = { type: "acquire", workerId, runnerId, isLeaseDead: false };
const [A, B, C] = [randomUUID(), randomUUID(), randomUUID()];

function send(text: string, mcpServerIds: string[] | null): Command {
  const message = { ...said(world, text), mcpServerIds };
  return { type: "send-message", whenBusy: "queue", message, queuedId: randomUUID() };
}

async function selections(chatId: string) {
  const history = await readHistory(world.database, chatId);
  const chat = await findChat(world.database, world.viewer, chatId);
  return { messages: history.map(({ mcpServerIds }) => mcpServerIds), chat: chat?.mcpServerIds };
}

const rest = (state: ChatState): Command[] => [{ type: "finish-turn", fence: fence(state) }];
const answer = (state: ChatState): Command[] => [
  {
    type: "commit-step",
    fence: fence(state),
    openCalls: [],
    messages: [{ role: "assistant", visibility: "both", parts: [] }],
  },
];

test.each<Path>(["one statement", "locked"])("sent to an idle chat, in %s", async (path) => {
  let chat: { chatId: string; state: ChatState } = await newChat(world);
  const { chatId } = chat;
  chat = await apply(world, chat, [acquire], path);
  chat = await apply(world, chat, [...answer(chat.state), ...rest(chat.state)], path);
  chat = await apply(world, chat, [send("with its own", [A, B])], path);
  chat = await apply(world, chat, [acquire], path);
  chat = await apply(world, chat, rest(chat.state), path);
  chat = await apply(world, chat, [send("with the chat's", null)], path);
  expect(await selections(chatId)).toEqual({ messages: [[], null, [A, B], [A, B]], chat: [A, B] });
});

test("a queued message keeps its own selection, and the chat takes it over when it is sent", async () => {
  let chat: { chatId: string; state: ChatState } = await newChat(world);
  const { chatId } = chat;
  chat = await apply(world, chat, [acquire]);
  chat = await apply(world, chat, [send("first", [A])]);
  chat = await apply(world, chat, [send("second", null)]);
  chat = await apply(world, chat, [send("third", [])]);
  expect(await selections(chatId)).toEqual({ messages: [[]], chat: [] });
  const metadata = { labels: undefined, modelConfigId: undefined, mcpServerIds: [C] };
  await updateMetadata(world.database, chatId, metadata);
  for (let turns = 0; turns < 3; turns += 1) {
    chat = await apply(world, chat, rest(chat.state));
    if (chat.state.status === "pending") chat = await apply(world, chat, [acquire]);
  }
  expect(await selections(chatId)).toEqual({ messages: [[], [A], [A], []], chat: [] });
});

test("an edited message has the present selection, not that of the old message", async () => {
  const chat = await newChat(world);
  await updateMetadata(world.database, chat.chatId, {
    labels: undefined,
    modelConfigId: undefined,
    mcpServerIds: [C],
  });
  const [old] = await readHistory(world.database, chat.chatId);
  const edit: Command = { type: "edit-message", messageId: old?.id ?? "", message: said(world, "else") };
  await apply(world, chat, [edit]);
  expect(await selections(chat.chatId)).toEqual({ messages: [[C]], chat: [C] });
});
