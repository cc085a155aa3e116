// Storage limits through the public API: who sets them, who sees them, what they refuse, and what continues to work.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encodeId } from "../../../src/domain/common/ids.js";
import type { ApiClient } from "../../support/clients/api-client.js";
import type { UserError } from "../../support/clients/api-shapes.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";
import { announce, put } from "../../support/clients/uploads.js";

const DEFAULT_BYTES = 100_000;

let environment: TestEnvironment;
let server: TestParley;
beforeAll(async () => {
  environment = await createTestEnvironment();
  server = await environment.start({ PARLEY_USER_STORAGE_BYTES: String(DEFAULT_BYTES) });
});
afterAll(() => environment.remove());

type Storage = { usedBytes: string; limitBytes: string | null; source: string };
type Changed = { userErrors: UserError[]; [field: string]: unknown };

const STORAGE = "storage { usedBytes limitBytes source }";
const EXCEEDED = `userErrors { __typename code message path ... on StorageLimitExceeded { usedBytes limitBytes } }`;

type Own = { viewer: { user: { id: string; storage: Storage } } };
const own = async (api: ApiClient) =>
  (await api.get<Own>(`{ viewer { user { id ${STORAGE} } } }`)).viewer.user;
const usedBy = async (api: ApiClient) => Number((await own(api)).storage.usedBytes);

const setLimit = (userId: string, limitBytes: unknown, api = server.api) =>
  api.change<Changed>("setUserStorageLimit", { userId, limitBytes }, `user { ${STORAGE} }`);

async function rest(api: ApiClient, chatId: string): Promise<{ status: string | undefined; kind: unknown }> {
  const follower = api.follow(chatId);
  await follower.untilStatus("WAITING", "ERROR");
  const { status } = follower.transcript;
  await follower.close();
  const chat = await api.chat(chatId);
  return { status: status ?? undefined, kind: chat?.lastError?.kind };
}

test("users have the default limit until an admin sets their own, or none", async () => {
  const ann = await server.addUser("ann");
  const { id, storage } = await own(ann);
  expect(storage).toEqual({ usedBytes: "0", limitBytes: String(DEFAULT_BYTES), source: "DEPLOYMENT" });
  const answers = [await setLimit(id, "7"), await setLimit(id, null), await setLimit(id, 0)];
  const cleared = await server.api.change<Changed>(
    "clearUserStorageLimit",
    { userId: id },
    `user { ${STORAGE} }`,
  );
  expect([...answers, cleared].map(({ user }) => user)).toEqual([
    { storage: { usedBytes: "0", limitBytes: "7", source: "USER" } },
    { storage: { usedBytes: "0", limitBytes: null, source: "USER" } },
    { storage: { usedBytes: "0", limitBytes: "0", source: "USER" } },
    { storage: { usedBytes: "0", limitBytes: String(DEFAULT_BYTES), source: "DEPLOYMENT" } },
  ]);
});

test("a negative limit, a missing one and an unknown user are refused with the field's name", async () => {
  const { id } = await own(server.api);
  const answers = await Promise.all([
    setLimit(id, "-1"),
    server.api.change<Changed>("setUserStorageLimit", { userId: id }, "user { id }"),
    setLimit(encodeId("user", randomUUID()), "1"),
    server.api.change<Changed>(
      "clearUserStorageLimit",
      { userId: encodeId("user", randomUUID()) },
      "user { id }",
    ),
  ]);
  expect(answers.map(({ userErrors }) => userErrors.map(({ code, path }) => [code, path]))).toEqual([
    [["INVALID", ["limitBytes"]]],
    [["INVALID", ["limitBytes"]]],
    [["NOT_FOUND", ["userId"]]],
    [["NOT_FOUND", ["userId"]]],
  ]);
});

test("admins see all users' storage in one list; members see only their own", async () => {
  const bea = await server.addUser("bea");
  await announce(bea, { sizeBytes: 321 });
  const query = `{ users(search: "bea") { nodes { username ${STORAGE} } } }`;
  expect((await server.api.get<{ users: { nodes: object[] } }>(query)).users.nodes).toEqual([
    {
      username: "bea",
      storage: { usedBytes: "321", limitBytes: String(DEFAULT_BYTES), source: "DEPLOYMENT" },
    },
  ]);
});

