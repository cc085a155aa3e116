// Deployment settings: who sees them, what is refused, and that changes take effect on every server at once.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ApiClient } from "../../support/clients/api-client.js";
import { type GatedModel, startGatedModel } from "../../support/models/gated-model.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";
import { hasRedis, startRedis, type TestRedis } from "../../support/network/redis.js";
import { eventually } from "../../support/eventually.js";

let environment: TestEnvironment;
let model: GatedModel;
let redis: TestRedis | null = null;
let server: TestParley;
let second: TestParley;
beforeAll(async () => {
  [environment, model] = [await createTestEnvironment(), await startGatedModel()];
  redis = hasRedis ? await startRedis() : null;
  const settings: Record<string, string> = {
    ...model.settings,
    PARLEY_ACQUIRE_BATCH_SIZE: "7",
    ...(redis && { REDIS_URL: redis.url }),
  };
  server = await environment.start(settings);
  second = await environment.start({ ...settings, PARLEY_ROLE: "api" });
});
afterAll(async () => {
  await environment.remove();
  await model.close();
  await redis?.stop();
});

const SETTINGS =
  "systemPrompt workspaceTtlMs isDesktopEnabled acquireBatchSize updatedAt updatedBy { username }";
type Settings = Record<string, unknown>;
type Deployment = {
  version: string;
  isDesktopEnabled: boolean;
  pushPublicKey: string;
  settings: Settings | null;
};

async function read(api: ApiClient): Promise<Deployment> {
  const query = `{ deployment { version isDesktopEnabled pushPublicKey settings { ${SETTINGS} } } }`;
  return (await api.get<{ deployment: Deployment }>(query)).deployment;
}

type Payload = { settings: Settings | null; userErrors: object[] };
const update = (input: object, api = server.api) =>
  api.change<Payload>("updateDeploymentSettings", input, `settings { ${SETTINGS} }`);

const UNSET = { systemPrompt: "", workspaceTtlMs: null, isDesktopEnabled: false, acquireBatchSize: 7 };

test("by default nothing is set, and the environment applies", async () => {
  const { settings, ...rest } = await read(server.api);
  expect(rest).toEqual({
    version: expect.any(String) as string,
    isDesktopEnabled: false,
    pushPublicKey: expect.stringMatching(/^[\w-]{87}$/) as string,
  });
  expect(settings).toEqual({ ...UNSET, updatedAt: expect.stringMatching(/Z$/) as string, updatedBy: null });
});

test("members see the public settings, and can neither see nor change the others", async () => {
  const member = await server.addUser("member");
  expect(await read(member)).toMatchObject({ isDesktopEnabled: false, settings: null });
  await expect(update({ systemPrompt: "Mine." }, member)).rejects.toThrow("FORBIDDEN");
});

test("given fields are set, absent ones are kept, and null clears", async () => {
  const change = { workspaceTtlMs: "2592000000", isDesktopEnabled: true, acquireBatchSize: 50 };
  const first = await update({ ...change, systemPrompt: "Be kind.\r\n\u200B" });
  expect(first).toMatchObject({
    settings: { ...change, systemPrompt: "Be kind.", updatedBy: { username: "admin" } },
    userErrors: [],
  });
  expect((await update({ workspaceTtlMs: 60_000 })).settings).toMatchObject({
    ...change,
    systemPrompt: "Be kind.",
    workspaceTtlMs: "60000",
  });
  expect((await read(second.api)).settings).toMatchObject({ ...change, workspaceTtlMs: "60000" });
  const cleared = {
    systemPrompt: null,
    workspaceTtlMs: null,
    isDesktopEnabled: null,
    acquireBatchSize: null,
  };
  expect((await update(cleared)).settings).toMatchObject(UNSET);
});

test("the audit log records the changed fields of each change, and nothing without a change", async () => {
  const query = `{ auditLog(first: 1, filter: { actions: [DEPLOYMENT_UPDATED] }) {
    nodes { id actorName targetKind targetId changes { field before after } } } }`;
  type Log = { auditLog: { nodes: { id: string }[] } };
  await update({ acquireBatchSize: 5, systemPrompt: null });
  const { auditLog } = await server.api.get<Log>(query);
  expect(auditLog.nodes).toEqual([
    {
      ...{ id: expect.any(String) as string, actorName: "admin", targetKind: "DEPLOYMENT", targetId: null },
      changes: [{ field: "acquireBatchSize", before: null, after: 5 }],
    },
  ]);
  await update({ acquireBatchSize: 5 });
  expect((await server.api.get<Log>(query)).auditLog).toEqual(auditLog);
});

test("all problems are returned at once, each with its field, and nothing is changed", async () => {
  const before = (await read(server.api)).settings;
  const input = {
    ...{ systemPrompt: "x".repeat(131_073), workspaceTtlMs: "9223372036854775807", acquireBatchSize: 0 },
    isDesktopEnabled: true,
  };
  const { settings, userErrors } = await update(input);
  expect(settings).toBeNull();
  expect(userErrors).toMatchObject(
    ["systemPrompt", "workspaceTtlMs", "acquireBatchSize"].map((field) => ({
      code: "INVALID",
      path: [field],
    })),
  );
  expect((await read(server.api)).settings).toEqual(before);
});

test.skipIf(!hasRedis)("a prompt set on one server is used in the very next turn on another", async () => {
  const chat = async () => {
    const chatId = await server.api.createChat("[[demo: deltas=1]]", { workspaceId: null });
    const follower = server.api.follow(chatId);
    await follower.untilStatus("WAITING");
    await follower.close();
    return model.requests.at(-1)?.system ?? "";
  };
  const prompts = [await chat()];
  await update({ systemPrompt: "Speak of ships only.", isDesktopEnabled: true }, second.api);
  // A server without notifications caches both for ten seconds.
  const isHeard = async () => expect((await read(server.api)).isDesktopEnabled).toBe(true);
  await eventually(isHeard);
  prompts.push(await chat());
  expect(prompts.map((prompt) => prompt.includes("Speak of ships only."))).toEqual([false, true]);
});
