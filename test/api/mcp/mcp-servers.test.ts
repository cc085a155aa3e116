// Administration of MCP servers: validation, storage and changes.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { decodeId } from "../../../src/domain/common/ids.js";
import type { ApiClient } from "../../support/clients/api-client.js";
import {
  newServer,
  newSlug,
  OAUTH_CLIENT,
  registrationBy,
  type Registration,
} from "../../support/mcp/mcp-registration.js";
import { createTestEnvironment, type TestEnvironment } from "../../support/parley.js";

let environment: TestEnvironment;
let admin: ApiClient;
let servers: Registration;
beforeAll(async () => {
  environment = await createTestEnvironment();
  const parley = await environment.start();
  admin = parley.api;
  servers = registrationBy(admin, environment);
});
afterAll(() => environment.remove());

test("a server is returned as created, looked up by its ID, and deleted once", async () => {
  const wanted = newServer({
    displayName: " Files ",
    description: "Reads files.\nAnd more.",
    iconUrl: "https://mcp.example/icon.png",
    url: "HTTPS://MCP.example/mcp?tenant=1",
    transport: "SSE",
    auth: { oauth2: { ...OAUTH_CLIENT, clientSecret: { set: "s3cret" }, scopes: ["read", "read", "write"] } },
    availability: "DEFAULT_ON",
    toolAllowList: ["read_file"],
    toolDenyList: ["write_file"],
    isEnabled: true,
    isPrivateNetworkAllowed: true,
  });
  const { server, userErrors } = await servers.create(wanted);
  expect(userErrors).toEqual([]);
  const expected = {
    __typename: "McpServer",
    id: expect.stringMatching(/^mcp_[0-9a-f-]{36}$/) as string,
    slug: wanted.slug,
    displayName: "Files",
    description: "Reads files.\nAnd more.",
    iconUrl: "https://mcp.example/icon.png",
    isEnabled: true,
    availability: "DEFAULT_ON",
    transport: "SSE",
    authKind: "OAUTH2",
    admin: {
      url: "https://mcp.example/mcp?tenant=1",
      oauthClientId: "parley",
      oauthAuthorizeUrl: "https://id.example/authorize",
      oauthTokenUrl: "https://id.example/token",
      oauthScopes: ["read", "write"],
      apiKeyHeader: null,
      hasOauthSecret: true,
      hasApiKey: false,
      hasCustomHeaders: false,
      toolAllowList: ["read_file"],
      toolDenyList: ["write_file"],
      isPrivateNetworkAllowed: true,
      updatedAt: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    },
  };
  expect(server).toEqual(expected);
  const id = server?.id ?? "";
  expect(await servers.find(id, admin)).toEqual(server);
  expect((await servers.list(admin)).find((it) => it.id === id)).toEqual(server);
  expect(await servers.remove(id)).toEqual({ deletedId: id, userErrors: [] });
  expect(await servers.find(id, admin)).toBeNull();
  const gone = { code: "NOT_FOUND", message: "There is no such MCP server.", path: ["serverId"] };
  expect(await servers.remove(id)).toMatchObject({ deletedId: null, userErrors: [gone] });
  expect(await servers.update(id, { displayName: "Other" })).toMatchObject({
    server: null,
    userErrors: [gone],
  });
});

test("all problems are returned at once, each with its field, and nothing is stored", async () => {
  const slug = "Bad Slug";
  const { server, userErrors } = await servers.create({
    slug,
    displayName: " ",
    description: "x".repeat(2_001),
    iconUrl: "data:image/png;base64,AAAA",
    url: "https://user:word@mcp.example/",
    auth: {
      headers: [
        { name: "Host", value: { set: "a" } },
        { name: "X-One", value: { set: "a\u0000b" } },
      ],
    },
    toolAllowList: ["a"],
    toolDenyList: ["a"],
  });
  expect([server, userErrors.map(({ code, path }) => `${code} ${path?.join(".")}`)]).toEqual([
    null,
    [
      "INVALID slug",
      "INVALID displayName",
      "INVALID description",
      "INVALID iconUrl",
      "INVALID url",
      "INVALID toolDenyList.0",
      "INVALID auth.headers.0.name",
      "INVALID auth.headers.1.value.set",
    ],
  ]);
  expect((await servers.list(admin, true)).filter((it) => it.slug === slug)).toEqual([]);
});

describe("violations of the GraphQL schema are refused before anything is done", () => {
  test.each<[string, object]>([
    ["two kinds of authorisation", { auth: { none: true, userIdentity: true } }],
    ["no kind of authorisation", { auth: {} }],
    [
      "a secret that is set and cleared",
      { auth: { apiKey: { header: "X", value: { set: "a", clear: true } } } },
    ],
    ["another transport", { transport: "STDIO" }],
    ["a server without an address", { url: null }],
  ])("%s", async (_name, overrides) => {
    const query =
      "mutation ($input: CreateMcpServerInput!) { createMcpServer(input: $input) { server { id } } }";
    const { errors, data } = await admin.ask(query, { input: newServer(overrides) });
    expect([data, errors.map(({ extensions }) => extensions.code)]).toEqual([null, ["BAD_USER_INPUT"]]);
  });

  test.each(["chat_0f8fad5b-d9cb-469f-a165-70867728950e", "mcp_1", "nonsense"])(
    "the id %s",
    async (serverId) => {
      const query =
        "mutation ($input: DeleteMcpServerInput!) { deleteMcpServer(input: $input) { deletedId } }";
      const { errors } = await admin.ask(query, { input: { serverId } });
      expect(errors.map(({ extensions, message }) => [extensions.code, message.split(" ")[0]])).toEqual([
        ["BAD_USER_INPUT", "serverId"],
      ]);
    },
  );
});

