// Administration of user accounts through the public API of a real server.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ApiClient } from "../../support/clients/api-client.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";

let environment: TestEnvironment;
let server: TestParley;
let admin: ApiClient;
beforeAll(async () => {
  environment = await createTestEnvironment();
  server = await environment.start();
  admin = server.api;
});
afterAll(() => environment.remove());

type Changed = {
  user: { id: string; username: string; role: string; isActive: boolean; name: string } | null;
  secret?: string | null;
  userErrors: { code: string; path: string[] | null }[];
};
const USER = "user { id username name role isActive }";

const change = (name: string, input: object, api = admin) => api.change<Changed>(name, input, USER);

async function make(username: string, more: object = {}): Promise<{ id: string; api: ApiClient }> {
  const made = await admin.change<Changed>("createUser", { username, ...more }, `${USER} secret`);
  return { id: made.user?.id ?? "", api: new ApiClient(admin.url, made.secret ?? null) };
}

async function idOf(api: ApiClient): Promise<string> {
  const { viewer } = await api.get<{ viewer: { user: { id: string } } }>("{ viewer { user { id } } }");
  return viewer.user.id;
}

test("a new user signs in with their first token", async () => {
  const { id, api } = await make("ada", { name: "Ada" });
  const query = "{ viewer { user { id username name role isActive } } }";
  const user = { id, username: "ada", name: "Ada", role: "MEMBER", isActive: true };
  expect(await api.get(query)).toEqual({ viewer: { user } });
});

describe("is refused with the field's name:", () => {
  test.each([
    ["a username that is taken", { username: "admin" }, "CONFLICT", "username"],
    ["a username with spaces", { username: "a b" }, "INVALID", "username"],
    ["a username in capitals", { username: "Ada" }, "INVALID", "username"],
    ["a long username", { username: "x".repeat(65) }, "INVALID", "username"],
    ["a blank name", { username: "blank", name: " " }, "INVALID", "name"],
    ["a name that the database cannot keep", { username: "zero", name: "a\u0000b" }, "INVALID", "name"],
  ])("%s", async (_what, input, code, field) => {
    expect(await change("createUser", input)).toMatchObject({
      user: null,
      userErrors: [{ code, path: [field] }],
    });
  });

  test.each(["updateUser", "setUserRole", "deactivateUser", "reactivateUser"])(
    "an unknown user, in %s",
    async (name) => {
      const more = name === "updateUser" ? { name: "A" } : name === "setUserRole" ? { role: "ADMIN" } : {};
      const userId = "user_00000000-0000-4000-8000-000000000000";
      expect(await change(name, { userId, ...more })).toMatchObject({
        user: null,
        userErrors: [{ code: "NOT_FOUND", path: ["userId"] }],
      });
    },
  );
});

