import { afterAll, beforeAll, expect, test } from "vitest";
import type { ScriptStep } from "../../../src/demo-model/answer.js";
import type { DemoRequest } from "../../../src/demo-model/request.js";
import { type GatedModel, startGatedModel } from "../../support/models/gated-model.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";
import { textOf } from "../../support/clients/transcript.js";

let environment: TestEnvironment;
let model: GatedModel;
let parley: TestParley;
beforeAll(async () => {
  environment = await createTestEnvironment();
  model = await startGatedModel(answer);
  parley = await environment.start(model.settings);
});
afterAll(async () => {
  await environment.remove();
  await model.close();
});

/** Calls the client's tools first, and answers every result with thanks. */
function answer({ turns }: DemoRequest): ScriptStep | undefined {
  const last = turns.at(-1);
  if (last?.role === "results") return { text: "Thank you." };
  const lastText = last?.role === "user" ? last.text : "";
  if (!lastText.includes("begin")) return undefined;
  const calls: ScriptStep["toolCalls"] = [
    { id: "call_where", name: "where_am_i", arguments: { precision: "city", nested: { list: [1, null] } } },
    { id: "call_ask", name: "ask_person", arguments: {} },
  ];
  const own = { id: "call_own", name: "execute", arguments: { command: "echo mine" } };
  return { text: "I must ask you.", toolCalls: lastText.includes("run too") ? [own, ...calls] : calls };
}

const CLIENT_TOOLS = ["where_am_i", "ask_person"].map((name) => ({
  name,
  description: `The client's own ${name}.`,
  inputSchema: { type: "object", properties: {} },
}));

/** A chat that waits for client tool results, with a follower that subscribed before it did. */
async function askedChat(text = "begin", timeoutMs?: number) {
  const clientTools = CLIENT_TOOLS.map((tool, index) => (index === 0 ? { ...tool, timeoutMs } : tool));
  const more = { clientTools, workspaceId: parley.workspaceId };
  const { chatId, follower } = await parley.api.quietChat(more);
  await parley.api.send(chatId, text);
  await follower.until(({ log }) => log.at(-1)?.startsWith("action-required") === true);
  return { chatId, follower, transcript: follower.transcript };
}

const TIMES = `pendingToolCalls { toolCallId startedAt } messages(last: 10) { nodes { parts {
  ... on ToolCallPart { toolCallId startedAt } ... on ToolResultPart { toolCallId startedAt durationMs } } } }`;
type Times = { toolCallId?: string; startedAt: string | null; durationMs?: number | null };

/** The pending calls, and all calls and results in history. */
async function timesOf(chatId: string): Promise<{ pending: Times[]; calls: Times[]; results: Times[] }> {
  const { chat } = await parley.api.get<{
    chat: { pendingToolCalls: Times[]; messages: { nodes: { parts: Times[] }[] } };
  }>(`query ($chatId: ID!) { chat(id: $chatId) { ${TIMES} } }`, { chatId });
  const parts = chat.messages.nodes.flatMap((message) => message.parts);
  return {
    pending: chat.pendingToolCalls,
    calls: parts.filter((part) => part.toolCallId && part.durationMs === undefined),
    results: parts.filter((part) => part.durationMs !== undefined),
  };
}

test("a client tool call starts when the model requests it, and its result has the client's duration", async () => {
  const { chatId, follower } = await askedChat();
  const { pending, calls } = await timesOf(chatId);
  expect([pending, calls.map(({ startedAt }) => Date.parse(startedAt ?? ""))]).toEqual([
    calls,
    [expect.any(Number), expect.any(Number)],
  ]);
  await submit(chatId, [ASK, WHERE]);
  await follower.untilStatus("WAITING");
  const { results } = await timesOf(chatId);
  expect(results).toEqual(calls.map((call) => ({ ...call, durationMs: expect.any(Number) })));
  await follower.close();
});

const WHERE = { toolCallId: "call_where", result: { city: "Ulm" } };
const ASK = { toolCallId: "call_ask", result: "no", isError: true };

