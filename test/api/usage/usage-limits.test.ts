// Spending limits through the public API: who sets them, who sees them, and what they stop.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encodeId } from "../../../src/domain/common/ids.js";
import type { ModelPricing } from "../../../src/domain/usage/money.js";
import { findDefaultModelConfig, setModelPricing } from "../../../src/store/models/models.js";
import type { ApiClient } from "../../support/clients/api-client.js";
import type { UserError } from "../../support/clients/api-shapes.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";
import { hasRedis, startRedis, type TestRedis } from "../../support/network/redis.js";

let environment: TestEnvironment;
let server: TestParley;
/** Costs ten dollars per million output tokens. */
let model: string;
let unpriced: string;
beforeAll(async () => {
  environment = await createTestEnvironment();
  server = await environment.start();
  model = await newModel({ input: "0", output: "10" });
  unpriced = await newModel(null);
});
afterAll(() => environment.remove());

async function newModel(pricing: Pick<ModelPricing, "input" | "output"> | null): Promise<string> {
  const { database } = server.parley;
  const id = randomUUID();
  const config = await findDefaultModelConfig(database);
  await environment.database.dataSource.query(
    `INSERT INTO model_configs (id, provider_id, model, display_name, context_limit) VALUES ($1, $2, 'demo', 'Demo ' || gen_random_uuid(), 200000)`,
    [id, config?.providerId],
  );
  await setModelPricing(database, id, pricing && { ...pricing, cacheRead: null, cacheWrite: null });
  return encodeId("model", id);
}

const POLICY = "isEnabled period defaultLimitMicros";
const STATUS = "source period limitMicros spentMicros remainingMicros periodStart periodEnd";
const EXCEEDED = `userErrors { __typename code message path
  ... on UsageLimitExceeded { spentMicros limitMicros resetsAt } }`;

type Status = {
  source: string;
  limitMicros: string | null;
  spentMicros: string;
  remainingMicros: string | null;
  periodStart: string;
  periodEnd: string;
};
type Changed = { userErrors: UserError[]; [field: string]: unknown };

const setPolicy = (input: object, fields = "policy { __typename }") =>
  server.api.change<Changed>("updateUsageLimitPolicy", input, fields);
const setLimit = (userId: string, limitMicros: unknown, fields = "override { __typename }") =>
  server.api.change<Changed>("setUserUsageLimit", { userId, limitMicros }, fields);

async function idOf(api: ApiClient): Promise<string> {
  return (await api.get<{ viewer: { user: { id: string } } }>("{ viewer { user { id } } }")).viewer.user.id;
}

async function statusOf(api: ApiClient): Promise<Status> {
  const { viewer } = await api.get<{ viewer: { usageLimit: Status } }>(
    `{ viewer { usageLimit { ${STATUS} } } }`,
  );
  return viewer.usageLimit;
}

/** A message whose model call costs this amount. Has one (free) input token, since all zeros count as no report. */
const words = (micros: number) => `[[demo: deltas=1 usage=1,${micros / 10}]]`;

/** An idle chat whose only model call cost this amount. */
async function chatThatCost(api: ApiClient, micros: number, idempotencyKey: string): Promise<string> {
  const chatId = await api.createChat(words(micros), { modelConfigId: model, idempotencyKey });
  await rest(api, chatId);
  return chatId;
}

async function rest(api: ApiClient, chatId: string): Promise<string> {
  const follower = api.follow(chatId);
  await follower.untilStatus("WAITING", "ERROR");
  const { status } = follower.transcript;
  await follower.close();
  return status ?? "";
}

