// Titles that a model makes: when, by which model, and what of them is kept.
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ScriptStep } from "../../src/demo-model/answer.js";
import type { DemoRequest } from "../../src/demo-model/request.js";
import { readRowsFrom } from "../../src/store/chats/chat-source.js";
import { setSetting } from "../../src/store/common/settings.js";
import { isAtRest, World, type Replica } from "../engine/world.js";

let world: World;
let replica: Replica;
/** A model like a vendor's: not the demo as the server knows it. */
let own: string;
beforeAll(async () => {
  world = await World.open();
  own = await addModel("big-model");
});
afterAll(() => world.close());
beforeEach(async () => {
  await setSmallModel(null);
  world.answer = () => undefined;
  replica = world.replica();
});
afterEach(() => world.closeReplicas());

async function addModel(model: string): Promise<string> {
  const [providerId, configId] = [randomUUID(), randomUUID()];
  await world.run(
    `INSERT INTO model_providers (id, kind, display_name, base_url, allows_private_addresses)
     VALUES ($1, 'anthropic', 'A vendor ' || gen_random_uuid(), $2, true)`,
    [providerId, world.demo.url],
  );
  await world.run(
    `INSERT INTO model_configs (id, provider_id, model, display_name, context_limit) VALUES ($1, $2, $3, $3, 200000)`,
    [configId, providerId, model],
  );
  return configId;
}

function setSmallModel(value: string | null): Promise<void> {
  return setSetting(world.database, { key: "smallModelConfigId", value, updatedBy: null });
}

const isTitleRequest = ({ tools }: DemoRequest) => tools.some(({ name }) => name === "propose_title");

/** What models say when they are asked for a title, by their names. */
function titlesBy(answers: Record<string, ScriptStep>): string[] {
  const asked: string[] = [];
  world.answer = (request) => {
    if (!isTitleRequest(request)) return { text: "Done." };
    asked.push(request.model);
    return answers[request.model];
  };
  return asked;
}

const proposes = (title: string): ScriptStep => ({
  toolCalls: [{ name: "propose_title", arguments: { title } }],
});

/** A chat of one message whose turn has just begun, as a worker tells of it; resolves when the title was dealt with. */
async function beginTurn(
  text: string,
  more: { title?: string; modelConfigId?: string } = {},
): Promise<string> {
  const chatId = await world.createChat(replica, text, { modelConfigId: own, ...more });
  await tellOfTurn(chatId);
  return chatId;
}

async function tellOfTurn(chatId: string): Promise<void> {
  replica.titles.onTurnStart(
    { chatId, ownerId: world.viewer.userId, modelConfigId: own, state: await world.state(chatId) },
    await world.history(chatId),
  );
}

const titleOf = async (chatId: string) => {
  const { title, titleSource } = await world.state(chatId);
  return { title, titleSource };
};

/** The title was made, or will never be: a second one is a chat's only when the first is over. */
async function untilTitled(chatId: string): Promise<void> {
  await world.until(chatId, ({ titleSource }) => titleSource === "model");
}

const billedCalls = (chatId: string) =>
  world.run(
    `SELECT purpose, input_tokens, output_tokens, model_config_id, cost_micros
     FROM model_calls WHERE chat_id = $1 AND message_id IS NULL ORDER BY id`,
    [chatId],
  );

