// A server whose database breaks connections, restarts or is not up yet: it survives, reports it, and recovers by
// itself.
import { randomUUID } from "node:crypto";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../../src/lib/clock.js";
import { type ApiClient, Follower } from "../../support/clients/api-client.js";
import { eventually } from "../../support/eventually.js";
import { createTestEnvironment, type SpawnedParley, type TestEnvironment } from "../../support/parley.js";
import { textOf, type Transcript } from "../../support/clients/transcript.js";

let environment: TestEnvironment;
beforeEach(async () => {
  environment = await createTestEnvironment();
});
afterEach(() => environment.remove());

const WRITERS = 12;
const MESSAGES_EACH = 3;
/** Time between two broken connections. */
const BREAK_EVERY_MS = 60;

type Seen = { data: object | null; errors: { extensions: { code: string } }[] };

/** Repeats the request until it succeeds. Returns the error codes received until then. */
async function insist(
  api: ApiClient,
  query: string,
  variables: object,
): Promise<{ data: object; codes: string[] }> {
  const codes: string[] = [];
  return eventually(async () => {
    const { data, errors }: Seen = await api.ask(query, variables);
    codes.push(...errors.map(({ extensions }) => extensions.code));
    if (data === null || errors.length > 0) throw new Error(`It failed: ${JSON.stringify(errors)}`);
    return { data, codes };
  });
}

const SEND = `mutation ($input: SendChatMessageInput!) {
  result: sendChatMessage(input: $input) { chat { id } userErrors { message } } }`;

/** Resubscribes after every end of the stream, as a client does. */
async function followTo(api: ApiClient, chatId: string, transcript: Transcript, isSo: () => boolean) {
  await eventually(async () => {
    transcript.reopened();
    const follower = new Follower(api, chatId, transcript);
    try {
      await follower.until(isSo);
    } finally {
      await follower.close();
    }
  });
}

test("randomly broken database connections lose no message and leave no reader with stale state", async () => {
  const { api } = await environment.start();
  const chats = await Promise.all(
    Array.from({ length: WRITERS }, (_, number) => api.createChat(`[[demo: deltas=3 delay=5]] ${number}`)),
  );
  const { dataSource } = environment.database;
  let broken = 0;
  const stopBreaking = systemClock.every(BREAK_EVERY_MS, () => {
    const text = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()
      AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1`;
    // The broken connection may have been this one.
    dataSource.query(text).then(
      () => (broken += 1),
      () => undefined,
    );
  });
  const codes = new Set<string>();
  const write = async (chatId: string) => {
    for (let count = 1; count <= MESSAGES_EACH; count += 1) {
      const parts = [{ text: { text: `[[demo: deltas=3 delay=20]] more ${count}` } }];
      const input = { chatId, parts, idempotencyKey: randomUUID() };
      const heard = await insist(api, SEND, { input });
      for (const code of heard.codes) codes.add(code);
    }
  };
  const followers = chats.map((chatId) => api.follow(chatId));
  await Promise.all(chats.map(write));
  expect(broken).toBeGreaterThan(0);
  stopBreaking();
  const messages = 2 * (1 + MESSAGES_EACH);
  for (const [number, chatId] of chats.entries()) {
    const { transcript } = followers[number]!;
    await followers[number]!.close();
    await followTo(api, chatId, transcript, () => transcript.messages.length === messages);
    const shown = await eventually(async () => {
      const chat = await api.chat(chatId);
      expect(chat?.status).toBe("WAITING");
      return chat;
    });
    expect(transcript.messages).toEqual(shown?.messages.nodes);
    expect(shown?.messages.nodes.filter(({ role }) => role === "ASSISTANT").map(textOf)).toEqual(
      Array.from({ length: 1 + MESSAGES_EACH }, () => "word1 word2 word3 "),
    );
  }
  codes.delete("UNAVAILABLE");
  expect([...codes]).toEqual([]);
});

const ANSWER = Array.from({ length: 100 }, (_, index) => `word${index + 1} `).join("");
const REQUEST = "[[demo: deltas=100 delay=20]]";

test("the embedded database: a killed server's chats continue at the next start, and servers survive its restart", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "parley-embedded-"));
  await chmod(dataDir, 0o755);
  // Nothing may depend on the expiry of a lease.
  const settings = {
    DATABASE_URL: "",
    PARLEY_SECRETS_KEYS: "",
    PARLEY_DATA_DIR: dataDir,
    PARLEY_LEASE_MS: "86400000",
  };
  const begin = async ({ api }: SpawnedParley) => {
    const chatId = await api.createChat(REQUEST);
    const follower = api.follow(chatId);
    await follower.until(({ preview }) => (preview?.sequence ?? 0) >= 3);
    return { chatId, transcript: follower.transcript };
  };
  const finish = async (
    { api }: SpawnedParley,
    { chatId, transcript }: Awaited<ReturnType<typeof begin>>,
  ) => {
    await followTo(api, chatId, transcript, () => transcript.status === "WAITING");
    const shown = await api.chat(chatId);
    expect(shown?.messages.nodes.map(textOf)).toEqual([REQUEST, ANSWER]);
    expect(transcript.messages).toEqual(shown?.messages.nodes);
  };
  try {
    const killed = await environment.spawn(settings);
    const left = await begin(killed);
    await killed.end("SIGKILL");
    const server = await environment.spawn(settings);
    await finish(server, left);

    const running = await begin(server);
    const [postmaster] = (await readFile(join(dataDir, "postgres/postmaster.pid"), "utf8")).split("\n");
    process.kill(Number(postmaster), "SIGINT");
    const answers: string[] = [];
    await eventually(async () => {
      const { errors }: Seen = await server.api.ask("{ chats(first: 1) { nodes { id } } }");
      answers.push(errors[0]?.extensions.code ?? "OK");
      expect([answers.includes("UNAVAILABLE"), answers.at(-1)]).toEqual([true, "OK"]);
    });
    expect(new Set(answers)).toEqual(new Set(["UNAVAILABLE", "OK"]));
    await finish(server, running);
    expect(server.child.exitCode).toBeNull();
    expect(await server.end("SIGTERM")).toEqual({ code: 0, signal: null });
  } finally {
    await environment.remove();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
});

test("an uncaught error is logged, releases chats and ends the server with its own exit code", async () => {
  const trap = join(environment.repository.folder, "trap.mjs");
  await writeFile(
    trap,
    `process.on("SIGUSR2", () => { throw new Error("a bug", { cause: new Error("its cause") }) })`,
  );
  const log: string[] = [];
  const settings = { NODE_OPTIONS: `--import=${trap}`, PARLEY_LOG_LEVEL: "info" };
  const server = await environment.spawn(settings, (line) => log.push(line));
  const chatId = await server.api.createChat(REQUEST);
  const follower = server.api.follow(chatId);
  await follower.until(({ preview }) => (preview?.sequence ?? 0) >= 3);
  expect(await server.end("SIGUSR2")).toEqual({ code: 70, signal: null });
  const fatal = log.find((line) => line.includes("uncaught error"));
  expect(fatal).toContain("a bug");
  expect(fatal).toContain("its cause");
  const [row] = await environment.database.dataSource.query("SELECT status, worker_id FROM chats");
  expect(row).toEqual({ status: "pending", worker_id: null });
});