function submit(chatId: string, results: object[]) {
  return parley.api.change("submitToolResults", { chatId, results }, "chat { id status }");
}

test("a client receives its tool calls and submits results, and the turn continues with them", async () => {
  const { chatId, follower, transcript } = await askedChat();
  const event = transcript.events.find(({ __typename }) => __typename === "ChatActionRequiredEvent");
  const toolCalls = [
    {
      toolCallId: "call_where",
      toolName: "where_am_i",
      arguments: { precision: "city", nested: { list: [1, null] } },
    },
    { toolCallId: "call_ask", toolName: "ask_person", arguments: {} },
  ];
  expect(event).toMatchObject({ toolCalls, deadline: expect.stringMatching(/Z$/) });
  expect((await parley.api.chat(chatId))?.pendingToolCalls).toEqual(toolCalls);

  expect(await submit(chatId, [ASK, WHERE])).toMatchObject({ userErrors: [] });
  await follower.untilStatus("WAITING");
  expect({ roles: transcript.messages.map(({ role }) => role), breaches: transcript.breaches }).toEqual({
    roles: ["USER", "ASSISTANT", "USER", "ASSISTANT", "TOOL", "ASSISTANT"],
    breaches: [],
  });
  expect(transcript.messages[4]?.parts).toEqual([
    { __typename: "ToolResultPart", toolName: "where_am_i", isError: false, ...WHERE },
    { __typename: "ToolResultPart", toolName: "ask_person", ...ASK },
  ]);
  expect(transcript.answers.at(-1)).toBe("Thank you.");
  expect(transcript.messages).toEqual((await parley.api.chat(chatId))?.messages.nodes);
  await follower.close();
});

test.each([
  [0, null],
  [3_600_000, 3_600_000],
  [1_000, 300_000],
])("a tool with a timeout of %j gives the client %j, beside one of five minutes", async (given, expected) => {
  const before = Date.now();
  const { chatId, follower, transcript } = await askedChat("begin", given);
  const event = transcript.events.find(({ __typename }) => __typename === "ChatActionRequiredEvent");
  const deadline = event?.__typename === "ChatActionRequiredEvent" ? event.deadline : undefined;
  if (expected === null) expect(deadline).toBeNull();
  else expect(Date.parse(deadline ?? "") - before).toBeGreaterThanOrEqual(expected);
  // Another server finds the chat in the same state, with or without a deadline.
  if (expected === null) expect((await parley.api.chat(chatId))?.status).toBe("REQUIRES_ACTION");
  expect(await submit(chatId, [WHERE, ASK])).toMatchObject({ userErrors: [] });
  await follower.untilStatus("WAITING");
  expect(transcript.breaches).toEqual([]);
  await follower.close();
});

const deep = (depth: number): unknown => JSON.parse(`${"[".repeat(depth)}1${"]".repeat(depth)}`);

test.each<[string, unknown, string]>([
  ["longer than a message may be", "x".repeat(1_000_001), "results.0.result"],
  ["long only together", ["x".repeat(500_000), "\n".repeat(300_000)], "results.0.result"],
])("a result %s is refused with its path, and the calls stay pending", async (_case, result, path) => {
  const { chatId, follower } = await askedChat();
  const refused = await submit(chatId, [{ ...WHERE, result }, ASK]);
  expect(refused.userErrors).toMatchObject([
    { code: "INVALID", path: expect.arrayContaining(path.split(".")) },
  ]);
  expect((await submit(chatId, [WHERE, ASK])).userErrors).toEqual([]);
  await follower.untilStatus("WAITING");
  await follower.close();
});

test("a result that is nested too deeply is refused with its path", async () => {
  const { chatId, follower } = await askedChat();
  const refusal = submit(chatId, [{ ...WHERE, result: deep(1_000) }, ASK]);
  await expect(refusal).rejects.toThrow(/input\.results\[0\]\.result.*JSON is nested at most 100 deep/);
  expect((await submit(chatId, [WHERE, ASK])).userErrors).toEqual([]);
  await follower.untilStatus("WAITING");
  await follower.close();
});