describe("a new chat", () => {
  test("is named by its own model, and its followers, history and bill hear of it as they should", async () => {
    titlesBy({
      "big-model": {
        ...proposes('"Fix the flaky login test."'),
        usage: { inputTokens: 40, outputTokens: 9 },
      },
    });
    const chatId = await beginTurn("Please fix the flaky login test, it fails on Windows only");
    await untilTitled(chatId);
    const state = await world.state(chatId);
    expect([state.title, state.titleVersion, state.historyVersion]).toEqual([
      "Fix the flaky login test",
      2,
      1,
    ]);
    expect(await billedCalls(chatId)).toEqual([
      {
        purpose: "title",
        input_tokens: 40,
        output_tokens: 9,
        model_config_id: own,
        cost_micros: null,
      },
    ]);
    expect((await world.history(chatId)).length).toBe(1);
    expect((await readRowsFrom(world.database, chatId, 0, 10))?.length).toBe(1);
  });

  test("is named while its turn runs, and the turn goes on as if nothing had been", async () => {
    titlesBy({ "big-model": proposes("Fix the login") });
    const chatId = await beginTurn("Please fix the login");
    await replica.worker.start();
    await Promise.all([untilTitled(chatId), world.until(chatId, isAtRest)]);
    expect([await titleOf(chatId), await world.story(chatId)]).toEqual([
      { title: "Fix the login", titleSource: "model" },
      ["user: Please fix the login", "assistant: Done."],
    ]);
  });

  test("is named by the small model where there is one", async () => {
    const small = await addModel("small-model");
    await setSmallModel(small);
    const asked = titlesBy({ "small-model": proposes("Fix the login") });
    const chatId = await beginTurn("Please fix the login");
    await untilTitled(chatId);
    expect([asked, (await billedCalls(chatId)).map((row) => row["model_config_id"])]).toEqual([
      ["small-model"],
      [small],
    ]);
  });

  test.each<[string, ScriptStep]>([
    ["a sentence", proposes("This is a talk about fixing the login page on Windows machines")],
    ["one word", proposes("Login")],
    ["nothing", {}],
    ["an error", { error: { status: 500, message: "Down." } }],
  ])("is named by its own model when the small one gives %s", async (_name, answer) => {
    await setSmallModel(await addModel("small-model"));
    const asked = titlesBy({ "small-model": answer, "big-model": proposes("Fix the login") });
    const chatId = await beginTurn("Please fix the login");
    await untilTitled(chatId);
    expect([asked, (await titleOf(chatId)).title]).toEqual([["small-model", "big-model"], "Fix the login"]);
  });

  test("is named by a model that answers in words instead of through the tool", async () => {
    titlesBy({ "big-model": { text: "**Fix the login**" } });
    const chatId = await beginTurn("Please fix the login");
    await untilTitled(chatId);
    expect((await titleOf(chatId)).title).toBe("Fix the login");
  });

  test("keeps the name that a person gives it meanwhile, even the same one", async () => {
    for (const title of ["Mine", "Please fix the login"]) {
      titlesBy({ "big-model": { ...proposes("Fix the login"), text: ["Hm. ", "Well."], delayMs: 700 } });
      const paused = world.modelClock.nextTimer(700);
      const chatId = await beginTurn("Please fix the login");
      await paused;
      await replica.commands.updateChat(world.viewer, { chatId, title });
      world.modelClock.advance(700);
      await replica.titles.close();
      replica = world.replica();
      expect(await titleOf(chatId)).toEqual({ title, titleSource: "person" });
    }
  });

  test("is not named when somebody has, when the talk has gone on, or by the demo model; and that costs nothing", async () => {
    const asked = titlesBy({});
    const named = await world.createChat(replica, "Hello", { modelConfigId: own, title: "Mine" });
    const talked = await world.createChat(replica, "Hello", { modelConfigId: own });
    await replica.worker.start();
    await world.until(talked, isAtRest);
    await world.send(replica, talked, "More");
    await world.until(talked, isAtRest);
    const chats = await Promise.all(
      [named, talked].map(async (chatId) => ({
        chatId,
        state: await world.state(chatId),
        history: await world.history(chatId),
      })),
    );
    const before = world.database.counters.statements;
    for (const { chatId, state, history } of chats) {
      replica.titles.onTurnStart(
        { chatId, ownerId: world.viewer.userId, modelConfigId: own, state },
        history,
      );
    }
    expect(world.database.counters.statements - before).toBe(0);
    const demo = await beginTurn("Hello there", { modelConfigId: world.modelConfigId });
    await replica.worker.close();
    await replica.titles.close();
    expect([asked, await titleOf(demo)]).toEqual([
      [],
      { title: "Hello there", titleSource: "first_message" },
    ]);
  });

  test("keeps its first words when the model is too slow, and closing does not wait for one", async () => {
    titlesBy({ "big-model": { hang: "before-events" } });
    const timedOut = replica.clock.nextTimer(30_000);
    const slow = await beginTurn("Please fix the login");
    await timedOut;
    replica.clock.advance(30_000);
    await replica.titles.close();
    replica = world.replica();
    const closed = await beginTurn("Please fix it");
    await replica.titles.close();
    expect([await titleOf(slow), await titleOf(closed)]).toEqual([
      { title: "Please fix the login", titleSource: "first_message" },
      { title: "Please fix it", titleSource: "first_message" },
    ]);
  });

  test("keeps its first words when too many titles are being made", async () => {
    let asked = 0;
    const full = new Promise<void>((resolve) => {
      world.answer = () => {
        asked += 1;
        if (asked === 8) resolve();
        return { hang: "before-events" };
      };
    });
    for (let place = 0; place < 10; place += 1) await beginTurn(`Please fix ${place}`);
    await full;
    const chatId = await world.createChat(replica, "Hello", { modelConfigId: own });
    const refused = await replica.commands.regenerateChatTitle(world.viewer, chatId);
    await replica.titles.close();
    expect([asked, refused]).toMatchObject([8, { ok: false, refusal: { code: "LIMIT_EXCEEDED" } }]);
  });
});