describe("a user who has reached their storage limit", () => {
  let member: ApiClient;
  let userId: string;
  let chatId: string;
  let messageId: string;
  let queuedId: string;
  let used: string;
  beforeAll(async () => {
    member = await server.addUser("hoarder");
    chatId = await member.createChat("[[demo: hang]]");
    await member.follow(chatId).untilStatus("RUNNING");
    const { queuedMessage } = await member.send(chatId, `[[demo: hang]] ${"x".repeat(5_000)}`);
    queuedId = queuedMessage?.id ?? "";
    messageId = (await member.chat(chatId))?.messages.nodes[0]?.id ?? "";
    const found = await own(member);
    userId = found.id;
    used = found.storage.usedBytes;
    await setLimit(userId, used);
  });

  const parts = [{ text: { text: "More" } }];
  const COMMANDS: [string, string, () => object][] = [
    ["createChat", "chat { id }", () => ({ parts, idempotencyKey: "one" })],
    ["sendChatMessage", "chat { id }", () => ({ chatId, parts, idempotencyKey: "two" })],
    ["editChatMessage", "chat { id }", () => ({ messageId, parts })],
    ["promoteQueuedMessage", "chat { id }", () => ({ queuedMessageId: queuedId })],
    ["compactChat", "chat { id }", () => ({ chatId })],
    ["retryChat", "chat { id }", () => ({ chatId })],
    ["createFileUpload", "file { id }", () => ({ name: "a.txt", mediaType: "text/plain", sizeBytes: 1 })],
  ];

  test.each(COMMANDS)("is refused by %s, and nothing has changed", async (name, fields, input) => {
    const before = await member.chat(chatId);
    const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input!`;
    const query = `mutation ($input: ${type}) { result: ${name}(input: $input) { ${fields} ${EXCEEDED} } }`;
    const { result } = await member.get<{ result: Changed }>(query, { input: input() });
    expect(result).toEqual({
      [fields.split(" ")[0] ?? ""]: null,
      userErrors: [
        {
          __typename: "StorageLimitExceeded",
          code: "LIMIT_EXCEEDED",
          message: expect.stringContaining("are in use by messages, queued messages and files") as string,
          path: null,
          usedBytes: used,
          limitBytes: used,
        },
      ],
    });
    expect([await member.chat(chatId), (await own(member)).storage.usedBytes]).toEqual([before, used]);
  });

  test("is also refused messages sent by an admin, whose own storage is not used", async () => {
    const { userErrors } = await server.api.send(chatId, "More");
    expect(userErrors).toMatchObject([{ __typename: "StorageLimitExceeded" }]);
  });

  test("regains the space of a deleted queued message", async () => {
    await member.change("deleteQueuedMessage", { queuedMessageId: queuedId }, "chat { id }");
    expect(Number(used) - (await usedBy(member))).toBeGreaterThan(5_000);
    const { queuedMessage, userErrors } = await member.send(chatId, "x".repeat(4_900));
    expect([queuedMessage !== null, userErrors]).toEqual([true, []]);
    expect((await member.send(chatId, "x".repeat(1_000))).userErrors).toMatchObject([
      { __typename: "StorageLimitExceeded" },
    ]);
  });
});

test("of many concurrent messages, as many are accepted as there is space for", async () => {
  const member = await server.addUser("crowd");
  const chatId = await member.createChat("[[demo: hang]]");
  await member.follow(chatId).untilStatus("RUNNING");
  const { id, storage } = await own(member);
  const limit = Number(storage.usedBytes) + 3 * 3_000 + 500;
  await setLimit(id, limit);
  const sends = Array.from({ length: 10 }, () => member.send(chatId, "x".repeat(2_950)));
  const uploads = Array.from({ length: 10 }, () => announce(member, { sizeBytes: 2_990 }));
  const taken = [
    ...(await Promise.all(sends)).map(({ userErrors }) => userErrors.length === 0),
    ...(await Promise.all(uploads)).map(({ userErrors }) => userErrors.length === 0),
  ].filter(Boolean);
  expect([taken.length, (await usedBy(member)) <= limit]).toEqual([3, true]);
});

test("an admin's storage is not revealed to the member in whose chat they write", async () => {
  const member = await server.addUser("guest");
  const chatId = await member.createChat("[[demo: hang]]");
  await server.api.send(chatId, "From an admin");
  const query = `query ($id: ID!) { node(id: $id) { ... on Chat { owner { ${STORAGE} }
    queuedMessages { author { username ${STORAGE} } } } } }`;
  type Answer = { node: { owner: { storage: object }; queuedMessages: { author: object }[] } };
  const { node } = await member.get<Answer>(query, { id: chatId });
  expect([node.owner.storage !== null, node.queuedMessages]).toEqual([
    true,
    [{ author: { username: "admin", storage: null } }],
  ]);
});

test("an announced upload reserves its space, keeps it once sent to a chat, and frees it if unused", async () => {
  const member = await server.addUser("uploader");
  const { id } = await own(member);
  await setLimit(id, 50_000);
  const [one, two] = [
    await announce(member, { sizeBytes: 20_000 }),
    await announce(member, { sizeBytes: 20_000 }),
  ];
  expect((await announce(member, { sizeBytes: 20_000 })).userErrors).toMatchObject([
    { code: "LIMIT_EXCEEDED" },
  ]);
  await setLimit(id, 40_000);
  expect((await put(one.uploadUrl, Buffer.alloc(20_000, "a"))).status).toBe(200);
  await setLimit(id, 50_000);
  const { chat } = await member.change<{ chat: { id: string } }>(
    "createChat",
    { parts: [{ text: { text: "[[demo: deltas=1]]" } }, { file: { fileId: one.file?.id } }] },
    "chat { id }",
  );
  await rest(member, chat.id);
  const withBoth = await usedBy(member);
  expect(withBoth).toBeGreaterThan(40_000);
  await environment.database.dataSource.query(
    "DELETE FROM files WHERE ready_at IS NULL AND size_bytes = 20000",
  );
  expect([withBoth - (await usedBy(member)), two.userErrors]).toEqual([20_000, []]);
});
