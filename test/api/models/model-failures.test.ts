import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";
import { textOf } from "../../support/clients/transcript.js";

let environment: TestEnvironment;
let parley: TestParley;
beforeAll(async () => {
  environment = await createTestEnvironment();
  parley = await environment.start();
});
afterAll(() => environment.remove());

/** An idle chat with a follower, which receives the whole next turn live. */
async function quietChat() {
  const { chatId, follower } = await parley.api.quietChat();
  const begun = follower.transcript.log.length;
  return {
    chatId,
    follower,
    transcript: follower.transcript,
    /** The follower's log from here on, with equal neighbours collapsed. */
    events: () => {
      const log = follower.transcript.log.slice(begun);
      return log.filter((name, index) => name !== log[index - 1]);
    },
    /** Sends a message and waits until its turn has ended with the status. */
    say: async (text: string, status: string) => {
      const before = follower.transcript.log.length;
      await parley.api.send(chatId, text);
      await follower.until(({ log }) => log.lastIndexOf(`status ${status}`) >= before);
    },
  };
}

const WORDS = "word1 word2 word3 word4 word5 word6 ";
const BEGIN = ["message USER", "status PENDING", "status RUNNING"];
const ANSWER = ["part ASSISTANT TextDelta", "message ASSISTANT", "status WAITING"];

test("a call to an overloaded model is retried, and users are notified", async () => {
  const { follower, transcript, say, events } = await quietChat();
  await say("[[demo: error=529 times=1 deltas=6]]", "WAITING");
  expect({ events: events(), answer: transcript.answers.at(-1), breaches: transcript.breaches }).toEqual({
    events: [...BEGIN, "retry 1", ...ANSWER],
    answer: WORDS,
    breaches: [],
  });
  const retry = transcript.events.find(({ __typename }) => __typename === "ChatRetryEvent");
  expect(retry).toMatchObject({
    generation: { attempt: 1 },
    retry: {
      attempt: 1,
      delayMs: expect.any(Number),
      failure: { kind: "OVERLOADED", httpStatus: 529, isRetryable: true },
    },
  });
  await follower.close();
});

test.each([
  ["is cut off", "[[demo: cut=3 times=1 deltas=6 delay=30]]"],
  ["ends before it is finished", "[[demo: end=3 times=1 deltas=6 delay=30]]"],
  ["ends with an error event", "[[demo: sse-error=overloaded_error times=1 deltas=6 delay=30]]"],
])("a response that %s is discarded and retried", async (_case, message) => {
  const { chatId, follower, transcript, say, events } = await quietChat();
  await say(message, "WAITING");
  expect({ events: events(), breaches: transcript.breaches, answer: transcript.answers.at(-1) }).toEqual({
    events: [...BEGIN, "part ASSISTANT TextDelta", "retry 1", "preview-reset RETRY", ...ANSWER],
    breaches: [],
    answer: WORDS,
  });
  expect(transcript.messages).toEqual((await parley.api.chat(chatId))?.messages.nodes);
  await follower.close();
});

test("a rejected key ends the turn in ERROR with the reason, and the next message starts a new turn", async () => {
  const { chatId, follower, transcript, say, events } = await quietChat();
  await say("[[demo: error=401]]", "ERROR");
  await follower.until(({ failure }) => failure !== null);
  const shown = await parley.api.chat(chatId);
  expect({ events: events(), status: shown?.status, lastError: shown?.lastError }).toEqual({
    events: [...BEGIN, "status ERROR", "error AUTH"],
    status: "ERROR",
    lastError: transcript.failure,
  });
  expect(transcript.failure).toMatchObject({ kind: "AUTH", httpStatus: 401, isRetryable: false });

  // The vendor receives both messages as one; the later marker takes effect.
  await say("[[demo: error=0 deltas=6]]", "WAITING");
  const after = await parley.api.chat(chatId);
  expect({
    lastError: after?.lastError,
    failure: transcript.failure,
    answer: transcript.answers.at(-1),
  }).toEqual({
    lastError: null,
    failure: null,
    answer: WORDS,
  });
  await follower.close();
});

