import { afterEach, beforeEach, expect, test } from "vitest";
import { type GatedModel, startGatedModel } from "../../support/models/gated-model.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";
import { textOf } from "../../support/clients/transcript.js";

let environment: TestEnvironment;
let model: GatedModel;
let parley: TestParley;
beforeEach(async () => {
  environment = await createTestEnvironment();
  model = await startGatedModel((request) => {
    const last = request.turns.findLast(({ role }) => role === "user");
    const lastText = last?.role === "user" ? last.text : "";
    // The first turn runs until the test releases it; all others finish at once.
    return lastText === "begin"
      ? { text: ["Working", " on", " it"], delayMs: 1 }
      : { text: `Answer to ${lastText.slice(0, 20)}` };
  });
  parley = await environment.start(model.settings);
});
afterEach(async () => {
  await environment.remove();
  await model.close();
});

async function busyChat() {
  const chatId = await parley.api.createChat("begin");
  const follower = parley.api.follow(chatId);
  await follower.until(({ preview }) => preview !== null);
  return { chatId, follower, transcript: follower.transcript };
}

function texts(follower: Awaited<ReturnType<typeof busyChat>>["follower"]): string[] {
  return follower.transcript.messages.map(textOf);
}

test("messages sent to a busy chat are queued and sent one after the other", async () => {
  const { chatId, follower, transcript } = await busyChat();
  const one = await parley.api.send(chatId, "one");
  const two = await parley.api.send(chatId, "two");
  expect([one, two]).toMatchObject([
    { message: null, queuedMessage: {}, userErrors: [] },
    { message: null, queuedMessage: {}, userErrors: [] },
  ]);
  await follower.until(({ queue }) => queue.length === 2);
  expect(transcript.queue).toEqual(["one", "two"]);
  model.clock.open();
  await follower.until(({ messages, status }) => messages.length === 6 && status === "WAITING");
  expect({ texts: texts(follower), queue: transcript.queue, breaches: transcript.breaches }).toEqual({
    texts: ["begin", "Working on it", "one", "Answer to one", "two", "Answer to two"],
    queue: [],
    breaches: [],
  });
  expect(transcript.messages).toEqual((await parley.api.chat(chatId))?.messages.nodes);
  await follower.close();
});

test("a promoted message interrupts the turn and is sent first, a deleted one never", async () => {
  const { chatId, follower, transcript } = await busyChat();
  const ids: string[] = [];
  for (const text of ["one", "two", "three"]) {
    ids.push((await parley.api.send(chatId, text)).queuedMessage?.id ?? "");
  }
  const gone = await parley.api.change(
    "deleteQueuedMessage",
    { queuedMessageId: ids[0] },
    "deletedId chat { queuedMessages { id } }",
  );
  expect(gone).toEqual({
    deletedId: ids[0],
    chat: { queuedMessages: [{ id: ids[1] }, { id: ids[2] }] },
    userErrors: [],
  });
  await parley.api.change("promoteQueuedMessage", { queuedMessageId: ids[2] }, "chat { id }");
  await follower.until(({ messages, status }) => messages.length === 6 && status === "WAITING");
  expect({ texts: texts(follower), breaches: transcript.breaches }).toEqual({
    texts: ["begin", "Working", "three", "Answer to three", "two", "Answer to two"],
    breaches: [],
  });
  await follower.close();
});

test("the queue accepts 50 messages and refuses the next, even when they arrive all at once", async () => {
  const { chatId, follower } = await busyChat();
  const sent = await Promise.all(
    Array.from({ length: 60 }, (_, index) => parley.api.send(chatId, `message ${index}`)),
  );
  const refusals = sent.flatMap(({ userErrors }) => userErrors);
  await follower.until(({ queue }) => queue.length === 50);
  expect({ queued: sent.filter(({ queuedMessage }) => queuedMessage !== null).length, refusals }).toEqual({
    queued: 50,
    refusals: Array.from({ length: 10 }, () => ({
      __typename: "Conflict",
      code: "LIMIT_EXCEEDED",
      message: "The queue is full: at most 50 messages can wait.",
      path: null,
      currentStatus: "RUNNING",
    })),
  });
  expect((await parley.api.chat(chatId))?.queuedMessages.length).toBe(50);
  model.clock.open();
  await follower.until(({ messages, status }) => messages.length === 102 && status === "WAITING");
  const all = texts(follower).slice(2);
  const asked = all.filter((_, index) => index % 2 === 0);
  expect(all).toEqual(asked.flatMap((text) => [text, `Answer to ${text}`]));
  expect(new Set(asked).size).toBe(50);
  await follower.close();
});

test("a long queued message is previewed in lists, complete for editing, and sent completely", async () => {
  const { chatId, follower } = await busyChat();
  const long = `begins ${"€".repeat(30_000)} ends`;
  const { queuedMessage } = await parley.api.send(chatId, long);
  await parley.api.send(chatId, "short");
  const preview = `begins ${"€".repeat(680)}`;
  await follower.until(({ queue }) => queue.length === 2);
  expect(follower.transcript.queue).toEqual([preview, "short"]);
  const fields = "id isTruncated parts { ... on TextPart { text } } fullParts { ... on TextPart { text } }";
  const asked = await parley.api.ask<{ chat: unknown; node: unknown }>(
    `query ($chatId: ID!, $id: ID!) {
      chat(id: $chatId) { queuedMessages { isTruncated parts { ... on TextPart { text } } } }
      node(id: $id) { ... on QueuedMessage { ${fields} } }
    }`,
    { chatId, id: queuedMessage?.id },
  );
  expect(asked.data).toEqual({
    chat: {
      queuedMessages: [
        { isTruncated: true, parts: [{ text: preview }] },
        { isTruncated: false, parts: [{ text: "short" }] },
      ],
    },
    node: {
      id: queuedMessage?.id,
      isTruncated: true,
      parts: [{ text: preview }],
      fullParts: [{ text: long }],
    },
  });
  model.clock.open();
  await follower.until(({ messages, status }) => messages.length === 6 && status === "WAITING");
  expect(texts(follower)[2]).toBe(long);
  await follower.close();
});