describe("a title that a person asks for", () => {
  const regenerate = (chatId: string) => replica.commands.regenerateChatTitle(world.viewer, chatId);

  test("is made from the whole talk, also of an archived chat and by the demo model", async () => {
    const requests: DemoRequest[] = [];
    world.answer = (request) => {
      if (!isTitleRequest(request)) return { text: `Answer to ${request.turns.length}` };
      requests.push(request);
      return undefined;
    };
    await replica.worker.start();
    const chatId = await world.createChat(replica, "repair the login page", { title: "Mine" });
    await world.until(chatId, isAtRest);
    await world.send(replica, chatId, "and the logout");
    await world.until(chatId, isAtRest);
    await replica.commands.archiveChat(world.viewer, chatId);
    expect(await regenerate(chatId)).toMatchObject({ ok: true, chatId });
    expect(await titleOf(chatId)).toEqual({ title: "Repair the login page", titleSource: "model" });
    expect(requests[0]?.turns).toEqual([
      {
        role: "user",
        text:
          "Name this conversation:\n\n<conversation>\n[user]: repair the login page\n[assistant]: Answer to 1\n" +
          "[user]: and the logout\n[assistant]: Answer to 3\n</conversation>\n\nThe user's latest message:\n\n" +
          "<latest>\nand the logout\n</latest>",
      },
    ]);
    expect((await billedCalls(chatId)).length).toBe(1);
  });

  test("is given even when it is a longish one, but not when it is none; both are billed", async () => {
    titlesBy({
      "big-model": proposes("A title of many more words than anybody would want to read in a list"),
    });
    const chatId = await world.createChat(replica, "Hello", { modelConfigId: own });
    expect(await regenerate(chatId)).toMatchObject({ ok: true });
    titlesBy({ "big-model": proposes(' "." ') });
    expect(await regenerate(chatId)).toEqual({
      ok: false,
      refusal: { code: "UNAVAILABLE", what: "model", message: "The model did not propose a title." },
    });
    expect([(await titleOf(chatId)).title, (await billedCalls(chatId)).length]).toEqual([
      "A title of many more words than anybody would want to read in a list",
      2,
    ]);
  });

  test("is refused while another one is made, in the vendor's words when it fails, and when nothing was said", async () => {
    titlesBy({ "big-model": { hang: "before-events" } });
    const chatId = await beginTurn("Hello there");
    expect(await regenerate(chatId)).toMatchObject({ ok: false, refusal: { code: "CONFLICT" } });
    await replica.titles.close();
    replica = world.replica();
    titlesBy({ "big-model": { error: { status: 401, message: "No." } } });
    expect(await regenerate(chatId)).toEqual({
      ok: false,
      refusal: {
        code: "UNAVAILABLE",
        what: "model",
        message: expect.stringContaining("A vendor") as unknown,
      },
    });
    await world.run("UPDATE chat_messages SET is_deleted = true WHERE chat_id = $1", [chatId]);
    expect(await regenerate(chatId)).toMatchObject({ ok: false, refusal: { code: "INVALID" } });
    expect(await regenerate(randomUUID())).toMatchObject({ ok: false, refusal: { code: "NOT_FOUND" } });
  });

  test("leaves the name alone that somebody else gave meanwhile", async () => {
    titlesBy({ "big-model": { ...proposes("Fix the login"), text: ["Hm. ", "Well."], delayMs: 900 } });
    const paused = world.modelClock.nextTimer(900);
    const chatId = await world.createChat(replica, "Hello", { modelConfigId: own });
    const asked = regenerate(chatId);
    await paused;
    await replica.commands.updateChat(world.viewer, { chatId, title: "Mine" });
    world.modelClock.advance(900);
    expect([await asked, await titleOf(chatId)]).toEqual([
      { ok: true, chatId, version: 2 },
      { title: "Mine", titleSource: "person" },
    ]);
  });

  test("of a long chat is made from its two ends", async () => {
    const chatId = await world.createChat(replica, "The beginning", { modelConfigId: own });
    await world.run(
      `INSERT INTO chat_messages (chat_id, role, visibility, content_version, content, revision)
       SELECT $1, CASE place % 2 WHEN 0 THEN 'user' ELSE 'assistant' END::message_role, 'both', 1,
         jsonb_build_array(jsonb_build_object('type', 'text', 'text', 'turn ' || place)), 1
       FROM generate_series(1, 300) AS place`,
      [chatId],
    );
    let asked = "";
    world.answer = (request) => {
      asked = JSON.stringify(request.turns);
      return proposes("A long talk");
    };
    expect(await regenerate(chatId)).toMatchObject({ ok: true });
    expect(asked).toContain(
      "[user]: The beginning\\n[more than 96 earlier turns omitted]\\n[user]: turn 298\\n[assistant]: turn 299\\n[user]: turn 300",
    );
  });
});
