// Private data of MCP servers: settings, secrets and authorizations, towards users, other hosts and the audit log.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { decodeId } from "../../../src/domain/common/ids.js";
import type { ApiClient } from "../../support/clients/api-client.js";
import {
  newServer,
  OAUTH_CLIENT,
  registrationBy,
  type Registration,
} from "../../support/mcp/mcp-registration.js";
import { createTestEnvironment, type TestEnvironment } from "../../support/parley.js";

let environment: TestEnvironment;
let admin: ApiClient;
let member: ApiClient;
let servers: Registration;
beforeAll(async () => {
  environment = await createTestEnvironment();
  const parley = await environment.start();
  admin = parley.api;
  member = await parley.addUser("member");
  servers = registrationBy(admin, environment);
});
afterAll(() => environment.remove());

describe("users' authorizations", () => {
  /** A server with one completed and one pending authorization. */
  async function authorised(): Promise<string> {
    const server = await servers.made({ auth: { oauth2: OAUTH_CLIENT }, isEnabled: true });
    const id = decodeId("mcp", server.id);
    const { viewer } = await member.get<{ viewer: { user: { id: string } } }>("{ viewer { user { id } } }");
    const userId = decodeId("user", viewer.user.id);
    await environment.database.dataSource.query(
      "INSERT INTO mcp_connections (id, user_id, server_id, access_token) VALUES (gen_random_uuid(), $1, $2, 'sealed')",
      [userId, id],
    );
    await environment.database.dataSource.query(
      `INSERT INTO mcp_oauth_flows (id, state_hash, user_id, server_id, server_version, code_verifier, authorization_url,
         redirect_uri, expires_at)
       VALUES (gen_random_uuid(), sha256($1::text::bytea), $2, $1::uuid, 1, 'sealed', 'https://a', 'https://b',
         now() + interval '1 hour')`,
      [id, userId],
    );
    return server.id;
  }

  async function left(id: string): Promise<number[]> {
    const counts = ["mcp_connections", "mcp_oauth_flows"].map(async (table) => {
      const rows = (await environment.database.dataSource.query(
        `SELECT 1 FROM ${table} WHERE server_id = $1`,
        [decodeId("mcp", id)],
      )) as unknown[];
      return rows.length;
    });
    return Promise.all(counts);
  }

  test.each<[object, number[]]>([
    [{ displayName: "Other", isEnabled: false, toolDenyList: ["a"], transport: "SSE" }, [1, 1]],
    [{ auth: { oauth2: { scopes: ["read"], clientSecret: { set: "new" } } } }, [1, 1]],
    [{ url: "https://mcp.example/other" }, [0, 0]],
    [{ auth: { oauth2: { clientId: "other" } } }, [0, 0]],
    [{ auth: { oauth2: { clientId: null, authorizeUrl: null, tokenUrl: null } } }, [0, 0]],
    [{ auth: { none: true } }, [0, 0]],
  ])(
    "after %j exist %j times: a token is never sent to another server than the one it was issued for",
    async (change, counts) => {
      const id = await authorised();
      expect((await servers.update(id, change)).userErrors).toEqual([]);
      expect(await left(id)).toEqual(counts);
    },
  );

  test("goes with the server", async () => {
    const id = await authorised();
    await servers.remove(id);
    expect(await left(id)).toEqual([0, 0]);
  });
});

test("a key cannot be obtained by changing its server's URL", async () => {
  const server = await servers.made({ auth: { apiKey: { header: "X-Api-Key", value: { set: "k3y" } } } });
  const moved = await servers.update(server.id, { url: "https://evil.example/mcp" });
  expect(moved.userErrors).toMatchObject([{ code: "INVALID", path: ["auth", "apiKey", "value"] }]);
  expect((await servers.find(server.id, admin))?.admin?.["url"]).toBe("https://mcp.example/mcp");
});

describe("to users who are not admins", () => {
  const nothing = { admin: null };

  test("an enabled server is shown without its settings", async () => {
    const server = await servers.made({
      isEnabled: true,
      auth: { apiKey: { header: "X-Api-Key", value: { set: "k3y" } } },
    });
    expect(await servers.find(server.id, member)).toEqual({ ...server, ...nothing });
    const listed = await servers.list(member, true);
    expect(listed.find(({ id }) => id === server.id)).toEqual({ ...server, ...nothing });
    expect(JSON.stringify(listed)).not.toMatch(/mcp\.example|X-Api-Key/);
  });

  test("a disabled one does not exist in any query", async () => {
    const server = await servers.made();
    expect([
      await servers.find(server.id, member),
      (await servers.list(member, true)).map(({ id }) => id).includes(server.id),
    ]).toEqual([null, false]);
    expect([
      (await servers.list(admin)).map(({ id }) => id).includes(server.id),
      (await servers.find(server.id, admin))?.id,
    ]).toEqual([false, server.id]);
    expect((await servers.list(admin, true)).map(({ id }) => id)).toContain(server.id);
  });

  test("changes are forbidden without revealing whether the server exists", async () => {
    const server = await servers.made();
    const absent = "mcp_0f8fad5b-d9cb-469f-a165-70867728950e";
    const mutations: [string, object][] = [
      ["createMcpServer", newServer()],
      ["createMcpServer", newServer({ slug: "BAD" })],
      ...[server.id, absent].flatMap((serverId): [string, object][] => [
        ["updateMcpServer", { serverId, displayName: "Mine" }],
        ["updateMcpServer", { serverId, displayName: null }],
        ["deleteMcpServer", { serverId }],
      ]),
    ];
    for (const [name, input] of mutations) {
      const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input!`;
      const { errors, data } = await member.ask(
        `mutation ($input: ${type}) { ${name}(input: $input) { userErrors { message } } }`,
        { input },
      );
      expect([data, errors.map(({ extensions }) => extensions.code)]).toEqual([null, ["FORBIDDEN"]]);
    }
    expect(await servers.find(server.id, admin)).toEqual(server);
  });
});

test("a change is audited with the changed fields, secrets only as set or cleared", async () => {
  const server = await servers.made({
    auth: { apiKey: { header: "X-Api-Key", value: { set: "k3y-of-the-audit" } } },
  });
  await servers.update(server.id, {
    description: "Words",
    auth: { headers: [{ name: "X-One", value: { set: "v4lue" } }] },
  });
  await servers.update(server.id, { description: "Words" });
  await servers.create({ slug: server.slug });
  await servers.remove(server.id);
  const rows = (await environment.database.dataSource.query(
    "SELECT action, actor_name, target_name, changes FROM audit_log WHERE target_id = $1 ORDER BY id",
    [server.id],
  )) as { action: string; changes: Record<string, unknown> }[];
  expect(rows.map(({ action }) => action)).toEqual([
    "mcp_server_created",
    "mcp_server_updated",
    "mcp_server_deleted",
  ]);
  expect(rows[1]).toEqual({
    action: "mcp_server_updated",
    actor_name: expect.any(String) as string,
    target_name: "Files",
    changes: {
      description: { before: "", after: "Words" },
      authKind: { before: "api_key", after: "custom_headers" },
      apiKeyHeader: { before: "X-Api-Key", after: null },
      apiKey: { cleared: true },
      customHeaders: { set: true },
    },
  });
  expect(JSON.stringify(rows)).not.toMatch(/k3y-of-the-audit|v4lue|v1\./);
});
