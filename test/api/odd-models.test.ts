// Models that do what no vendor's page describes: the chat must neither break nor lie.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ScriptStep } from "../../src/demo-model/answer.js";
import { type GatedModel, startGatedModel } from "../support/gated-model.js";
import { createTestPlace, type TestParley, type TestPlace } from "../support/parley.js";

let place: TestPlace;
let model: GatedModel;
let parley: TestParley;
let steps: ScriptStep[] = [];
beforeAll(async () => {
  place = await createTestPlace();
  model = await startGatedModel(() => steps.shift());
  parley = await place.start(model.settings);
});
afterAll(async () => {
  await place.remove();
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
  return { shown, said: shown?.messages.nodes.slice(3) ?? [] };
}

test("a model that uses the same call id in every step gets each step's own results", async () => {
  const { shown, said } = await turn([
    { toolCalls: [echo("one")] },
    { toolCalls: [echo("two")] },
    { text: "Done." },
  ]);
  expect(shown?.status).toBe("WAITING");
  const results = said.filter(({ role }) => role === "TOOL").map(({ parts }) => parts);
  expect(results).toMatchObject([[{ result: { output: "one\n" } }], [{ result: { output: "two\n" } }]]);
});

test("a model that uses the same call id twice in one step gets both results", async () => {
  const { shown, said } = await turn([{ toolCalls: [echo("one"), echo("two")] }, { text: "Done." }]);
  expect(shown?.status).toBe("WAITING");
  const results = said.filter(({ role }) => role === "TOOL").flatMap(({ parts }) => parts);
  expect(results).toMatchObject([{ result: { output: "one\n" } }, { result: { output: "two\n" } }]);
  expect(said.at(-1)).toMatchObject({ role: "ASSISTANT", parts: [{ text: "Done." }] });
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
])("a model that calls %s is told so and goes on", async (_case, toolCalls, word) => {
  const { shown, said } = await turn([{ toolCalls }, { text: "Sorry." }]);
  expect(shown?.status).toBe("WAITING");
  const [result] = said.filter(({ role }) => role === "TOOL").flatMap(({ parts }) => parts);
  expect(result).toMatchObject({ isError: true });
  expect(JSON.stringify(result?.result)).toContain(word);
  expect(said.at(-1)).toMatchObject({ parts: [{ text: "Sorry." }] });
});

test("a model that says nothing at all ends the turn without a message of nothing", async () => {
  const { shown, said } = await turn([{}]);
  expect([shown?.status, said.flatMap(({ parts }) => parts)]).toEqual(["WAITING", []]);
});

test("40 calls in one step are all answered, in their order", async () => {
  const calls = Array.from({ length: 40 }, (_, index) => echo(String(index), `call_${index}`));
  const { said } = await turn([{ toolCalls: calls }, { text: "Done." }]);
  const results = said.filter(({ role }) => role === "TOOL").flatMap(({ parts }) => parts);
  expect(results.map(({ result }) => (result as { output: string }).output)).toEqual(
    calls.map((_, index) => `${index}\n`),
  );
});
