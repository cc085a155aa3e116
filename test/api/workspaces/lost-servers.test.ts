import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeFifo } from "../../agent/files/fifo.js";
import { ApiClient, Follower } from "../../support/clients/api-client.js";
import { createTestEnvironment, type TestEnvironment } from "../../support/parley.js";
import { textOf, type Transcript } from "../../support/clients/transcript.js";

let environment: TestEnvironment;
beforeEach(async () => {
  environment = await createTestEnvironment();
});
afterEach(() => environment.remove());

const SHORT_LEASE = { PARLEY_LEASE_MS: "2000", PARLEY_HEARTBEAT_MS: "500" };
const ANSWER = Array.from({ length: 300 }, (_, index) => `word${index + 1} `).join("");
const REQUEST = "[[demo: deltas=300 delay=5]]";

/** A server with a running turn, and a subscriber who has received part of it. */
async function startTurn(request = REQUEST) {
  const server = await environment.spawn(SHORT_LEASE);
  const chatId = await server.api.createChat(request);
  const follower = server.api.follow(chatId);
  await follower.until(({ preview }) => (preview?.sequence ?? 0) >= 10);
  return { server, chatId, transcript: follower.transcript };
}

/** Continues with the same transcript on another server until the chat is idle. */
async function resume(api: ApiClient, chatId: string, transcript: Transcript): Promise<void> {
  transcript.reopened();
  const follower = new Follower(api, chatId, transcript);
  await follower.untilStatus("WAITING");
  await follower.close();
}

test("a turn whose server is killed is finished by the next one, and its subscriber ends up with the same text", async () => {
  const { server, chatId, transcript } = await startTurn();
  expect(await server.end("SIGKILL")).toEqual({ code: null, signal: "SIGKILL" });
  const lostAt = transcript.log.length;

  const next = await environment.spawn(SHORT_LEASE);
  await resume(next.api, chatId, transcript);
  const since = transcript.log.slice(lostAt).filter((name) => !name.startsWith("part "));
  const shown = await next.api.chat(chatId);
  expect({ since, breaches: transcript.breaches, messages: transcript.messages }).toEqual({
    since: ["preview-reset WORKER_LOST", "caught-up", "message ASSISTANT", "status WAITING"],
    breaches: [],
    messages: shown?.messages.nodes,
  });
  expect(shown?.messages.nodes.map((message) => [message.role, textOf(message)])).toEqual([
    ["USER", REQUEST],
    ["ASSISTANT", ANSWER],
  ]);
});

test("a server that shuts down releases its turn, and the next one continues it", async () => {
  const { server, chatId, transcript } = await startTurn();
  expect(await server.end("SIGTERM")).toEqual({ code: 0, signal: null });
  const [row] = await environment.database.dataSource.query("SELECT status, worker_id, runner_id FROM chats");
  expect(row).toEqual({ status: "pending", worker_id: null, runner_id: null });

  const next = await environment.spawn(SHORT_LEASE);
  await resume(next.api, chatId, transcript);
  const shown = await next.api.chat(chatId);
  expect({ breaches: transcript.breaches, messages: transcript.messages }).toEqual({
    breaches: [],
    messages: shown?.messages.nodes,
  });
  expect(transcript.answers).toEqual([ANSWER]);
});

test("a tool that ran when its server was killed is run by the next one, and returns one result", async () => {
  const server = await environment.spawn(SHORT_LEASE);
  const fifo = makeFifo(join(environment.repository.folder, "held"));
  const request = "run `if [ -e again ]; then echo second; else touch again; exec sleep 1000 > held; fi`";
  const chatId = await server.api.createChat(request);
  const follower = server.api.follow(chatId);
  await Promise.all([fifo.opened, follower.until(({ messages }) => messages.length === 2)]);
  await server.end("SIGKILL");
  // The agent and its commands end with the server.
  await fifo.closed;

  const next = await environment.spawn(SHORT_LEASE);
  await resume(next.api, chatId, follower.transcript);
  const shown = await next.api.chat(chatId);
  expect(follower.transcript.messages).toEqual(shown?.messages.nodes);
  expect(follower.transcript.breaches).toEqual([]);
  expect(shown?.messages.nodes.map(({ role }) => role)).toEqual(["USER", "ASSISTANT", "TOOL", "ASSISTANT"]);
  expect(shown?.messages.nodes[2]?.parts).toMatchObject([{ isError: false, result: { output: "second\n" } }]);
});
