// Models with undocumented behaviour: the chat must neither break nor show wrong data.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ScriptStep } from "../../../src/demo-model/answer.js";
import { type GatedModel, startGatedModel } from "../../support/models/gated-model.js";
import { promptProblems } from "../../support/models/prompt-rules.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";

let environment: TestEnvironment;
let model: GatedModel;
let parley: TestParley;
let steps: ScriptStep[] = [];
beforeAll(async () => {
  environment = await createTestEnvironment();
  model = await startGatedModel(() => steps.shift());
  parley = await environment.start(model.settings);
});
afterAll(async () => {
  await environment.remove();
  await model.close();
});

const echo = (word: string, id = "call_1") => ({
  id,
  name: "execute",
  arguments: { command: `echo ${word}` },
});

async function turn(script: ScriptStep[]) {
  steps = [{ text: "Ready." }, ...script];
  const { chatId, follower } = await parley.api.quietChat({ workspaceId: parley.workspaceId });
  await parley.api.send(chatId, "go");
  await follower.until(({ log }) => ["status WAITING", "error"].some((end) => log.at(-1)?.startsWith(end)));
  await follower.close();
  const shown = await parley.api.chat(chatId);
  expect(follower.transcript.breaches).toEqual([]);
  expect(follower.transcript.messages).toEqual(shown?.messages.nodes);
  return { chatId, shown, answers: shown?.messages.nodes.slice(3) ?? [] };
}

test("a model that uses the same call id in every step gets each step's own results", async () => {
  const { shown, answers } = await turn([
    { toolCalls: [echo("one")] },
    { toolCalls: [echo("two")] },
    { text: "Done." },
  ]);
  expect(shown?.status).toBe("WAITING");
  const results = answers.filter(({ role }) => role === "TOOL").map(({ parts }) => parts);
  expect(results).toMatchObject([[{ result: { output: "one\n" } }], [{ result: { output: "two\n" } }]]);
});

test("a model that uses the same call id twice in one step gets both results", async () => {
  const { shown, answers } = await turn([{ toolCalls: [echo("one"), echo("two")] }, { text: "Done." }]);
  expect(shown?.status).toBe("WAITING");
  const results = answers.filter(({ role }) => role === "TOOL").flatMap(({ parts }) => parts);
  expect(results).toMatchObject([{ result: { output: "one\n" } }, { result: { output: "two\n" } }]);
  expect(answers.at(-1)).toMatchObject({ role: "ASSISTANT", parts: [{ text: "Done." }] });
});

test.each<[string, ScriptStep["toolCalls"], string]>([
  ["a tool that is not there", [{ id: "c", name: "no_such_tool", arguments: {} }], "no_such_tool"],
  [
    "a tool with arguments that are no JSON",
    [{ id: "c", name: "execute", arguments: "{ nonsense" }],
    "command",
  ],
  [
    "a tool with arguments of the wrong type",
    [{ id: "c", name: "execute", arguments: { command: 7 } }],
    "command",
  ],
  ["a tool without a name", [{ id: "c", name: "", arguments: {} }], "The tools are: attach_file"],
  [
    "a tool by its name in another's manner",
    [{ id: "c", name: "functions.execute", arguments: {} }],
    "Did you mean execute?",
  ],
])("a model that calls %s gets an error and continues", async (_case, toolCalls, word) => {
  const { shown, answers } = await turn([{ toolCalls }, { text: "Sorry." }]);
  expect(shown?.status).toBe("WAITING");
  const [result] = answers.filter(({ role }) => role === "TOOL").flatMap(({ parts }) => parts);
  expect(result).toMatchObject({ isError: true });
  expect(JSON.stringify(result?.result)).toContain(word);
  expect(answers.at(-1)).toMatchObject({ parts: [{ text: "Sorry." }] });
});

test("an empty response is retried once, and the second one is used", async () => {
  const { shown, answers } = await turn([{}, { text: "Here." }]);
  expect([shown?.status, answers.map(({ parts }) => parts)]).toEqual(["WAITING", [[words("Here.")]]]);
});

test("a response that is empty twice is a failure", async () => {
  const { shown, answers } = await turn([{}, {}]);
  expect([shown?.status, shown?.lastError?.kind, answers]).toEqual(["ERROR", "EMPTY_ANSWER", []]);
});

test("an empty response after tool results ends the turn successfully", async () => {
  const { shown, answers } = await turn([{ toolCalls: [echo("one")] }, {}, {}]);
  expect(shown?.status).toBe("WAITING");
  expect(answers.map(({ role }) => role)).toEqual(["ASSISTANT", "TOOL", "ASSISTANT"]);
});

const words = (text: string): unknown => expect.objectContaining({ text });
const CUT = words('The answer was cut off at the output limit. Say "continue" to let the model go on.');

