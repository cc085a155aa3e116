// The queue in the database: its order, what promotion carries into history, and requests that are repeated.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readChat } from "../../src/store/chats/chat-source.js";
import { KeyAlreadyUsed, recallRequest, rememberRequest } from "../../src/store/chats/new-chat.js";
import { World } from "../engine/world.js";
import { apply, newChat, NOW, said } from "./chats-fixture.js";

let world: World;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());

describe("the queue", () => {
  test("keeps its order through promotion, and the promoted message enters history unchanged", async () => {
    const { chatId, state } = await newChat(world);
    let current = state;
    const ids = [randomUUID(), randomUUID(), randomUUID()];
    for (const [index, queuedId] of ids.entries()) {
      const message = { ...said(world, `queued ${index}`), reasoningEffort: "low" as const };
      const sent = await apply(world, { chatId, state: current }, [
        { type: "send-message", whenBusy: "queue", message, queuedId },
      ]);
      current = sent.state;
    }
    const [first = "", , third = ""] = ids;
    current = (await apply(world, { chatId, state: current }, [{ type: "promote-queued", queuedId: third }]))
      .state;
    expect((await readChat(world.database, chatId))?.queue.map(({ parts }) => parts[0])).toEqual(
      [2, 0, 1].map((index) => ({ type: "text", text: `queued ${index}` })),
    );
    const stopped = await apply(world, { chatId, state: current }, [{ type: "interrupt" }]);
    expect(stopped.rows).toEqual([
      {
        id: expect.any(String),
        chatId,
        role: "user",
        visibility: "both",
        parts: [{ type: "text", text: "queued 2" }],
        authorId: world.viewer.userId,
        modelConfigId: null,
        reasoningEffort: "low",
        usage: null,
        costMicros: null,
        runtimeMs: null,
        generation: null,
        finishReason: null,
        responseId: null,
        isSummary: false,
        mcpServerIds: [],
        revision: stopped.state.snapshotVersion,
        createdAt: NOW,
      },
    ]);
    const deleted = await apply(world, stopped, [{ type: "delete-queued", queuedId: first }]);
    const chat = await readChat(world.database, chatId);
    expect([chat?.state, chat?.queue.map(({ id }) => id)]).toEqual([deleted.state, [ids[1]]]);
  });

  test("carries the chosen model into the chat, and into the answer of a repeated request", async () => {
    const { chatId, state } = await newChat(world);
    const other = randomUUID();
    await world.run(
      `INSERT INTO model_configs (id, provider_id, model, display_name, context_limit)
        SELECT $1, provider_id, 'other', 'Other', 1000 FROM model_configs WHERE id = $2`,
      [other, world.modelConfigId],
    );
    const queuedId = randomUUID();
    const owner = { userId: world.viewer.userId, key: randomUUID() };
    const sent = await apply(world, { chatId, state }, [
      {
        type: "send-message",
        whenBusy: "queue",
        message: { ...said(world, "x"), modelConfigId: other },
        queuedId,
      },
    ]);
    const version = sent.state.snapshotVersion;
    await rememberRequest(world.database, owner, { chatId, messageId: null, queuedId, version });
    const { rows } = await apply(world, sent, [{ type: "interrupt" }]);
    expect(await world.run("SELECT model_config_id FROM chats WHERE id = $1", [chatId])).toEqual([
      { model_config_id: other },
    ]);
    expect(await recallRequest(world.database, owner)).toEqual({
      chatId,
      messageId: rows?.[0]?.id,
      queuedId,
      version,
    });
  });
});

test("an idempotency key is used once per user", async () => {
  const { chatId } = await newChat(world);
  const owner = { userId: world.viewer.userId, key: randomUUID() };
  const made = { chatId, messageId: "1", queuedId: null, version: 7 };
  expect(await recallRequest(world.database, owner)).toBeNull();
  await rememberRequest(world.database, owner, made);
  await expect(rememberRequest(world.database, owner, { ...made, version: 8 })).rejects.toThrow(
    KeyAlreadyUsed,
  );
  expect(await recallRequest(world.database, owner)).toEqual(made);
});