test("of ten admins who create the same slug at once, one succeeds", async () => {
  const slug = newSlug();
  const answers = await Promise.all(Array.from({ length: 10 }, () => servers.create({ slug })));
  expect(answers.filter(({ server }) => server !== null)).toHaveLength(1);
  const refusals = answers.flatMap(({ userErrors }) => userErrors);
  expect(refusals).toHaveLength(9);
  for (const refusal of refusals) {
    expect(refusal).toMatchObject({
      code: "CONFLICT",
      message: "Another server has this slug.",
      path: ["slug"],
    });
  }
});

describe("a change", () => {
  test("keeps absent fields, clears null ones, and is only recorded if something changed", async () => {
    const auth = { apiKey: { header: "X-Api-Key", value: { set: "k3y" } } };
    const server = await servers.made({
      auth,
      description: "Words",
      toolDenyList: ["a"],
      iconUrl: "https://a.example/i.png",
    });
    const before = await servers.rowOf(server.id);
    expect((await servers.update(server.id, { displayName: "Files", auth: { apiKey: {} } })).server).toEqual(
      server,
    );
    expect(await servers.rowOf(server.id)).toEqual(before);
    const changed = await servers.update(server.id, {
      description: null,
      iconUrl: null,
      toolDenyList: null,
      isEnabled: true,
    });
    expect(changed).toEqual({
      server: {
        ...server,
        ...{ description: "", iconUrl: null, isEnabled: true },
        admin: { ...server.admin, toolDenyList: [], updatedAt: expect.any(String) as string },
      },
      userErrors: [],
    });
    const after = await servers.rowOf(server.id);
    expect([after.version, after["api_key"]]).toEqual([
      String(Number(before.version) + 1),
      before["api_key"],
    ]);
    const cleared = await servers.update(server.id, { displayName: null, url: null, isEnabled: null });
    expect(cleared.userErrors.map(({ code, path }) => [code, path])).toEqual([
      ["INVALID", ["displayName"]],
      ["INVALID", ["url"]],
      ["INVALID", ["isEnabled"]],
    ]);
  });

  test("of the authorization kind deletes the previous kind's secrets", async () => {
    const server = await servers.made({ auth: { oauth2: { ...OAUTH_CLIENT, clientSecret: { set: "s" } } } });
    const kinds: [string, object][] = [
      ["api_key", { apiKey: { header: "Authorization", value: { set: "Bearer k" } } }],
      ["custom_headers", { headers: [{ name: "X-One", value: { set: "1" } }] }],
      ["none", { none: true }],
      ["oauth2", { oauth2: {} }],
      ["user_identity", { userIdentity: true }],
    ];
    const seen = [await servers.secretsOf(server.id)];
    for (const [kind, auth] of kinds) {
      await environment.database.dataSource.query(
        "UPDATE mcp_servers SET oauth_registered_secret = 'x', oauth_discovered = '{}' WHERE id = $1",
        [decodeId("mcp", server.id)],
      );
      expect((await servers.update(server.id, { auth })).userErrors).toEqual([]);
      const row = await servers.rowOf(server.id);
      expect([row["auth_kind"], row["oauth_discovered"], row["oauth_client_id"]]).toEqual([kind, null, null]);
      seen.push(await servers.secretsOf(server.id));
    }
    expect(seen).toEqual([["oauth_client_secret"], ["api_key"], ["custom_headers"], [], [], []]);
  });

  test("of headers keeps the values of headers given without one", async () => {
    const auth = {
      headers: [
        { name: "X-One", value: { set: "1" } },
        { name: "X-Two", value: { set: "2" } },
      ],
    };
    const server = await servers.made({ auth });
    const before = await servers.rowOf(server.id);
    await servers.update(server.id, { auth: { headers: [{ name: "X-One" }, { name: "X-Two" }] } });
    expect(await servers.rowOf(server.id)).toEqual(before);
    const renamed = await servers.update(server.id, { auth: { headers: [{ name: "x-two" }] } });
    expect([
      renamed.userErrors,
      (await servers.rowOf(server.id))["custom_headers"] === before["custom_headers"],
    ]).toEqual([[], false]);
    const unknown = await servers.update(server.id, { auth: { headers: [{ name: "X-One" }] } });
    expect(unknown.userErrors.map(({ path }) => path)).toEqual([["auth", "headers", "0", "value"]]);
  });

  test("of two admins at once loses nothing", async () => {
    const server = await servers.made();
    const names = Array.from({ length: 10 }, (_, index) => `tool-${index}`);
    await Promise.all([
      ...names.map((name) => servers.update(server.id, { toolDenyList: [name] })),
      ...names.map((name) => servers.update(server.id, { description: name })),
    ]);
    const after = await servers.find(server.id, admin);
    expect(names).toContain(after?.["description"]);
    expect((await servers.rowOf(server.id)).version).toBe("21");
  });
});