describe("setting limits", () => {
  test("absent fields are unchanged, and null removes the limit", async () => {
    const of = (input: object) => setPolicy(input, `policy { ${POLICY} }`);
    const answers = [
      await of({ isEnabled: false, period: "WEEK", defaultLimitMicros: "7000000" }),
      await of({ period: "DAY" }),
      await of({ defaultLimitMicros: null, isEnabled: null, period: null }),
      await of({ period: "MONTH" }),
    ];
    expect(answers.map(({ policy }) => policy)).toEqual([
      { isEnabled: false, period: "WEEK", defaultLimitMicros: "7000000" },
      { isEnabled: false, period: "DAY", defaultLimitMicros: "7000000" },
      { isEnabled: false, period: "DAY", defaultLimitMicros: null },
      { isEnabled: false, period: "MONTH", defaultLimitMicros: null },
    ]);
    expect(await server.api.get(`{ usageLimitPolicy { ${POLICY} } }`)).toEqual({
      usageLimitPolicy: answers.at(-1)?.policy,
    });
  });

  test("a negative limit and an unknown user are refused with the field's name", async () => {
    const userId = await idOf(await server.addUser("refused"));
    const unknownUser = encodeId("user", randomUUID());
    const answers = await Promise.all([
      setPolicy({ defaultLimitMicros: "-1" }),
      setLimit(userId, "-1"),
      setLimit(unknownUser, "1"),
      server.api.change<Changed>("clearUserUsageLimit", { userId: unknownUser }, "user { id }"),
    ]);
    expect(answers.map(({ userErrors }) => userErrors.map(({ code, path }) => [code, path]))).toEqual([
      [["INVALID", ["defaultLimitMicros"]]],
      [["INVALID", ["limitMicros"]]],
      [["NOT_FOUND", ["userId"]]],
      [["NOT_FOUND", ["userId"]]],
    ]);
    await expect(setLimit(model, "1")).rejects.toThrow("BAD_USER_INPUT");
    await expect(setLimit(userId, "9223372036854775808")).rejects.toThrow("BAD_USER_INPUT");
    expect((await setLimit(userId, "9223372036854775807")).userErrors).toEqual([]);
  });

  test("users with a limit of their own are listed by name, in pages, and removed from the list", async () => {
    await environment.database.dataSource.query("DELETE FROM usage_limit_overrides");
    const ids: string[] = [];
    for (const name of ["limit-c", "limit-a", "limit-b"]) {
      const id = await idOf(await server.addUser(name));
      await setLimit(id, "1000000");
      ids.push(id);
    }
    type Page = {
      nodes: { user: { username: string } }[];
      pageInfo: { endCursor: string; hasNextPage: boolean };
    };
    const page = async (rest: string) => {
      const fields = "nodes { limitMicros updatedAt user { username } } pageInfo { endCursor hasNextPage }";
      const query = `{ usageLimitPolicy { overrides(${rest}) { ${fields} } } }`;
      return (await server.api.get<{ usageLimitPolicy: { overrides: Page } }>(query)).usageLimitPolicy
        .overrides;
    };
    const first = await page("first: 2");
    const second = await page(`first: 2, after: "${first.pageInfo.endCursor}"`);
    const names = ({ nodes }: Page) => nodes.map(({ user }) => user.username);
    expect([names(first), first.pageInfo.hasNextPage, names(second), second.pageInfo.hasNextPage]).toEqual([
      ["limit-a", "limit-b"],
      true,
      ["limit-c"],
      false,
    ]);
    for (const userId of [...ids, ids[0]]) {
      const cleared = await server.api.change<Changed>("clearUserUsageLimit", { userId }, "user { id }");
      expect(cleared).toEqual({ user: { id: userId }, userErrors: [] });
    }
    expect(names(await page("first: 5"))).toEqual([]);
  });

  test("unpriced models in use are listed", async () => {
    const query = "{ usageLimitPolicy { unpricedModels { id } } }";
    type Answer = { usageLimitPolicy: { unpricedModels: { id: string }[] } };
    const { usageLimitPolicy } = await server.api.get<Answer>(query);
    expect(usageLimitPolicy.unpricedModels).toEqual([{ id: unpriced }]);
  });

  test("members see their own status, and nothing about other users' limits", async () => {
    const member = await server.addUser("onlooker");
    const userId = await idOf(member);
    const asks = [
      `{ usageLimitPolicy { ${POLICY} unpricedModels { id } overrides { nodes { limitMicros } } } }`,
      `mutation { updateUsageLimitPolicy(input: { isEnabled: true }) { policy { isEnabled } } }`,
      `mutation { setUserUsageLimit(input: { userId: "${userId}", limitMicros: "1" }) { override { limitMicros } } }`,
      `mutation { clearUserUsageLimit(input: { userId: "${userId}" }) { user { id } } }`,
    ];
    const answers = await Promise.all(asks.map((query) => member.ask(query)));
    expect(answers.map(({ data, errors }) => [data, errors[0]?.extensions.code])).toEqual(
      asks.map(() => [null, "FORBIDDEN"]),
    );
    expect(await statusOf(member)).toMatchObject({
      source: "NONE",
      limitMicros: null,
      remainingMicros: null,
    });
  });
});

