import { afterAll, beforeAll, expect, test } from "vitest";
import { type GatedModel, startGatedModel } from "../../support/models/gated-model.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";
import { textOf } from "../../support/clients/transcript.js";

let environment: TestEnvironment;
let model: GatedModel;
let parley: TestParley;
beforeAll(async () => {
  environment = await createTestEnvironment();
  model = await startGatedModel();
  parley = await environment.start(model.settings);
});
afterAll(async () => {
  await environment.remove();
  await model.close();
});

const PARTS = [{ text: { text: "hello" } }];

async function chatCount(): Promise<number> {
  const query = "{ chats(first: 100) { nodes { id } } }";
  return (await parley.api.get<{ chats: { nodes: unknown[] } }>(query)).chats.nodes.length;
}

test("a repeated createChat returns the first chat, even if all arrive at once", async () => {
  const before = await chatCount();
  const input = { parts: PARTS, idempotencyKey: "create" };
  const create = () => parley.api.change("createChat", input, "chat { id }");
  const payloads = await Promise.all(Array.from({ length: 12 }, create));
  payloads.push(await create());
  expect(new Set(payloads.map(({ chat }) => chat?.id)).size).toBe(1);
  expect({
    errors: payloads.flatMap(({ userErrors }) => userErrors),
    made: (await chatCount()) - before,
  }).toEqual({
    errors: [],
    made: 1,
  });
});

test("another user's key is another key", async () => {
  const [one, two] = [await parley.addUser("anna"), await parley.addUser("bert")];
  const ids = [
    await one.createChat("hi", { idempotencyKey: "k" }),
    await two.createChat("hi", { idempotencyKey: "k" }),
  ];
  expect(new Set(ids).size).toBe(2);
});

test("parallel sends with one key create one message", async () => {
  const { chatId, follower } = await parley.api.quietChat();
  const send = () => parley.api.send(chatId, "[[demo: deltas=2]]", { idempotencyKey: "send" });
  const payloads = await Promise.all(Array.from({ length: 12 }, send));
  payloads.push(await send());
  expect(payloads).toEqual(
    payloads.map(() => ({ ...payloads[0], chat: { id: chatId, status: expect.any(String) } })),
  );
  expect(payloads[0]).toMatchObject({ message: { id: expect.any(String) }, userErrors: [] });
  model.clock.let(1);
  await follower.until(({ log }) => log.at(-1) === "status WAITING");
  expect(follower.transcript.messages.map(textOf).slice(2)).toEqual(["[[demo: deltas=2]]", "word1 word2 "]);
  await follower.close();
});

test("a repeated send returns the queued message, and the message once it was sent", async () => {
  const { chatId, follower } = await parley.api.quietChat();
  await parley.api.send(chatId, "[[demo: deltas=3 delay=1]]");
  await follower.until(({ preview }) => preview !== null);
  const send = () => parley.api.send(chatId, "[[demo: deltas=1]]", { idempotencyKey: "queued" });
  const first = await send();
  expect([first, await send()]).toMatchObject([
    { message: null, queuedMessage: { id: expect.any(String) } },
    { message: null, queuedMessage: first.queuedMessage },
  ]);
  model.clock.let(2);
  await follower.until(({ log, queue }) => queue.length === 0 && log.at(-1) === "status WAITING");
  const sentMessage = follower.transcript.messages.findLast(({ role }) => role === "USER");
  expect(await send()).toMatchObject({
    message: { id: sentMessage?.id },
    queuedMessage: null,
    userErrors: [],
  });
  expect(follower.transcript.messages.length).toBe(6);
  await follower.close();
});

test("a key that was used for another mutation is refused", async () => {
  const chatId = await parley.api.createChat("hello", { idempotencyKey: "mixed" });
  const otherId = await parley.api.createChat("hello");
  const refused = {
    userErrors: [{ __typename: "Conflict", code: "CONFLICT", path: ["idempotencyKey"] }],
  };
  expect(await parley.api.send(chatId, "hi", { idempotencyKey: "mixed" })).toMatchObject(refused);
  expect((await parley.api.send(chatId, "hi", { idempotencyKey: "sent" })).userErrors).toEqual([]);
  expect(await parley.api.send(otherId, "hi", { idempotencyKey: "sent" })).toMatchObject(refused);
  const create = { parts: PARTS, idempotencyKey: "sent" };
  expect(await parley.api.change("createChat", create, "chat { id }")).toMatchObject(refused);
});
