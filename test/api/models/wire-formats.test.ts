import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type DemoModel, startDemoModel } from "../../../src/demo-model/server.js";
import { createTestEnvironment, type TestEnvironment } from "../../support/parley.js";
import { textOf } from "../../support/clients/transcript.js";

let environment: TestEnvironment;
let demo: DemoModel;
beforeAll(async () => {
  environment = await createTestEnvironment();
});
beforeEach(async () => {
  demo = await startDemoModel({ host: "127.0.0.1", port: 0 });
});
afterEach(() => demo.close());
afterAll(() => environment.remove());

test.each([
  ["anthropic", "Anthropic", (url: string) => ({ ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: url })],
  ["bedrock", "Bedrock", (url: string) => ({ AWS_BEARER_TOKEN_BEDROCK: "key", BEDROCK_BASE_URL: url })],
  ["google", "Google", (url: string) => ({ GEMINI_API_KEY: "key", GOOGLE_GEMINI_BASE_URL: url })],
  ["openai-responses", "OpenAI", (url: string) => ({ OPENAI_API_KEY: "key", OPENAI_BASE_URL: `${url}/v1` })],
  [
    "openai-responses",
    "Azure",
    (url: string) => ({ AZURE_OPENAI_API_KEY: "key", AZURE_OPENAI_ENDPOINT: url }),
  ],
  [
    "openai-chat",
    "OpenAI",
    (url: string) => ({ OPENAI_API_KEY: "key", OPENAI_BASE_URL: `${url}/v1`, PARLEY_OPENAI_API: "chat" }),
  ],
  [
    "openai-chat",
    "Azure",
    (url: string) => ({
      AZURE_OPENAI_API_KEY: "key",
      AZURE_OPENAI_ENDPOINT: url,
      PARLEY_OPENAI_API: "chat",
    }),
  ],
])("a turn with reasoning and two tools works with %s at %s", async (wire, _vendor, settings) => {
  const server = await environment.start({ ...settings(demo.url), PARLEY_MODEL: `model-of-${wire}` });
  const { chatId, follower } = await server.api.quietChat({ workspaceId: server.workspaceId });
  await server.api.send(chatId, "run `ls`, then read package.json [[demo: reasoning]]");
  const { transcript } = follower;
  await follower.until(({ log }) => log.at(-1) === "status WAITING");
  expect(
    transcript.messages.slice(2).map(({ role, parts }) => [role, ...parts.map((part) => part.__typename)]),
  ).toEqual([
    ["USER", "TextPart"],
    ["ASSISTANT", "ReasoningPart", "TextPart", "ToolCallPart"],
    ["TOOL", "ToolResultPart"],
    ["ASSISTANT", "ReasoningPart", "TextPart", "ToolCallPart"],
    ["TOOL", "ToolResultPart"],
    ["ASSISTANT", "ReasoningPart", "TextPart"],
  ]);
  const [ls, read] = transcript.messages.filter(({ role }) => role === "TOOL").map(({ parts }) => parts[0]);
  expect([ls, read]).toMatchObject([
    {
      toolName: "execute",
      isError: false,
      result: { success: true, output: "README.md\npackage.json\nsrc\n" },
    },
    {
      toolName: "read_file",
      isError: false,
      result: { content: expect.stringContaining('"name": "greeter"') },
    },
  ]);
  expect(transcript.messages.map(textOf).at(-1)).toContain("Done.");
  expect(transcript.breaches).toEqual([]);
  expect(transcript.messages).toEqual((await server.api.chat(chatId))?.messages.nodes);
  const calls = demo.requests.map(({ wire: format, model, headers }) => [
    ...[format, model, `chat_${headers["parley-chat-id"]}`, `ws_${headers["parley-workspace-id"]}`],
  ]);
  expect(calls).toEqual(calls.map(() => [wire, `model-of-${wire}`, chatId, server.workspaceId]));
  expect(calls.length).toBe(4);
  await follower.close();
  await server.close();
});

test.each([
  ["openai-responses", "gpt-x", (url: string) => ({ OPENAI_API_KEY: "key", OPENAI_BASE_URL: url })],
  ["google", "gemini-9-x", (url: string) => ({ GEMINI_API_KEY: "key", GOOGLE_GEMINI_BASE_URL: url })],
])("a chat started with one vendor continues with %s after a restart", async (wire, model, settings) => {
  const first = await environment.start({
    ANTHROPIC_API_KEY: "key",
    ANTHROPIC_BASE_URL: demo.url,
    PARLEY_MODEL: "claude-x",
  });
  const { chatId, follower } = await first.api.quietChat({ workspaceId: first.workspaceId });
  await first.api.send(chatId, "run `ls` [[demo: reasoning]]");
  await follower.until(({ log }) => log.at(-1) === "status WAITING");
  await follower.close();
  await first.close();

  const second = await environment.start({
    ANTHROPIC_API_KEY: "key",
    ANTHROPIC_BASE_URL: demo.url,
    ...settings(demo.url),
    PARLEY_MODEL: model,
  });
  const { modelConfigs } = await second.api.get<{
    modelConfigs: { id: string; model: string; isDefault: boolean }[];
  }>("{ modelConfigs { id model isDefault } }");
  const chosen = modelConfigs.find(({ isDefault }) => isDefault);
  expect(chosen?.model).toBe(model);
  const again = await second.api.followFromNow(chatId);
  await second.api.send(chatId, "[[demo: error=0 deltas=3]]", { modelConfigId: chosen?.id });
  await again.until(({ log }) => log.at(-1) === "status WAITING");
  expect(again.transcript.answers.at(-1)).toBe("word1 word2 word3 ");
  const last = demo.requests.at(-1);
  const roles = last?.turns.map((turn) => turn.role);
  // OpenAI's API returns a call and the text before it as two items.
  expect([last?.wire, roles?.filter((role, index) => role !== roles[index - 1])]).toEqual([
    wire,
    ["user", "assistant", "user", "assistant", "results", "assistant", "user"],
  ]);
  await again.close();
});

test("a model that does not start to respond in the configured time is called again", async () => {
  const server = await environment.start({
    GEMINI_API_KEY: "key",
    GOOGLE_GEMINI_BASE_URL: demo.url,
    PARLEY_MODEL_STARTUP_TIMEOUT_MS: "5000",
  });
  const { chatId, follower } = await server.api.quietChat({ workspaceId: server.workspaceId });
  const before = demo.requests.length;
  await server.api.send(chatId, "[[demo: hang times=1 deltas=3]]");
  await follower.until(({ log }) => log.at(-1) === "status WAITING");
  expect([follower.transcript.answers.at(-1), demo.requests.length - before]).toEqual([
    "word1 word2 word3 ",
    2,
  ]);
  await follower.close();
  await server.close();
});