describe("a user who has reached their spending limit", () => {
  let spender: ApiClient;
  let chatId: string;
  let messageId: string;
  let queuedId: string;
  beforeAll(async () => {
    await setPolicy({ isEnabled: true, period: "MONTH", defaultLimitMicros: "20000000" });
    spender = await server.addUser("spender");
    chatId = await chatThatCost(spender, 300_000, "first");
    // A message queued behind an error, and one to be edited.
    const chat = await spender.chat(chatId);
    messageId = chat?.messages.nodes[0]?.id ?? "";
    await spender.send(chatId, "[[demo: hang]]");
    const { queuedMessage } = await spender.send(chatId, "later");
    queuedId = queuedMessage?.id ?? "";
    await spender.change("archiveChat", { chatId }, "chat { id }");
    await rest(spender, chatId);
    await spender.change("unarchiveChat", { chatId }, "chat { id }");
    await setLimit(await idOf(spender), "300000");
  });
  afterAll(() => setPolicy({ isEnabled: false }));

  const parts = [{ text: { text: "More" } }];
  const COMMANDS: [string, () => object][] = [
    ["createChat", () => ({ parts, idempotencyKey: "one" })],
    ["sendChatMessage", () => ({ chatId, parts, idempotencyKey: "two" })],
    ["editChatMessage", () => ({ messageId, parts })],
    ["promoteQueuedMessage", () => ({ queuedMessageId: queuedId })],
    ["retryChat", () => ({ chatId })],
    ["compactChat", () => ({ chatId })],
    ["regenerateChatTitle", () => ({ chatId })],
  ];

  test.each(COMMANDS)("is refused by %s, and nothing has changed", async (name, input) => {
    const chats = "SELECT count(*)::int AS n FROM chats";
    const before = [await spender.chat(chatId), await environment.database.dataSource.query(chats)];
    const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input!`;
    const query = `mutation ($input: ${type}) { result: ${name}(input: $input) { chat { id } ${EXCEEDED} } }`;
    const { periodEnd } = await statusOf(spender);
    expect((await spender.get<{ result: object }>(query, { input: input() })).result).toEqual({
      chat: null,
      userErrors: [
        {
          __typename: "UsageLimitExceeded",
          code: "LIMIT_EXCEEDED",
          message: `The usage limit of $0.30 per month is reached: $0.30 are spent. It resets at ${periodEnd}.`,
          path: null,
          spentMicros: "300000",
          limitMicros: "300000",
          resetsAt: periodEnd,
        },
      ],
    });
    expect([await spender.chat(chatId), await environment.database.dataSource.query(chats)]).toEqual(before);
  });

  test("gets the first result of a repeated request, as nothing is done again", async () => {
    const input = {
      parts: [{ text: { text: words(300_000) } }],
      modelConfigId: model,
      idempotencyKey: "first",
    };
    expect(await spender.change("createChat", input, "chat { id }")).toEqual({
      chat: { id: chatId },
      userErrors: [],
    });
  });

  test("is also refused messages sent by an admin, as the chat's owner pays", async () => {
    const { userErrors } = await server.api.send(chatId, "Go on");
    expect(userErrors).toMatchObject([{ __typename: "UsageLimitExceeded" }]);
  });

  test("may read, rename, clear and archive", async () => {
    const free: [string, object][] = [
      ["updateChat", { chatId, title: "Dear" }],
      ["deleteQueuedMessage", { queuedMessageId: queuedId }],
      ["clearChatContext", { chatId }],
      ["archiveChat", { chatId }],
      ["unarchiveChat", { chatId }],
    ];
    for (const [name, input] of free) {
      expect((await spender.change(name, input, "chat { id }")).userErrors).toEqual([]);
    }
  });

  test("sees it, and can continue with a higher limit, even with a refused request", async () => {
    const userId = await idOf(spender);
    expect(await statusOf(spender)).toMatchObject({
      ...{ source: "USER", limitMicros: "300000", spentMicros: "300000", remainingMicros: "0" },
    });
    await setLimit(userId, "300001");
    const sent = await spender.send(chatId, words(50_000), { idempotencyKey: "two", modelConfigId: model });
    expect([sent.userErrors, await rest(spender, chatId)]).toEqual([[], "WAITING"]);
    await server.api.change("clearUserUsageLimit", { userId }, "user { id }");
    expect(await statusOf(spender)).toMatchObject({
      ...{
        source: "DEPLOYMENT",
        limitMicros: "20000000",
        spentMicros: "350000",
        remainingMicros: "19650000",
      },
    });
  });

  test("spends no more during a turn, and keeps its results", async () => {
    const worker = await server.addUser("worker");
    await setLimit(await idOf(worker), "1000");
    const { parley, workspaceId } = server;
    await parley.database.dataSource.query("UPDATE workspaces SET owner_id = $1", [
      (await idOf(worker)).slice("user_".length),
    ]);
    const text = "run `echo one`, then run `echo two` [[demo: usage=0,60]]";
    const turn = await worker.createChat(text, { modelConfigId: model, workspaceId });
    expect(await rest(worker, turn)).toBe("ERROR");
    const chat = await worker.chat(turn);
    expect([chat?.lastError?.kind, chat?.messages.nodes.map(({ role }) => role)]).toEqual([
      "USAGE_LIMIT",
      ["USER", "ASSISTANT", "TOOL", "ASSISTANT", "TOOL"],
    ]);
    expect(await statusOf(worker)).toMatchObject({ spentMicros: "1200", remainingMicros: "0" });
  });
});

describe.skipIf(!hasRedis)("on two servers", () => {
  let redis: TestRedis;
  let shared: TestEnvironment;
  let servers: [TestParley, TestParley];
  beforeAll(async () => {
    [redis, shared] = await Promise.all([startRedis(), createTestEnvironment()]);
    servers = [await shared.start({ REDIS_URL: redis.url }), await shared.start({ REDIS_URL: redis.url })];
    await shared.database.dataSource.query("UPDATE model_configs SET price_input = 0, price_output = 10");
  });
  afterAll(async () => {
    await shared.remove();
    await redis.stop();
  });

  test("ten parallel turns exceed the limit by one call at most, and a higher limit applies everywhere at once", async () => {
    const [one, other] = servers;
    const cost = 100_000;
    const limit = 250_000;
    // Lets both servers cache that there are no limits.
    const first = await one.api.createChat(words(0));
    const second = await other.api.createChat(words(0));
    await Promise.all([rest(one.api, first), rest(other.api, second)]);
    const set = (policy: object) => one.api.change("updateUsageLimitPolicy", policy, "policy { isEnabled }");
    await set({ isEnabled: true, defaultLimitMicros: "0" });
    // As soon as the other server has been notified.
    const refusal = async () => (await other.api.send(second, words(0))).userErrors[0]?.__typename;
    await expect.poll(refusal).toBe("UsageLimitExceeded");
    await Promise.all([rest(one.api, first), rest(other.api, second)]);
    await set({ defaultLimitMicros: String(limit) });
    const chats = await Promise.all(
      Array.from({ length: 10 }, async (_, index) => {
        const { api } = servers[index % 2] ?? one;
        return {
          api,
          chatId: await api.createChat(`[[demo: deltas=3 delay=5 usage=0,${cost / 10}]] ${index}`),
        };
      }),
    );
    const ends = await Promise.all(chats.map(({ api, chatId }) => rest(api, chatId)));
    const spent = Number((await statusOf(one.api)).spentMicros);
    expect(spent).toBe(ends.filter((status) => status === "WAITING").length * cost);
    expect([spent >= limit, spent < limit + cost]).toEqual([true, true]);
    const reservations = "SELECT count(*)::int AS n FROM usage_holds";
    await expect.poll(() => shared.database.dataSource.query(reservations)).toEqual([{ n: 0 }]);
    const stopped = chats[ends.indexOf("ERROR")] ?? { api: one.api, chatId: "" };
    await set({ defaultLimitMicros: "9000000" });
    for (const { api } of servers) expect((await api.send(stopped.chatId, words(10))).userErrors).toEqual([]);
    expect(await rest(stopped.api, stopped.chatId)).toBe("WAITING");
  });
});