test("retryChat repeats a failed turn with all its attempts, and is refused without one", async () => {
  const { chatId, follower, transcript, say, events } = await quietChat();
  await say("[[demo: error=401 times=1 deltas=6]]", "ERROR");
  const history = (await parley.api.chat(chatId))?.messages.nodes ?? [];
  const mark = transcript.log.length;
  const retry = () =>
    parley.api.change("retryChat", { chatId }, "eventCursor chat { id lastError { kind } }");
  expect(await retry()).toEqual({
    eventCursor: expect.any(String),
    chat: { id: chatId, lastError: null },
    userErrors: [],
  });
  await follower.until(({ log, status }) => status === "WAITING" && log.length > mark);
  const shown = await parley.api.chat(chatId);
  expect({
    events: events().slice(BEGIN.length + 2),
    remaining: shown?.messages.nodes.slice(0, history.length),
    answer: transcript.answers.at(-1),
    lastError: shown?.lastError,
    breaches: transcript.breaches,
  }).toEqual({
    events: [...BEGIN.slice(1), ...ANSWER],
    remaining: history,
    answer: WORDS,
    lastError: null,
    breaches: [],
  });
  expect(transcript.messages).toEqual(shown?.messages.nodes);
  const refusal = { code: "CONFLICT", message: expect.any(String), path: null };
  expect(await retry()).toEqual({
    eventCursor: null,
    chat: null,
    userErrors: [{ __typename: "Conflict", currentStatus: "WAITING", ...refusal }],
  });

  await say("[[demo: error=401]]", "ERROR");
  await parley.api.change("archiveChat", { chatId }, "chat { id }");
  expect((await retry()).userErrors).toMatchObject([
    { code: "CONFLICT", message: "The chat is archived. Unarchive it first.", currentStatus: "ERROR" },
  ]);
  await follower.close();
});

test("a filtered response is replaced by a new attempt, and subscribers refresh the chat", async () => {
  const { chatId, follower, transcript, say } = await quietChat();
  await say("[[demo: deltas=6 finish=content-filter]]", "ERROR");
  const filtered = (await parley.api.chat(chatId))?.messages.nodes.at(-1)?.id;
  await parley.api.change("retryChat", { chatId }, "chat { id }");
  await follower.until(({ log, status }) => status === "ERROR" && log.includes("refresh HISTORY_EDITED"));
  const nodes = (await parley.api.chat(chatId))?.messages.nodes ?? [];
  expect([nodes.some(({ id }) => id === filtered), textOf(nodes.at(-1)!)]).toEqual([false, WORDS]);
  expect(transcript.breaches).toEqual([]);
  await follower.close();
});

test("a response filtered by the vendor is saved partially, and the turn ends in ERROR", async () => {
  const { chatId, follower, transcript, say } = await quietChat();
  await say("[[demo: deltas=6 finish=content-filter]]", "ERROR");
  const shown = await parley.api.chat(chatId);
  expect({ last: textOf(shown!.messages.nodes.at(-1)!), kind: shown?.lastError?.kind }).toEqual({
    last: WORDS,
    kind: "CONTENT_FILTERED",
  });
  expect(transcript.breaches).toEqual([]);
  await follower.close();
});

test("an interrupt during a retry delay ends the turn at once", async () => {
  const { chatId, follower, transcript, events } = await quietChat();
  await parley.api.send(chatId, "[[demo: error=529 retry-after=200]]");
  await follower.until(({ log }) => log.includes("retry 1"));
  await parley.api.change("interruptChat", { chatId }, "chat { id }");
  await follower.until(({ log }) => log.at(-1) === "status WAITING");
  expect({ events: events(), retry: await retryOf(chatId), breaches: transcript.breaches }).toEqual({
    events: [...BEGIN, "retry 1", "status INTERRUPTING", "status WAITING"],
    retry: null,
    breaches: [],
  });
  await follower.close();
});

async function retryOf(chatId: string): Promise<unknown> {
  const query = "query ($chatId: ID!) { chat(id: $chatId) { retry { attempt } } }";
  return (await parley.api.get<{ chat: { retry: unknown } }>(query, { chatId })).chat.retry;
}
