// Random commands in any order and concurrently: nothing breaks, and all subscribers end up with the same history.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ApiClient, Follower } from "../../support/clients/api-client.js";
import type { Payload } from "../../support/clients/api-shapes.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";
import { randomNumbers } from "../../support/random.js";
import { scaled } from "../../support/scale.js";
import { Transcript } from "../../support/clients/transcript.js";

let environment: TestEnvironment;
let parley: TestParley;
beforeAll(async () => {
  environment = await createTestEnvironment();
  parley = await environment.start();
});
afterAll(() => environment.remove());

const COMMANDS = scaled(400);
const REQUESTS = [
  "[[demo: deltas=20 delay=2 reasoning]]",
  "[[demo: deltas=3]]",
  "run `echo one` then run `sleep 0.05; echo two`",
  "run `sleep 5`",
  "[[demo: cut=2 times=1 deltas=4]]",
  "[[demo: error=401]]",
];

type Random = (below: number) => number;

/** Sends one random command that suits the chat's current state. */
async function doSomething(api: ApiClient, chatId: string, random: Random): Promise<string[]> {
  const chat = await api.chat(chatId);
  const pick = <T>(list: readonly T[]): T | undefined => list[random(list.length)];
  const change = (name: string, input: object) => api.change<Payload>(name, input, "chat { id }");
  const parts = [{ text: { text: `${pick(REQUESTS)} ${random(1_000_000)}` } }];
  const run = async (): Promise<Payload | undefined> => {
    switch (random(10)) {
      case 0:
      case 1:
      case 2:
        return change("sendChatMessage", { chatId, parts });
      case 3:
        return change("sendChatMessage", { chatId, parts, whenBusy: "INTERRUPT" });
      case 4:
      case 5:
        return change("interruptChat", { chatId });
      case 6: {
        const queued = pick(chat?.queuedMessages ?? []);
        return queued && change("promoteQueuedMessage", { queuedMessageId: queued.id });
      }
      case 7: {
        const queued = pick(chat?.queuedMessages ?? []);
        return queued && change("deleteQueuedMessage", { queuedMessageId: queued.id });
      }
      case 8: {
        const message = pick(chat?.messages.nodes.filter(({ role }) => role === "USER").slice(-2) ?? []);
        return message && change("editChatMessage", { messageId: message.id, parts });
      }
      default:
        await change("archiveChat", { chatId });
        return change("unarchiveChat", { chatId });
    }
  };
  const payload = await run();
  return (payload?.userErrors ?? []).map(({ code }) => code);
}

test.each([1, 2, 3])(
  "random commands leave all subscribers with the same history (seed %i)",
  async (seed) => {
    const random = randomNumbers(seed);
    const chatId = await parley.api.createChat(REQUESTS[0]!, { workspaceId: parley.workspaceId });
    const steady = parley.api.follow(chatId);
    const shaky = new Transcript();
    let follower = new Follower(parley.api, chatId, shaky);
    const refusals = new Set<string>();
    for (let done = 0; done < COMMANDS;) {
      const count = 1 + random(3);
      const codes = await Promise.all(
        Array.from({ length: count }, () => doSomething(parley.api, chatId, random)),
      );
      codes.flat().forEach((code) => refusals.add(code));
      done += count;
      const seen = steady.transcript.events.length + random(6);
      await steady.until(
        ({ events, status }) => events.length > seen || status === "WAITING" || status === "ERROR",
      );
      if (random(4) > 0) continue;
      await follower.cut();
      shaky.reopened();
      follower = new Follower(parley.api, chatId, shaky);
    }
    const last = "[[demo: error=0 deltas=2 delay=0]] the end";
    // Messages queued behind a failed turn are only sent when promoted.
    for (const { id } of (await parley.api.chat(chatId))?.queuedMessages ?? []) {
      await parley.api.change("deleteQueuedMessage", { queuedMessageId: id }, "deletedId");
    }
    const { queuedMessage } = await parley.api.send(chatId, last, { whenBusy: "INTERRUPT" });
    const isSent = ({ messages }: Transcript) => messages.some(({ parts }) => parts[0]?.text === last);
    await steady.until((it) => isSent(it) || (it.status === "ERROR" && it.queue.includes(last)));
    if (!isSent(steady.transcript)) {
      await parley.api.change("promoteQueuedMessage", { queuedMessageId: queuedMessage?.id }, "chat { id }");
    }
    const isOver = (it: Transcript) =>
      isSent(it) && it.isCaughtUp && (it.status === "WAITING" || it.status === "ERROR");
    await Promise.all([steady.until(isOver), follower.until(isOver)]);

    const shown = await parley.api.chat(chatId);
    const tail = shown?.messages.nodes.slice(-20);
    expect({
      steady: steady.transcript.messages.slice(-20),
      shaky: shaky.messages.slice(-20),
      steadyBreaches: steady.transcript.breaches,
      shakyBreaches: shaky.breaches,
      previews: [steady.transcript.preview, shaky.preview],
    }).toEqual({ steady: tail, shaky: tail, steadyBreaches: [], shakyBreaches: [], previews: [null, null] });
    expect(
      [...refusals].filter((code) => !["CONFLICT", "NOT_FOUND", "LIMIT_EXCEEDED"].includes(code)),
    ).toEqual([]);
    await Promise.all([steady.close(), follower.close()]);
  },
  60_000,
);

test("every call in every history has exactly one result, and no idle chat is claimed", async () => {
  const rows = await environment.database.dataSource.query(`
    SELECT m.chat_id, part->>'toolCallId' AS call,
      count(*) FILTER (WHERE part->>'type' = 'tool-call')::int AS asked,
      count(*) FILTER (WHERE part->>'type' = 'tool-result')::int AS answered
    FROM chat_messages m, jsonb_array_elements(m.content) AS part
    WHERE NOT m.is_deleted AND part->>'type' IN ('tool-call', 'tool-result')
    GROUP BY 1, 2 HAVING count(*) <> 2`);
  const claims = await environment.database.dataSource.query(
    "SELECT id, status FROM chats WHERE (status IN ('waiting', 'error')) <> (runner_id IS NULL AND worker_id IS NULL)",
  );
  expect({ rows, claims }).toEqual({ rows: [], claims: [] });
});