test.each<[string, ScriptStep, unknown[]]>([
  ["in its text", { text: "Once upon", finish: "length" }, [words("Once upon"), CUT]],
  ["in its thoughts", { reasoning: "First", finish: "length" }, [words("First"), CUT]],
  ["before its first word", { finish: "length" }, [CUT]],
])("a response truncated %s is marked as such, and continues on request", async (_, step, parts) => {
  const { shown, answers, chatId } = await turn([step]);
  expect([shown?.status, answers.map((message) => message.parts)]).toEqual(["WAITING", [parts]]);
  expect(await finishReasons(chatId)).toEqual(["STOP", "LENGTH"]);
  steps = [{ text: " a time." }];
  const follower = parley.api.follow(chatId);
  await parley.api.send(chatId, "continue");
  await follower.until(({ messages }) => JSON.stringify(messages).includes(" a time."));
  await follower.close();
  const asked = model.requests.at(-1);
  expect(promptProblems(asked?.body ?? {})).toEqual([]);
  expect(JSON.stringify(asked?.body)).not.toContain("cut off at the output limit");
});

test("a call truncated by the output limit gets an error, complete calls beside it run, and the turn continues", async () => {
  const whole = echo("one", "call_whole");
  const cut = { id: "call_cut", name: "execute", arguments: '{"command":"rm -rf /tm' };
  const { shown, answers, chatId } = await turn([
    { toolCalls: [whole, cut], finish: "length" },
    { text: "Shorter then." },
  ]);
  expect(shown?.status).toBe("WAITING");
  expect(answers.find(({ role }) => role === "TOOL")?.parts).toMatchObject([
    { toolCallId: "call_whole", isError: false, result: { output: "one\n" } },
    { toolCallId: "call_cut", isError: true, result: { error: expect.stringContaining("cut off") } },
  ]);
  expect(promptProblems(model.requests.at(-1)?.body ?? {})).toEqual([]);
  expect(await finishReasons(chatId)).toEqual(["STOP", "LENGTH", "STOP"]);
});

const MANY = { input_tokens: "many", output_tokens: 3e9, cache_read_input_tokens: -1 };

test.each<[string, ScriptStep["rawUsage"]]>([
  ["reports no usage", null],
  ["reports words and negative numbers", MANY],
  ["reports nothing but zeros", { input_tokens: 0, output_tokens: 0 }],
])(
  "the usage of a model that %s is estimated, marked as such, and counts towards the context",
  async (_, rawUsage) => {
    const { shown, answers, chatId } = await turn([{ text: "word ".repeat(100), rawUsage }]);
    expect([shown?.status, answers.length]).toEqual(["WAITING", 1]);
    type Usage = { inputTokens: number; outputTokens: number; isEstimated: boolean };
    type Context = { usedTokens: number; isEstimated: boolean };
    type Answer = { chat: { contextUsage: Context; messages: { nodes: { usage: Usage | null }[] } } };
    const query = `query ($id: ID!) { chat(id: $id) {
    contextUsage { usedTokens isEstimated }
    messages { nodes { usage { inputTokens outputTokens isEstimated } } } } }`;
    const { chat } = await parley.api.get<Answer>(query, { id: chatId });
    const [, reported, , estimated] = chat.messages.nodes.map(({ usage }) => usage);
    expect([reported?.isEstimated, estimated?.isEstimated, estimated?.outputTokens]).toEqual([
      false,
      true,
      100,
    ]);
    // The estimate includes the system prompt and the tools. The reported tokens are the scripted vendor's count, in
    // characters of the first call's body.
    const ratio = (estimated?.inputTokens ?? 0) / (reported?.inputTokens ?? 1);
    expect([ratio > 0.7, ratio < 1.3]).toEqual([true, true]);
    const usedTokens = (estimated?.inputTokens ?? 0) + 100;
    expect(chat.contextUsage).toEqual({ usedTokens, isEstimated: true });
  },
);

async function finishReasons(chatId: string): Promise<(string | null)[]> {
  type Answer = { chat: { messages: { nodes: { role: string; finishReason: string | null }[] } } };
  const query = `query ($id: ID!) { chat(id: $id) { messages { nodes { role finishReason } } } }`;
  const { chat } = await parley.api.get<Answer>(query, { id: chatId });
  return chat.messages.nodes.filter(({ role }) => role === "ASSISTANT").map((node) => node.finishReason);
}

test("40 calls in one step all get results, in call order", async () => {
  const calls = Array.from({ length: 40 }, (_, index) => echo(String(index), `call_${index}`));
  const { answers } = await turn([{ toolCalls: calls }, { text: "Done." }]);
  const results = answers.filter(({ role }) => role === "TOOL").flatMap(({ parts }) => parts);
  expect(results.map(({ result }) => (result as { output: string }).output)).toEqual(
    calls.map((_, index) => `${index}\n`),
  );
});