test("members can neither list users nor change them", async () => {
  const { id, api } = await make("mallory");
  const mutations: [string, object][] = [
    ["createUser", { username: "friend" }],
    ["updateUser", { userId: id, name: "Root" }],
    ["setUserRole", { userId: id, role: "ADMIN" }],
    ["deactivateUser", { userId: await idOf(admin) }],
    ["reactivateUser", { userId: id }],
  ];
  const answers = await Promise.all([
    api.ask("{ users { nodes { id } } }"),
    ...mutations.map(([name, input]) => {
      const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input!`;
      return api.ask(`mutation ($input: ${type}) { ${name}(input: $input) { ${USER} } }`, { input });
    }),
  ]);
  expect(answers.map(({ errors }) => errors[0]?.extensions.code)).toEqual(answers.map(() => "FORBIDDEN"));
  const { viewer } = await api.get<{ viewer: object }>("{ viewer { user { name role } } }");
  expect(viewer).toEqual({ user: { name: "mallory", role: "MEMBER" } });
});

test("users are listed by username, in pages, and found by parts of their names", async () => {
  for (const username of ["list-c", "list-a", "list-b"]) await make(username, { name: `Listed ${username}` });
  type Page = {
    users: { nodes: { username: string }[]; pageInfo: { endCursor: string; hasNextPage: boolean } };
  };
  const query = `query ($after: String) {
    users(search: "LISTED", first: 2, after: $after) { nodes { username } pageInfo { endCursor hasNextPage } }
  }`;
  const { users: first } = await admin.get<Page>(query);
  const { users: second } = await admin.get<Page>(query, { after: first.pageInfo.endCursor });
  expect([first.nodes, first.pageInfo.hasNextPage, second.nodes, second.pageInfo.hasNextPage]).toEqual([
    [{ username: "list-a" }, { username: "list-b" }],
    true,
    [{ username: "list-c" }],
    false,
  ]);
  const none = await admin.get<Page>(
    '{ users(search: "100%_") { nodes { username } pageInfo { endCursor hasNextPage } } }',
  );
  expect(none.users.nodes).toEqual([]);
});

test("a new admin sees other users' chats at once, and no longer after being demoted", async () => {
  const owner = await make("owner");
  const { id, api } = await make("riser");
  const { chatId, follower } = await owner.api.quietChat();
  await follower.close();
  expect(await api.chat(chatId)).toBeNull();
  await change("setUserRole", { userId: id, role: "ADMIN" });
  const watching = await api.followFromNow(chatId);
  await change("setUserRole", { userId: id, role: "MEMBER" });
  expect(await watching.ended).toMatchObject([{ extensions: { code: "FORBIDDEN" } }]);
  expect(await api.chat(chatId)).toBeNull();
});

test("a deactivated user loses tokens, WebSockets and running turns at once, while their queue waits, and can be reactivated", async () => {
  const { id, api } = await make("leaver");
  const { chatId, follower } = await api.quietChat();
  await api.send(chatId, "[[demo: hang]]");
  await follower.untilStatus("RUNNING");
  await api.send(chatId, "later");
  expect((await change("deactivateUser", { userId: id })).user?.isActive).toBe(false);
  expect(await follower.ended).toMatchObject({ code: 4403 });
  expect((await api.ask("{ viewer { permissions } }")).status).toBe(401);
  const watching = admin.follow(chatId);
  await watching.untilStatus("WAITING");
  await watching.close();
  expect((await admin.chat(chatId))?.queuedMessages).toHaveLength(1);
  expect((await admin.change("retryChat", { chatId }, "chat { id }")).userErrors).toMatchObject([
    { code: "CONFLICT", message: "The chat's owner is deactivated." },
  ]);
  await change("reactivateUser", { userId: id });
  expect((await api.chat(chatId))?.id).toBe(chatId);
});

describe("the last active admin", () => {
  test("can be neither demoted nor deactivated", async () => {
    const userId = await idOf(admin);
    const refused = { user: null, userErrors: [{ code: "CONFLICT", path: ["userId"] }] };
    expect([
      await change("setUserRole", { userId, role: "MEMBER" }),
      await change("deactivateUser", { userId }),
    ]).toMatchObject([refused, refused]);
  });

  test("remains, even if two admins deactivate each other at the same time", async () => {
    const second = await make("second", { role: "ADMIN" });
    const ids = [await idOf(admin), second.id];
    const mutation = `mutation ($input: DeactivateUserInput!) { deactivateUser(input: $input) { user { id } userErrors { code } } }`;
    await Promise.all([
      admin.ask(mutation, { input: { userId: ids[1] } }),
      second.api.ask(mutation, { input: { userId: ids[0] } }),
    ]);
    const active = await server.parley.database.query(
      {
        name: "test.active-admins",
        text: "SELECT id FROM users WHERE role = 'admin' AND deactivated_at IS NULL",
      },
      [],
    );
    expect(active).toHaveLength(1);
    await server.parley.database.query(
      { name: "test.revive", text: "UPDATE users SET deactivated_at = NULL WHERE username = 'admin'" },
      [],
    );
  });
});

test("changes of user accounts are audited, with their actor and without secrets", async () => {
  const { id } = await make("audited", { name: "Before" });
  await change("updateUser", { userId: id, name: "After" });
  await change("updateUser", { userId: id, name: "After" });
  await change("setUserRole", { userId: id, role: "ADMIN" });
  await change("deactivateUser", { userId: id });
  await change("reactivateUser", { userId: id });
  const lines = await server.parley.database.query(
    {
      name: "test.audit",
      text: "SELECT actor_name, action, target_name, changes FROM audit_log WHERE target_id = $1 ORDER BY id",
    },
    [id],
  );
  const line = (action: string, changes: object) => ({
    actor_name: "admin",
    action,
    target_name: "audited",
    changes,
  });
  expect(lines).toEqual([
    line("user_created", expect.objectContaining({ username: { before: null, after: "audited" } })),
    line("user_updated", { name: { before: "Before", after: "After" } }),
    line("user_role_changed", { role: { before: "member", after: "admin" } }),
    line("user_deactivated", { isActive: { before: true, after: false } }),
    line("user_reactivated", { isActive: { before: false, after: true } }),
  ]);
});
