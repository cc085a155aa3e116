// Users' API tokens: their scopes, lifetime and revocation. Against a real server.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createToken } from "../../../src/store/users/tokens.js";
import { decodeId } from "../../../src/domain/common/ids.js";
import type { TokenScope } from "../../../src/domain/users/viewer.js";
import { ApiClient } from "../../support/clients/api-client.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";

let environment: TestEnvironment;
let server: TestParley;
let ada: ApiClient;
beforeAll(async () => {
  environment = await createTestEnvironment();
  server = await environment.start();
  ada = await server.addUser("ada");
});
afterAll(() => environment.remove());

type Made = { token: { id: string; scopes: string[] } | null; secret: string | null; userErrors: object[] };
const FIELDS = "token { id name scopes expiresAt lastUsedAt } secret";

const make = (api: ApiClient, input: object) => api.change<Made>("createApiToken", input, FIELDS);

async function clientOf(api: ApiClient, input: object): Promise<ApiClient> {
  const { secret } = await make(api, input);
  return new ApiClient(api.url, secret);
}

/** A token created by an operator. */
async function withScopes(api: ApiClient, scopes: TokenScope[]): Promise<ApiClient> {
  const { viewer } = await api.get<{ viewer: { user: { id: string } } }>("{ viewer { user { id } } }");
  const userId = decodeId("user", viewer.user.id) ?? "";
  const { token } = await createToken(server.parley.database, { userId, name: "test", scopes });
  return new ApiClient(api.url, token);
}

test("a token works until it is revoked, and is shown in the list without its secret", async () => {
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const { token, secret } = await make(ada, { name: "  build server ", scopes: ["READ"], expiresAt });
  const build = new ApiClient(ada.url, secret);
  await build.get("{ viewer { permissions } }");
  const query = "{ viewer { apiTokens { id name scopes expiresAt lastUsedAt } } }";
  type Listed = { viewer: { apiTokens: { id: string; lastUsedAt: string | null }[] } };
  const { viewer } = await ada.get<Listed>(query);
  expect(viewer.apiTokens.find(({ id }) => id === token?.id)).toEqual({
    ...{ id: token?.id, name: "build server", scopes: ["READ"], expiresAt },
    lastUsedAt: expect.any(String),
  });
  expect(JSON.stringify(viewer)).not.toContain(secret?.slice(8));
  const node = "query ($id: ID!) { node(id: $id) { id } }";
  const other = await server.addUser("bea");
  expect([await ada.get(node, { id: token?.id }), await other.get(node, { id: token?.id })]).toEqual([
    { node: { id: token?.id } },
    { node: null },
  ]);
  expect(await other.change("revokeApiToken", { tokenId: token?.id }, "deletedId")).toMatchObject({
    ...{ deletedId: null, userErrors: [{ code: "NOT_FOUND", path: ["tokenId"] }] },
  });
  expect(await ada.change("revokeApiToken", { tokenId: token?.id }, "deletedId")).toMatchObject({
    ...{ deletedId: token?.id, userErrors: [] },
  });
  expect((await build.ask("{ viewer { permissions } }")).status).toBe(401);
});

test("a revoked token's WebSocket is closed at once, with the code that makes clients reconnect", async () => {
  const { token, secret } = await make(ada, { name: "tab" });
  const tab = new ApiClient(ada.url, secret);
  const { follower } = await tab.quietChat();
  await ada.change("revokeApiToken", { tokenId: token?.id }, "deletedId");
  expect(await follower.ended).toMatchObject({ code: 4403 });
});

describe("scopes bound what a token may be used for", () => {
  const send = `mutation { createChat(input: { parts: [] }) { userErrors { code } } }`;
  const hidden = `mutation { ...more } fragment more on Mutation { ... { createChat(input: { parts: [] }) { userErrors { code } } } }`;

  test.each<[TokenScope[], string, string, string]>([
    [["read"], "may", "{ viewer { permissions } }", "ok"],
    [["chat"], "may not", "{ viewer { permissions } }", "FORBIDDEN"],
    [["read"], "may not", send, "FORBIDDEN"],
    [["read"], "may not, in a fragment,", hidden, "FORBIDDEN"],
    [["chat"], "may", send, "ok"],
    [["admin"], "may not", send, "FORBIDDEN"],
  ])("%j %s ask %s", async (scopes, _may, query, outcome) => {
    const api = await withScopes(ada, scopes);
    const { errors } = await api.ask(query);
    expect(errors.map(({ extensions }) => extensions.code)).toEqual(outcome === "ok" ? [] : [outcome]);
  });

  test("a subscription needs READ, over a socket too", async () => {
    const { chatId, follower } = await ada.quietChat();
    await follower.close();
    const blind = (await withScopes(ada, ["chat"])).follow(chatId);
    expect(await blind.ended).toMatchObject([{ extensions: { code: "FORBIDDEN" } }]);
  });

  test("an admin without ADMIN sees what a member sees", async () => {
    const { chatId, follower } = await ada.quietChat();
    await follower.close();
    const weak = await withScopes(server.api, ["read", "chat"]);
    expect([(await server.api.chat(chatId))?.id, await weak.chat(chatId)]).toEqual([chatId, null]);
    const { viewer } = await weak.get<{ viewer: object }>("{ viewer { permissions user { role } } }");
    expect(viewer).toEqual({ permissions: ["USE_CHATS"], user: { role: "ADMIN" } });
  });
});

describe("no token can create a stronger one", () => {
  test("with more scopes", async () => {
    const weak = await clientOf(ada, { name: "weak", scopes: ["READ", "CHAT"] });
    expect(await make(weak, { name: "strong", scopes: ["ADMIN"] })).toMatchObject({
      ...{ token: null, secret: null, userErrors: [{ code: "INVALID", path: ["scopes"] }] },
    });
    expect((await make(weak, { name: "same" })).token?.scopes).toEqual(["READ", "CHAT"]);
  });

  test("with a later expiry", async () => {
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    const passing = await clientOf(ada, { name: "passing", expiresAt });
    const made = await make(passing, { name: "for ever" });
    expect(made.token).toMatchObject({ expiresAt });
  });
});

test.each([
  ["a blank name", { name: " " }, "name"],
  ["a long name", { name: "x".repeat(101) }, "name"],
  ["an end that is past", { name: "a", expiresAt: "2020-01-01T00:00:00Z" }, "expiresAt"],
  ["no scope", { name: "a", scopes: [] }, "scopes"],
])("a token with %s is refused with the field's name", async (_what, input, field) => {
  expect(await make(ada, input)).toMatchObject({
    ...{ token: null, secret: null, userErrors: [{ code: "INVALID", path: [field] }] },
  });
});

test("a user has at most a hundred tokens", async () => {
  const zoe = await server.addUser("zoe");
  for (let count = 1; count < 100; count += 1) await make(zoe, { name: `token ${count}` });
  expect(await make(zoe, { name: "one more" })).toMatchObject({
    ...{ token: null, userErrors: [{ code: "LIMIT_EXCEEDED" }] },
  });
});
