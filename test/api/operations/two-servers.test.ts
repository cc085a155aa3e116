import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";
import { Transcript, textOf } from "../../support/clients/transcript.js";
import { Follower } from "../../support/clients/api-client.js";

let environment: TestEnvironment;
beforeEach(async () => {
  environment = await createTestEnvironment();
});
afterEach(() => environment.remove());

const BEAT = { PARLEY_LEASE_MS: "2000", PARLEY_HEARTBEAT_MS: "200" };

/** Follows the chat on every server: its worker publishes events immediately, the others with their next sweep. */
async function rest(servers: TestParley[], chatId: string): Promise<void> {
  const followers = servers.map((server) => server.api.follow(chatId));
  await Promise.any(followers.map((follower) => follower.untilStatus("WAITING")));
  await Promise.all(followers.map((follower) => follower.close()));
}

test("two servers on one database run every chat's turn once", async () => {
  const servers = [await environment.start(BEAT), await environment.start(BEAT)];
  const chats = await Promise.all(
    Array.from({ length: 40 }, async (_, index) => {
      const server = servers[index % 2]!;
      return { server, chatId: await server.api.createChat(`[[demo: deltas=3 delay=5]] ${index}`) };
    }),
  );
  await Promise.all(chats.map(({ chatId }) => rest(servers, chatId)));
  for (const { server, chatId } of chats) {
    const shown = await server.api.chat(chatId);
    expect([shown?.status, shown?.messages.nodes.map(textOf).slice(1)]).toEqual([
      "WAITING",
      ["word1 word2 word3 "],
    ]);
  }
  const runners = await environment.database.dataSource.query("SELECT count(*)::int AS n FROM worker_leases");
  expect(runners).toEqual([{ n: 2 }]);
});

test("one server's work reaches the other's subscribers", async () => {
  const worker = await environment.start(BEAT);
  const apiServer = await environment.start({ ...BEAT, PARLEY_ROLE: "api" });
  const chatId = await apiServer.api.createChat("[[demo: deltas=3]]");
  const early = apiServer.api.follow(chatId);
  await early.until(({ isCaughtUp }) => isCaughtUp);
  await rest([worker], chatId);

  const newest = (await worker.api.chat(chatId))?.eventCursor ?? null;
  const late = new Follower(apiServer.api, chatId, new Transcript(newest));
  await late.until(({ isCaughtUp }) => isCaughtUp);
  await early.untilStatus("WAITING");
  const shown = await apiServer.api.chat(chatId);
  expect({
    early: early.transcript.messages,
    late: late.transcript.log,
    breaches: early.transcript.breaches,
  }).toEqual({
    early: shown?.messages.nodes,
    late: ["caught-up"],
    breaches: [],
  });

  // The API server's cache still has the chat as it was created; its commands must not rely on it.
  await apiServer.api.send(chatId, "[[demo: deltas=4]]");
  const second = worker.api.follow(chatId);
  await second.until(({ messages, status }) => messages.length === 4 && status === "WAITING");
  expect((await apiServer.api.chat(chatId))?.messages.nodes.map(textOf)).toEqual([
    "[[demo: deltas=3]]",
    "word1 word2 word3 ",
    "[[demo: deltas=4]]",
    "word1 word2 word3 word4 ",
  ]);
  await Promise.all([early.close(), late.close(), second.close()]);
});

test("an interrupt on one server stops the turn running on the other", async () => {
  const worker = await environment.start(BEAT);
  const apiServer = await environment.start({ ...BEAT, PARLEY_ROLE: "api" });
  const chatId = await worker.api.createChat("[[demo: hang=2]]");
  const follower = worker.api.follow(chatId);
  await follower.until(({ preview }) => preview !== null);
  await apiServer.api.change("interruptChat", { chatId }, "chat { id }");
  await follower.untilStatus("WAITING");
  await follower.close();
  const shown = await apiServer.api.chat(chatId);
  expect([shown?.status, shown?.messages.nodes.map(textOf)]).toEqual([
    "WAITING",
    ["[[demo: hang=2]]", "word1 word2 "],
  ]);
});
