// The tools of registered MCP servers, as users see them and as admins see them in a test.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ApiClient } from "../../support/clients/api-client.js";
import { type ListingServer, startListingServer } from "../../support/mcp/listing-server.js";
import { connect, createAccounts } from "../../support/mcp/mcp-accounts.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";

let environment: TestEnvironment;
let parley: TestParley;
let member: ApiClient;
let listing: ListingServer;
/** The public id of the server that is registered for each test. */
let serverId: string;
beforeAll(async () => {
  environment = await createTestEnvironment();
  parley = await environment.start();
  member = await parley.addUser("member");
});
afterAll(() => environment.remove());
beforeEach(async () => {
  listing = await startListingServer();
  const input = {
    slug: `s-${new URL(listing.url).port}`,
    displayName: "Listing",
    url: listing.url,
    transport: "STREAMABLE_HTTP",
    auth: { apiKey: { header: "X-Api-Key", value: { set: "k3y-of-the-listing" } } },
    toolDenyList: ["write"],
    isEnabled: true,
    isPrivateNetworkAllowed: true,
  };
  type Made = { server: { id: string } | null };
  const { server } = await parley.api.change<Made>("createMcpServer", input, "server { id }");
  serverId = server?.id ?? "";
});
afterEach(async () => {
  await parley.api.change("deleteMcpServer", { serverId }, "deletedId");
  await listing.close();
});

type Tool = { name: string; description: string; inputSchema: object; isAllowed: boolean };
const TOOLS = "tools { name description inputSchema isAllowed }";
const update = (change: object) =>
  parley.api.change("updateMcpServer", { serverId, ...change }, `server { id }`);

async function toolsFor(api: ApiClient, id = serverId): Promise<Tool[] | null> {
  const query = `query ($id: ID!) { node(id: $id) { ... on McpServer { ${TOOLS} } } }`;
  return (await api.get<{ node: { tools: Tool[] | null } }>(query, { id })).node.tools;
}

async function namesFor(api: ApiClient): Promise<[string, boolean][] | null> {
  return (await toolsFor(api))?.map(({ name, isAllowed }) => [name, isAllowed]) ?? null;
}

describe("a server's tools", () => {
  test("are listed for everyone who can see the server, with those that turns may use", async () => {
    const inputSchema = { type: "object", properties: {} };
    const expected = [
      { name: "read", description: "Does read.", inputSchema, isAllowed: true },
      { name: "write", description: "Does write.", inputSchema, isAllowed: false },
    ];
    expect([await toolsFor(member), await toolsFor(parley.api)]).toEqual([expected, expected]);
    expect(listing.listedFor).toEqual(["k3y-of-the-listing"]);
  });

  test("are listed again as soon as an admin has changed the server", async () => {
    await namesFor(member);
    listing.tools = ["other", "write"];
    await update({ toolAllowList: ["other"], toolDenyList: null });
    expect(await namesFor(member)).toEqual([
      ["other", true],
      ["write", false],
    ]);
  });

  test.each(["broken", "closed"] as const)("are null without an error if the server is %s", async (mood) => {
    listing.mood = mood;
    const { data, errors } = await member.ask(`{ mcpServers { id ${TOOLS} } }`);
    expect([data, errors]).toEqual([{ mcpServers: [{ id: serverId, tools: null }] }, []]);
  });
});

test("of a server with OAuth are visible while the user's account is connected", async () => {
  const accounts = await createAccounts();
  const { api } = accounts.parley;
  try {
    const ann = await accounts.parley.addUser("ann");
    const names = async (who: ApiClient) =>
      (await toolsFor(who, accounts.serverId))?.map(({ name }) => name) ?? null;
    expect(await names(ann)).toBeNull();
    await connect(ann, accounts.serverId, "Ann Example");
    expect([(await names(ann))?.length, await names(api)]).toEqual([expect.any(Number), null]);
    await ann.change("disconnectMcpServer", { serverId: accounts.serverId }, "server { id }");
    expect(await names(ann)).toBeNull();
  } finally {
    await accounts.remove();
  }
});

describe("testing a server", () => {
  type Tried = {
    server: { id: string } | null;
    result: Record<string, unknown> | null;
    userErrors: { code: string; path: string[] | null }[];
  };
  const TRIAL = `server { id } result { isReachable latencyMs serverName serverVersion protocolVersion toolCount
    tools { name isAllowed } failure { kind message } }`;
  const tryIt = (id = serverId) => parley.api.change<Tried>("testMcpServer", { serverId: id }, TRIAL);

  test("returns its name, version and tools, even if it is disabled", async () => {
    await update({ isEnabled: false });
    expect(await tryIt()).toEqual({
      server: { id: serverId },
      result: {
        isReachable: true,
        latencyMs: expect.any(Number) as number,
        serverName: "listing",
        serverVersion: "3.2.1",
        protocolVersion: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) as string,
        toolCount: 2,
        tools: [
          { name: "read", isAllowed: true },
          { name: "write", isAllowed: false },
        ],
        failure: null,
      },
      userErrors: [],
    });
  });

  test.each<[string, () => unknown, string, RegExp]>([
    ["it refuses the key", () => (listing.mood = "closed"), "UNAUTHORIZED", /credentials/],
    ["it is out of order", () => (listing.mood = "broken"), "UNREACHABLE", /500|did not/],
    [
      "it is where it may not be",
      () => update({ isPrivateNetworkAllowed: false }),
      "BLOCKED",
      /127\.0\.0\.1/,
    ],
  ])("reports that %s, without secrets", async (_name, become, kind, words) => {
    await become();
    const { result, userErrors } = await tryIt();
    expect([result, userErrors]).toEqual([
      {
        isReachable: false,
        latencyMs: expect.any(Number) as number,
        ...{ serverName: null, serverVersion: null, protocolVersion: null, toolCount: null, tools: null },
        failure: { kind, message: expect.stringMatching(words) as string },
      },
      [],
    ]);
    expect(JSON.stringify(result)).not.toContain("k3y-of-the-listing");
  });

  test("is in the audit log with its outcome", async () => {
    await tryIt();
    listing.mood = "closed";
    await tryIt();
    const query = `query ($targetId: ID!) { auditLog(first: 10, filter: { targetId: $targetId, actions: [MCP_SERVER_TESTED] }) {
      nodes { targetName changes { field before after isSecret } } } }`;
    const { auditLog } = await parley.api.get<{ auditLog: { nodes: object[] } }>(query, {
      targetId: serverId,
    });
    const line = (after: string) => ({
      targetName: "Listing",
      changes: [{ field: "outcome", before: null, after, isSecret: false }],
    });
    expect(auditLog.nodes).toEqual([line("unauthorized"), line("reachable")]);
  });

  test("is refused if it does not exist, and forbidden to non-admins", async () => {
    const absent = "mcp_0f8fad5b-d9cb-469f-a165-70867728950e";
    expect(await tryIt(absent)).toMatchObject({
      ...{ server: null, result: null },
      userErrors: [{ code: "NOT_FOUND", path: ["serverId"] }],
    });
    for (const id of [serverId, absent]) {
      const query =
        "mutation ($input: TestMcpServerInput!) { testMcpServer(input: $input) { server { id } } }";
      const { data, errors } = await member.ask(query, { input: { serverId: id } });
      expect([data, errors.map(({ extensions }) => extensions.code)]).toEqual([null, ["FORBIDDEN"]]);
    }
    expect(listing.listedFor).toEqual([]);
  });
});
