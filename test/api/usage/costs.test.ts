// Costs through the API, exact to the microdollar.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { encodeId } from "../../../src/domain/common/ids.js";
import type { ModelPricing } from "../../../src/domain/usage/money.js";
import { findDefaultModelConfig, setModelPricing } from "../../../src/store/models/models.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";

let environment: TestEnvironment;
let server: TestParley;
beforeAll(async () => {
  environment = await createTestEnvironment();
  server = await environment.start();
});
afterAll(() => environment.remove());

const RANGE = `range: { from: "2026-01-01T00:00:00Z", to: "2999-01-01T00:00:00Z" }`;
const COST = `totalMicros pricedMessageCount unpricedMessageCount tokens { input output cacheRead cacheWrite }
  byModel { totalMicros messageCount modelConfig { model } } byChat { nodes { totalMicros chat { id } } }`;

type Cost = {
  totalMicros: string;
  pricedMessageCount: number;
  unpricedMessageCount: number;
  tokens: Record<string, string>;
};

/** Creates a configuration of the demo model with these prices, and returns its public ID. */
async function modelWithPrices(pricing: Partial<ModelPricing> | null): Promise<string> {
  const { database } = server.parley;
  const id = randomUUID();
  const config = await findDefaultModelConfig(database);
  await environment.database.dataSource.query(
    `INSERT INTO model_configs (id, provider_id, model, display_name, context_limit) VALUES ($1, $2, 'demo', 'Demo ' || gen_random_uuid(), 200000)`,
    [id, config?.providerId],
  );
  const none = { input: "0", output: "0", cacheRead: null, cacheWrite: null };
  await setModelPricing(database, id, pricing && { ...none, ...pricing });
  return encodeId("model", id);
}

/** Runs one turn and returns the cost of each of its assistant messages. */
async function turn(
  modelConfigId: string,
  text: string,
): Promise<{ chatId: string; costs: (string | null)[] }> {
  const chatId = await server.api.createChat(text, { modelConfigId });
  const follower = server.api.follow(chatId);
  await follower.untilStatus("WAITING");
  await follower.close();
  type Answer = { chat: { messages: { nodes: { role: string; costMicros: string | null }[] } } };
  const query = `query ($id: ID!) { chat(id: $id) { messages { nodes { role costMicros } } } }`;
  const { chat } = await server.api.get<Answer>(query, { id: chatId });
  const answers = chat.messages.nodes.filter(({ role }) => role === "ASSISTANT");
  return { chatId, costs: answers.map(({ costMicros }) => costMicros) };
}

async function costOf(chatId: string): Promise<Cost> {
  const query = `query ($id: ID!) { chat(id: $id) { cost { ${COST} } } }`;
  return (await server.api.get<{ chat: { cost: Cost } }>(query, { id: chatId })).chat.cost;
}

// Each line was computed by hand: tokens times dollars per million tokens, added, rounded up once.
// Usage: input, output, reasoning within it, cache reads, cache writes.
test.each<[string, string, Partial<ModelPricing> | null, string | null]>([
  ["1000 x 3 + 500 x 15", "1000,500", { input: "3", output: "15" }, "10500"],
  ["1234 x 2.5 = 3085 exactly", "1234,0", { input: "2.5", output: "10" }, "3085"],
  ["1 x 0.01 = 0.01, up to 1", "1,0", { input: "0.01", output: "0" }, "1"],
  ["7 x 0.1 + 3 x 0.1 = 1 exactly", "7,3", { input: "0.1", output: "0.1" }, "1"],
  [
    "101 x 1.23 + 201 x 4.56 + 1005 x 0.7 + 33 x 7.89 = 124.23 + 916.56 + 703.5 + 260.37 = 2004.66",
    "101,201,0,1005,33",
    { input: "1.23", output: "4.56", cacheRead: "0.7", cacheWrite: "7.89" },
    "2005",
  ],
  ["500 x 15, and the 400 of reasoning are in them", "0,500,400", { input: "3", output: "15" }, "7500"],
  [
    "2000 x 3 + 10000 x 0.3 + 5000 x 3.75 = 6000 + 3000 + 18750",
    "2000,0,0,10000,5000",
    { input: "3", output: "15", cacheRead: "0.3", cacheWrite: "3.75" },
    "27750",
  ],
  ["900 x 1, and cache writes without a price are free", "900,0,0,0,77", { input: "1" }, "900"],
  ["everything x 0 is free, not unpriced", "1000,1000", { input: "0", output: "0" }, "0"],
  ["a model without prices is unpriced, not free", "1000,1000", null, null],
])("a turn of %s", async (_, usage, pricing, micros) => {
  const model = await modelWithPrices(pricing);
  const { chatId, costs } = await turn(model, `[[demo: deltas=1 usage=${usage}]]`);
  expect(costs).toEqual([micros]);
  const [input = "0", output = "0", , cacheRead = "0", cacheWrite = "0"] = usage.split(",");
  expect(await costOf(chatId)).toMatchObject({
    totalMicros: micros ?? "0",
    pricedMessageCount: micros === null ? 0 : 1,
    unpricedMessageCount: micros === null ? 1 : 0,
    tokens: { input, output, cacheRead, cacheWrite },
    byChat: { nodes: [{ totalMicros: micros ?? "0", chat: { id: chatId } }] },
  });
});

