// Context usage and manual compaction, as clients see them.
import { afterAll, beforeAll, expect, test } from "vitest";
import { isSummaryRequest } from "../../../src/demo-model/plan.js";
import { type DemoRequest, lastUserText } from "../../../src/demo-model/request.js";
import { startDemoModel } from "../../../src/demo-model/server.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";

let environment: TestEnvironment;
let server: TestParley;
beforeAll(async () => {
  environment = await createTestEnvironment();
  server = await environment.start({ PARLEY_TITLES: "off" });
});
afterAll(() => environment.remove());

const USAGE = "contextUsage { usedTokens limitTokens compactionThresholdPercent }";

async function usageOf(chatId: string): Promise<unknown> {
  const query = `query ($chatId: ID!) { chat(id: $chatId) { ${USAGE} } }`;
  return (await server.api.get<{ chat: { contextUsage: unknown } }>(query, { chatId })).chat.contextUsage;
}

test("a chat reports its context usage, and a summary reduces it", async () => {
  const { chatId, follower } = await server.api.quietChat();
  expect(await usageOf(chatId)).toEqual({
    usedTokens: expect.any(Number),
    limitTokens: 200_000,
    compactionThresholdPercent: 70,
  });
  const before = follower.transcript.log.length;
  const { userErrors } = await server.api.change("compactChat", { chatId }, "chat { status }");
  expect(userErrors).toEqual([]);
  await follower.until(({ messages, status }) => status === "WAITING" && messages.length === 3);
  expect(follower.transcript.log.slice(before)).toEqual([
    "status PENDING",
    "status RUNNING",
    "part ASSISTANT ToolCallPart",
    "part ASSISTANT ToolResultPart",
    "message ASSISTANT",
    "status WAITING",
  ]);
  expect(follower.transcript.breaches).toEqual([]);
  expect(follower.transcript.messages.at(-1)).toMatchObject({
    parts: [{ toolName: "chat_summarized" }, { toolName: "chat_summarized", isError: false }],
  });
  expect(follower.transcript.messages).toEqual((await server.api.chat(chatId))?.messages.nodes);
  expect(await usageOf(chatId)).toBeNull();
  await follower.close();
});

test("a summary whose own prompt is too long appears as a retry, and the next attempt succeeds", async () => {
  const refusals = [true, true];
  const tooLong = { status: 400, type: "invalid_request_error", message: "prompt is too long" };
  const script = (request: DemoRequest) => {
    const isAboutLength = isSummaryRequest(request) || lastUserText(request).includes("Second");
    return isAboutLength && refusals.pop() ? { error: tooLong } : undefined;
  };
  const model = await startDemoModel({ host: "127.0.0.1", port: 0, script });
  // A separate environment, because the default model is shared by all servers of one.
  const elsewhere = await createTestEnvironment();
  const other = await elsewhere.start({ ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: model.url });
  const { chatId, follower } = await other.api.quietChat();
  const before = follower.transcript.log.length;
  await other.api.send(chatId, "Second [[demo: deltas=1]]");
  await follower.until(({ messages, status }) => status === "WAITING" && messages.length === 5);
  expect(follower.transcript.log.slice(before)).toEqual([
    "message USER",
    "status PENDING",
    "status RUNNING",
    "retry 1",
    "part ASSISTANT ToolCallPart",
    "retry 2",
    "preview-reset RETRY",
    "part ASSISTANT ToolCallPart",
    "part ASSISTANT ToolResultPart",
    "message ASSISTANT",
    "part ASSISTANT TextDelta",
    "message ASSISTANT",
    "status WAITING",
  ]);
  expect(follower.transcript.breaches).toEqual([]);
  await follower.close();
  await elsewhere.remove();
  await model.close();
});

test("clearing the context takes effect at once, and the history stays visible", async () => {
  const { chatId, follower } = await server.api.quietChat();
  const { userErrors } = await server.api.change("clearChatContext", { chatId }, "chat { status }");
  expect(userErrors).toEqual([]);
  await follower.until(({ messages }) => messages.length === 3);
  expect(follower.transcript.messages.at(-1)).toMatchObject({ parts: [{ toolName: "chat_cleared" }, {}] });
  expect(follower.transcript.messages).toEqual((await server.api.chat(chatId))?.messages.nodes);
  await follower.close();
});

test("another user's chat cannot be compacted, nor one with nothing to compact", async () => {
  const { chatId, follower } = await server.api.quietChat();
  await follower.close();
  const stranger = await server.addUser("eve");
  const refusals = await Promise.all(
    ["compactChat", "clearChatContext"].map((name) => stranger.change(name, { chatId }, "chat { id }")),
  );
  expect(refusals.map(({ userErrors }) => userErrors[0]?.code)).toEqual(["NOT_FOUND", "NOT_FOUND"]);
  await server.api.change("clearChatContext", { chatId }, "chat { id }");
  const { userErrors } = await server.api.change("compactChat", { chatId }, "chat { id }");
  expect(userErrors).toMatchObject([{ code: "CONFLICT", message: "There is nothing to summarise yet." }]);
});
