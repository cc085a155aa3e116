// The log of the real program, line by line: request IDs, chat IDs, and no secrets.
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createClient } from "graphql-ws";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { decodeId } from "../../../src/domain/common/ids.js";
import {
  ADMIN_TOKEN,
  createTestEnvironment,
  type SpawnedParley,
  type TestEnvironment,
} from "../../support/parley.js";
import { SECRETS_KEYS } from "../../support/users/secrets-keys.js";

type Line = Record<string, unknown> & { msg: string };

const KEY = "sk-ant-hush-hush-key";
let environment: TestEnvironment;
let server: SpawnedParley;
let vendorUrl: string;
const lines: Line[] = [];
const waiting: (() => void)[] = [];
// Refuses every call, so that turns write log lines.
const vendor = createServer((_request, response) => {
  const body = { type: "error", error: { type: "authentication_error", message: "invalid key" } };
  response.writeHead(401, { "content-type": "application/json" }).end(JSON.stringify(body));
});

beforeAll(async () => {
  vendor.listen(0, "127.0.0.1");
  [environment] = await Promise.all([createTestEnvironment(), once(vendor, "listening")]);
  vendorUrl = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`;
  server = await environment.spawn(
    {
      PARLEY_LOG_LEVEL: "debug",
      ANTHROPIC_API_KEY: KEY,
      ANTHROPIC_BASE_URL: vendorUrl,
      PARLEY_MODEL: "claude-of-the-test",
      PARLEY_RATE_LIMITS: "on",
      PARLEY_RATE_LIMIT_USER_MUTATIONS: "1",
    },
    (line) => {
      lines.push(JSON.parse(line) as Line);
      for (const wake of waiting.splice(0)) wake();
    },
  );
});
afterAll(async () => {
  await environment.remove();
  vendor.close();
});

async function line(matches: (line: Line) => boolean): Promise<Line> {
  for (;;) {
    const found = lines.find(matches);
    if (found) return found;
    await new Promise<void>((resolve) => waiting.push(resolve));
  }
}

const CREATE = `mutation { createChat(input: { parts: [{ text: { text: "hush-hush words" } }] }) { chat { id } } }`;
const ask = (query: string, headers: Record<string, string> = {}) =>
  fetch(`${server.api.url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${ADMIN_TOKEN}`, ...headers },
    body: JSON.stringify({ query }),
  });

test("log lines of a turn have its chat ID and not the request that started it", async () => {
  const answer = await ask(CREATE, { "x-request-id": "creates.the-chat" });
  expect(answer.headers.get("x-request-id")).toBe("creates.the-chat");
  const { data } = (await answer.json()) as { data: { createChat: { chat: { id: string } } } };
  const chatId = decodeId("chat", data.createChat.chat.id);
  const failed = await line(({ msg }) => msg.startsWith("model call failed"));
  expect([failed.requestId, failed.chatId]).toEqual([undefined, chatId]);
});

test("log lines of a request have its ID, which the response contains", async () => {
  const answer = await ask(CREATE, { "x-request-id": "asks.too-often" });
  expect([answer.status, answer.headers.get("x-request-id")]).toEqual([429, "asks.too-often"]);
  const found = await line(({ requestId }) => requestId === "asks.too-often");
  expect(found).toMatchObject({ msg: "rate limit exceeded; requests refused", limit: "user-mutations" });
});

test.each(["", "two words", "<script>", "x".repeat(65)])(
  "a request ID like %j is replaced with a generated one",
  async (id) => {
    const answer = await ask("{ viewer { user { id } } }", { "x-request-id": id });
    expect(answer.headers.get("x-request-id")).toMatch(/^[\da-f-]{36}$/);
  },
);

test("an internal error's reference leads to its log line, on every transport", async () => {
  await environment.database.dataSource.query("ALTER TABLE workspaces RENAME TO workspaces_away");
  const query = "{ workspaces { nodes { id } } }";
  const reference = async (errors: readonly { extensions?: Record<string, unknown> }[] | undefined) =>
    line((it) => it["reference"] === errors?.[0]?.extensions?.["reference"]);
  const answer = await ask(query, { "x-request-id": "finds.no-table" });
  const body = (await answer.json()) as { errors: { extensions: Record<string, unknown> }[] };
  expect((await reference(body.errors))["requestId"]).toBe("finds.no-table");

  const client = createClient({
    url: `${server.api.url.replace("http", "ws")}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { token: ADMIN_TOKEN },
  });
  const { value } = await client.iterate({ query }).next();
  expect((await reference(value?.errors as never))["requestId"]).toMatch(/^[\da-f-]{36}$/);
  await client.dispose();
  await environment.database.dataSource.query("ALTER TABLE workspaces_away RENAME TO workspaces");
});

test("no log line contains a secret or message content", async () => {
  await server.end("SIGTERM");
  const text = JSON.stringify(lines);
  const secrets = [KEY, ADMIN_TOKEN, SECRETS_KEYS, "hush-hush"].filter((secret) => text.includes(secret));
  expect([lines.length > 5, secrets]).toEqual([true, []]);
  // Lines about the whole program have no IDs.
  expect(lines.find(({ msg }) => msg.startsWith("stopping"))).not.toHaveProperty("requestId");
});