test("a new price applies to new calls only", async () => {
  const model = await modelWithPrices({ input: "3" });
  const first = await turn(model, "[[demo: deltas=1 usage=1000]]");
  await setModelPricing(server.parley.database, model.slice("model_".length), null);
  expect(first.costs).toEqual(["3000"]);
  expect((await costOf(first.chatId)).totalMicros).toBe("3000");
});

test("users see their own costs, and only admins all users'", async () => {
  const member = await server.addUser("member");
  const own = await member.get<{ viewer: { cost: Cost } }>(`{ viewer { cost(${RANGE}) { ${COST} } } }`);
  expect(own.viewer.cost).toMatchObject({ totalMicros: "0", pricedMessageCount: 0 });
  const costsQuery = `{ userCosts(${RANGE}) { totalMicros nodes { totalMicros chatCount messageCount user { username } } } }`;
  const refused = await member.ask(costsQuery);
  expect({ data: refused.data, code: refused.errors[0]?.extensions.code }).toEqual({
    data: null,
    code: "FORBIDDEN",
  });
  type All = { userCosts: { totalMicros: string; nodes: { totalMicros: string }[] } };
  const { userCosts } = await server.api.get<All>(costsQuery);
  const { viewer } = await server.api.get<{ viewer: { cost: Cost } }>(
    `{ viewer { cost(${RANGE}) { ${COST} } } }`,
  );
  expect(userCosts).toMatchObject({
    totalMicros: viewer.cost.totalMicros,
    nodes: [{ totalMicros: viewer.cost.totalMicros }],
  });
});

test("a failed attempt is billed by the usage reported before the failure", async () => {
  const model = await modelWithPrices({ input: "1" });
  const { chatId, costs } = await turn(
    model,
    "[[demo: deltas=3 usage=500 sse-error=overloaded_error times=1]]",
  );
  expect(costs).toEqual(["500"]);
  expect(await costOf(chatId)).toMatchObject({ totalMicros: "1000", pricedMessageCount: 2 });
});

test("an interrupted response is billed by the usage reported before the interrupt", async () => {
  const modelConfigId = await modelWithPrices({ input: "1" });
  const chatId = await server.api.createChat("[[demo: usage=700 hang=2]]", { modelConfigId });
  const follower = server.api.follow(chatId);
  await follower.until(({ log }) => log.some((line) => line.startsWith("part ASSISTANT")));
  await server.api.change("interruptChat", { chatId }, "chat { id }");
  await follower.untilStatus("WAITING");
  await follower.close();
  expect(await costOf(chatId)).toMatchObject({ totalMicros: "700", pricedMessageCount: 1 });
});

test.each([
  [`range: { from: "2026-02-01T00:00:00Z", to: "2026-01-01T00:00:00Z" }`],
  [`range: { from: "2026-01-01T00:00:00Z", to: "2026-01-01T00:00:00Z" }`],
])("an empty range is refused: %s", async (range) => {
  const { errors } = await server.api.ask(`{ viewer { cost(${range}) { totalMicros } } }`);
  expect(errors[0]?.extensions.code).toBe("BAD_USER_INPUT");
});

test("the longest possible range works", async () => {
  const all = `range: { from: "0000-01-01T00:00:00Z", to: "9999-12-31T23:59:59Z" }`;
  const answer = await server.api.ask(
    `{ viewer { cost(${all}) { totalMicros } } userCosts(${all}) { totalMicros } }`,
  );
  expect(answer.errors).toEqual([]);
});
