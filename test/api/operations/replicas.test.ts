// One server for clients, another for turns, and Redis between them: clients notice no difference.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startDemoModel, type DemoModel } from "../../../src/demo-model/server.js";
import type { DemoRequest } from "../../../src/demo-model/request.js";
import type { ScriptStep } from "../../../src/demo-model/answer.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";
import { hasRedis, startRedis, type TestRedis } from "../../support/network/redis.js";
import { Transcript } from "../../support/clients/transcript.js";
import { Follower } from "../../support/clients/api-client.js";

let redis: TestRedis;
let environment: TestEnvironment;
let model: DemoModel;
let answer: (request: DemoRequest) => ScriptStep | undefined;
let apiServer: TestParley;
beforeAll(async () => {
  if (hasRedis) redis = await startRedis();
});
afterAll(async () => {
  if (hasRedis) await redis.stop();
});
beforeEach(async () => {
  if (!hasRedis) return;
  answer = () => undefined;
  environment = await createTestEnvironment();
  model = await startDemoModel({ host: "127.0.0.1", port: 0, script: (request) => answer(request) });
  const settings = { REDIS_URL: redis.url, ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: model.url };
  apiServer = await environment.start({ ...settings, PARLEY_ROLE: "api" });
  await environment.start({ ...settings, PARLEY_ROLE: "worker" });
});
afterEach(async () => {
  if (!hasRedis) return;
  await environment.remove();
  await model.close();
});

async function health(): Promise<unknown> {
  return (await fetch(`${apiServer.api.url}/readyz`)).json();
}

describe.skipIf(!hasRedis)("with Redis between the API server and the worker", () => {
  test("a turn is streamed from its start, delta by delta", async () => {
    const { chatId, follower } = await apiServer.api.quietChat();
    const before = follower.transcript.log.length;
    await apiServer.api.send(chatId, "[[demo: deltas=5 delay=20]]");
    await follower.until(({ status, messages }) => status === "WAITING" && messages.length === 4);
    const { log, breaches, confirmedPreviews } = follower.transcript;
    expect(log.slice(before).filter((name) => name !== "part ASSISTANT TextDelta")).toEqual([
      "message USER",
      "status PENDING",
      "status RUNNING",
      "message ASSISTANT",
      "status WAITING",
    ]);
    expect({ breaches, isPreviewed: confirmedPreviews > 0 }).toEqual({ breaches: [], isPreviewed: true });
    await follower.close();
  });

  test("a turn is streamed from its middle, with all earlier deltas", async () => {
    const { chatId, follower } = await apiServer.api.quietChat();
    answer = () => ({ text: ["one ", "two ", "three"], hang: 2 });
    await apiServer.api.send(chatId, "Count");
    await follower.until(({ preview }) =>
      [...(preview?.parts.values() ?? [])].some((it) => it.text === "one two "),
    );
    const late = apiServer.api.follow(chatId);
    await late.until(({ isCaughtUp }) => isCaughtUp);
    expect([...(late.transcript.preview?.parts.values() ?? [])]).toMatchObject([{ text: "one two " }]);
    answer = () => undefined;
    await apiServer.api.change("interruptChat", { chatId }, "chat { status }");
    await Promise.all([follower.untilStatus("WAITING"), late.untilStatus("WAITING")]);
    const shown = (await apiServer.api.chat(chatId))?.messages.nodes;
    expect([follower.transcript.messages, late.transcript.messages]).toEqual([shown, shown]);
    expect([...follower.transcript.breaches, ...late.transcript.breaches]).toEqual([]);
    await follower.close();
    await late.close();
  });

  test("retries, errors and the queue arrive as on the worker's own server", async () => {
    const { chatId, follower } = await apiServer.api.quietChat();
    const before = follower.transcript.log.length;
    await apiServer.api.send(chatId, "[[demo: error=529 retry-after=0 times=1 deltas=1]]");
    await follower.until(({ status, messages }) => status === "WAITING" && messages.length === 4);
    expect(follower.transcript.log.slice(before)).toContain("retry 1");
    await apiServer.api.send(chatId, "[[demo: error=401]]");
    await follower.until(({ failure }) => failure !== null);
    expect(follower.transcript.failure).toMatchObject({ kind: "AUTH" });
    expect(follower.transcript.breaches).toEqual([]);
    await follower.close();
  });

  test("if Redis dies during a turn, the turn continues and subscribers end up with the final state", async () => {
    const { chatId, follower } = await apiServer.api.quietChat();
    expect(await health()).toMatchObject({ checks: { redis: "ok" } });
    answer = () => ({ text: ["one ", "two ", "three"], delayMs: 300 });
    await apiServer.api.send(chatId, "Count");
    await follower.until(({ preview }) => preview !== null);
    await redis.kill();
    answer = () => undefined;
    // The database is compared every 10 seconds, so subscribers receive the end of the turn by then.
    await follower.until(({ status, messages }) => status === "WAITING" && messages.length === 4);
    expect(await health()).toMatchObject({ status: "ready", checks: { redis: "degraded" } });
    await redis.restart();
    const late = new Follower(apiServer.api, chatId, new Transcript(null));
    await apiServer.api.send(chatId, "[[demo: deltas=2]]");
    await follower.until(({ status, messages }) => status === "WAITING" && messages.length === 6);
    await late.until(({ status, messages }) => status === "WAITING" && messages.length === 6);
    const shown = (await apiServer.api.chat(chatId))?.messages.nodes;
    expect([follower.transcript.messages, late.transcript.messages]).toEqual([shown, shown]);
    expect(follower.transcript.breaches).toEqual([]);
    await follower.close();
    await late.close();
  });
});
