import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { join } from "node:path";
import { makeFifo } from "../../agent/files/fifo.js";
import { type GatedModel, startGatedModel } from "../../support/models/gated-model.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";
import { textOf, type Transcript } from "../../support/clients/transcript.js";

let environment: TestEnvironment;
let model: GatedModel;
let parley: TestParley;
beforeAll(async () => {
  environment = await createTestEnvironment();
});
beforeEach(async () => {
  model = await startGatedModel();
  parley = await environment.start(model.settings);
});
afterEach(async () => {
  await parley.close();
  await model.close();
});
afterAll(() => environment.remove());

const LONG = "[[demo: deltas=1000 delay=1]]";

/** A chat whose model has streamed a few words and is paused until the test resumes it. */
async function speaking(request = LONG) {
  const chatId = await parley.api.createChat(request, { workspaceId: parley.workspaceId });
  const follower = parley.api.follow(chatId);
  model.clock.let(3);
  await follower.until(({ preview }) => preview?.parts.get(0)?.text === "word1 word2 word3 word4 ");
  return { chatId, follower, transcript: follower.transcript };
}

function interrupt(chatId: string) {
  return parley.api.change("interruptChat", { chatId }, "chat { id status }");
}

test("an interrupt saves the model's partial output, and the chat continues from there", async () => {
  const { chatId, follower, transcript } = await speaking();
  const { userErrors } = await interrupt(chatId);
  await follower.untilStatus("WAITING");
  expect({ userErrors, answers: transcript.answers, breaches: transcript.breaches }).toEqual({
    userErrors: [],
    answers: ["word1 word2 word3 word4 "],
    breaches: [],
  });
  expect(transcript.messages).toEqual((await parley.api.chat(chatId))?.messages.nodes);

  await parley.api.send(chatId, "hello");
  await follower.until(({ messages, status }) => messages.length === 4 && status === "WAITING");
  expect(model.requests.at(-1)?.turns.map((turn) => ("text" in turn ? turn.text : ""))).toEqual([
    LONG,
    "word1 word2 word3 word4 ",
    "hello",
  ]);
  await follower.close();
});

test("an interrupt of a running tool ends its process, keeps finished results and cancels the rest", async () => {
  const fifo = makeFifo(join(environment.repository.folder, "held"));
  const chatId = await parley.api.createChat("run `echo one` then run `exec sleep 1000 > held`", {
    workspaceId: parley.workspaceId,
  });
  const follower = parley.api.follow(chatId);
  const { transcript } = follower;
  await fifo.opened;
  await interrupt(chatId);
  await follower.untilStatus("WAITING");
  const results = transcript.messages.filter(({ role }) => role === "TOOL").map(({ parts }) => parts);
  expect(results).toMatchObject([
    [{ isError: false, result: { output: "one\n" } }],
    [{ isError: true, result: { error: "The call was interrupted before it had a result." } }],
  ]);
  expect(transcript.breaches).toEqual([]);
  expect(transcript.messages).toEqual((await parley.api.chat(chatId))?.messages.nodes);
  await fifo.closed;
  await follower.close();
});

test("an edit during a turn replaces it, and its late output is dropped", async () => {
  const { chatId, follower, transcript } = await speaking();
  const first = transcript.messages[0]!;
  const edit = { messageId: first.id, parts: [{ text: { text: "hello" } }] };
  const { userErrors } = await parley.api.change("editChatMessage", edit, "message { id } chat { status }");
  model.clock.open();
  await follower.until(({ messages, status }) => status === "WAITING" && messages.length === 2);
  expect({ userErrors, breaches: transcript.breaches, texts: transcript.messages.map(textOf)[0] }).toEqual({
    userErrors: [],
    breaches: [],
    texts: "hello",
  });
  expect(transcript.log.filter((name) => name.startsWith("refresh"))).toEqual([
    "refresh FIRST_SNAPSHOT",
    "refresh HISTORY_EDITED",
  ]);
  expect(transcript.answers[0]).toContain("I am Parley's demo model");
  expect(transcript.messages).toEqual((await parley.api.chat(chatId))?.messages.nodes);
  expect(transcript.messages[0]?.id).not.toBe(first.id);
  await follower.close();
});

test("a message sent with INTERRUPT stops the turn, saves its output and is answered next, before queued messages", async () => {
  const { chatId, follower, transcript } = await speaking();
  for (const text of ["one", "two"]) await parley.api.send(chatId, text);
  const sent = await parley.api.send(chatId, "hello", { whenBusy: "INTERRUPT" });
  await follower.until(({ messages, status }) => status === "WAITING" && messages.length === 8);
  expect(sent).toMatchObject({ userErrors: [], message: null, queuedMessage: { id: expect.any(String) } });
  const texts = transcript.messages.map(textOf);
  expect([texts[1], ...texts.filter((_, index) => index % 2 === 0)]).toEqual([
    "word1 word2 word3 word4 ",
    ...[LONG, "hello", "one", "two"],
  ]);
  expect(queuesOf(transcript)).toEqual([
    ["one"],
    ["one", "two"],
    ["hello", "one", "two"],
    ["one", "two"],
    ["two"],
    [],
  ]);
  expect({ breaches: transcript.breaches, queue: transcript.queue }).toEqual({ breaches: [], queue: [] });
  await follower.close();
});

/** The successive states of the queue, in order. */
function queuesOf({ events }: Transcript): string[][] {
  return events.flatMap((event) =>
    event.__typename === "ChatQueueEvent"
      ? [event.queuedMessages.map(({ parts }) => parts[0]?.text ?? "")]
      : [],
  );
}