// Small enough not to trigger compaction.
test.each<[string, unknown, unknown]>([
  ["100,000 characters", "漢".repeat(100_000), undefined],
  [
    "10,000 keys",
    Object.fromEntries(Array.from({ length: 10_000 }, (_, key) => [`k${key}`, key])),
    undefined,
  ],
  ["100 levels", deep(100), undefined],
  ["U+0000 in names and values", { "a\u0000b": "c\u0000d" }, undefined],
  ["half a character", "a\ud83d", "a\uFFFD"],
  [
    "a key called __proto__",
    JSON.parse('{"__proto__": {"a": 1}, "constructor": {"prototype": 2}}'),
    undefined,
  ],
])("a result of %s is saved unchanged", async (_case, result, stored = result) => {
  const { chatId, follower, transcript } = await askedChat();
  expect((await submit(chatId, [{ ...WHERE, result }, ASK])).userErrors).toEqual([]);
  await follower.untilStatus("WAITING");
  const live = transcript.messages.at(-2)?.parts[0];
  const saved = (await parley.api.chat(chatId))?.messages.nodes.at(-2)?.parts[0];
  expect(JSON.stringify(live)).toBe(JSON.stringify(saved));
  expect(JSON.stringify(Reflect.get(saved ?? {}, "result"))).toHaveLength(JSON.stringify(stored).length);
  await follower.close();
});

test("the server runs its own tools of a step before it requests the client's", async () => {
  const { chatId, follower, transcript } = await askedChat("begin, and run too");
  expect(transcript.messages.at(-1)?.parts).toMatchObject([
    { toolCallId: "call_own", isError: false, result: { output: "mine\n" } },
  ]);
  await submit(chatId, [WHERE, ASK]);
  await follower.untilStatus("WAITING");
  expect(transcript.messages.slice(2).map(({ role, parts }) => [role, parts.length])).toEqual([
    ["USER", 1],
    ["ASSISTANT", 4],
    ["TOOL", 1],
    ["TOOL", 2],
    ["ASSISTANT", 1],
  ]);
  await follower.close();
});

test.each([
  ["too few", [WHERE]],
  ["none", []],
  ["an unknown call besides", [WHERE, ASK, { toolCallId: "call_other", result: 1 }]],
  ["an unknown call instead", [WHERE, { toolCallId: "call_other", result: 1 }]],
  ["one call twice", [WHERE, WHERE]],
])("results that do not match the pending calls are refused: %s", async (_case, results) => {
  const { chatId, follower } = await askedChat();
  const refused = await submit(chatId, results);
  expect(refused.chat).toBeNull();
  expect(refused.userErrors).toHaveLength(1);
  expect((await parley.api.chat(chatId))?.status).toBe("REQUIRES_ACTION");
  expect((await submit(chatId, [WHERE, ASK])).userErrors).toEqual([]);
  await follower.untilStatus("WAITING");
  await follower.close();
});

test("results cannot be submitted twice, or without pending calls", async () => {
  const { chatId, follower } = await askedChat();
  const both = await Promise.all([submit(chatId, [WHERE, ASK]), submit(chatId, [WHERE, ASK])]);
  expect(both.map(({ userErrors }) => userErrors.length).sort((a, b) => a - b)).toEqual([0, 1]);
  await follower.untilStatus("WAITING");
  expect((await submit(chatId, [WHERE, ASK])).userErrors).toMatchObject([
    { __typename: "Conflict", code: "CONFLICT", currentStatus: "WAITING" },
  ]);
  await follower.close();
});

test("a message sent instead of results cancels the calls", async () => {
  const { chatId, follower, transcript } = await askedChat();
  await parley.api.send(chatId, "something else", { whenBusy: "INTERRUPT" });
  await follower.until(({ messages }) => messages.length === 7);
  expect(transcript.messages[4]?.parts).toMatchObject([
    { toolCallId: "call_where", isError: true, result: { error: expect.stringContaining("cancelled") } },
    { toolCallId: "call_ask", isError: true, result: { error: expect.stringContaining("cancelled") } },
  ]);
  expect(textOf(transcript.messages[5]!)).toBe("something else");
  await follower.close();
});
