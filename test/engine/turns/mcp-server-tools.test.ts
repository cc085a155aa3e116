// Lists of MCP servers' tools: cached, shared, per user, and bounded in time.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { McpAccountState } from "../../../src/domain/mcp/types.js";
import type { McpHeaders } from "../../../src/services/mcp/ports.js";
import { ServerTools } from "../../../src/services/mcp/server-tools.js";
import { MemoryBus } from "../../../src/events/bus/memory-bus.js";
import { createLog } from "../../../src/lib/log.js";
import { OutboundFetch } from "../../../src/lib/outbound/outbound-fetch.js";
import { connectMcp } from "../../../src/mcp/client.js";
import type { McpServerRecord, McpServerValues } from "../../../src/store/mcp/mcp-servers.js";
import { ManualClock } from "../../agent/manual-clock.js";
import { type ListingServer, startListingServer } from "../../support/mcp/listing-server.js";
import { mcpServerValues } from "../../support/mcp/mcp-server-rows.js";

let listing: ListingServer;
let clock: ManualClock;
let bus: MemoryBus;
let outbound: OutboundFetch;
let tools: ServerTools;
/** Headers of users' requests; a user without an entry has not authorised anything. */
let keys: Map<string, string>;
/** When users connected their accounts. */
let since: Map<string, Date>;
const log = createLog("silent");
beforeEach(async () => {
  listing = await startListingServer();
  clock = new ManualClock();
  bus = new MemoryBus(log);
  outbound = new OutboundFetch(clock);
  keys = new Map([
    ["ann", "of ann"],
    ["ben", "of ben"],
  ]);
  since = new Map();
  const headersOf = (userId: string): Promise<McpHeaders> => {
    const key = keys.get(userId);
    if (key === undefined)
      return Promise.resolve({ ok: false, kind: "not-connected", message: "Connect it." });
    return Promise.resolve({ ok: true, headers: { "x-api-key": key } });
  };
  tools = new ServerTools({
    authorization: {
      headersFor: (_server, userId) => headersOf(userId),
      renewedHeaders: () => Promise.resolve({ ok: false, kind: "expired", message: "Connect it again." }),
    },
    connect: connectMcp,
    fetchFor: ({ allowsPrivateAddresses: isPrivateAllowed }) =>
      outbound.for({ isPrivateAllowed, timeoutMs: 60_000, maxBodyBytes: null }),
    ...{ clock, log, bus },
  });
});
afterEach(async () => {
  await tools.close();
  await outbound.close();
  await listing.close();
});

function serverOf(overrides: Partial<McpServerValues & { version: number }> = {}): McpServerRecord {
  const values = mcpServerValues({ url: listing.url, allowsPrivateAddresses: true, ...overrides });
  return { ...values, version: overrides.version ?? 1, createdAt: new Date(0), updatedAt: new Date(0) };
}

function subagentStatus({ authKind }: McpServerRecord, userId: string): McpAccountState {
  const connectedAt = since.get(userId) ?? null;
  if (authKind === "none") return { status: "not_needed", connectedAt: null, expiresAt: null };
  return { status: keys.has(userId) ? "connected" : "disconnected", connectedAt, expiresAt: null };
}

async function namesFor(server: McpServerRecord, userId = "ann"): Promise<string[] | null> {
  const listed = await tools.list(server, { userId, account: subagentStatus(server, userId) });
  return listed?.map(({ name }) => name) ?? null;
}

test("a list is requested once in three minutes, whatever the number of concurrent callers", async () => {
  const server = serverOf();
  const answers = await Promise.all(["ann", "ben", "ann"].map((userId) => namesFor(server, userId)));
  expect(answers).toEqual([
    ["read", "write"],
    ["read", "write"],
    ["read", "write"],
  ]);
  listing.tools = ["other"];
  clock.advance(3 * 60_000 - 1);
  expect(await namesFor(server)).toEqual(["read", "write"]);
  clock.advance(2);
  expect(await namesFor(server)).toEqual(["other"]);
  expect(listing.listedFor).toHaveLength(2);
});

test.each(["oauth2", "user_identity"] as const)(
  "with %s each user has a list of their own, with their own credentials",
  async (authKind) => {
    const server = serverOf({ authKind });
    await namesFor(server, "ann");
    listing.tools = ["bens"];
    expect([await namesFor(server, "ben"), await namesFor(server, "ann")]).toEqual([
      ["bens"],
      ["read", "write"],
    ]);
    expect(listing.listedFor).toEqual(["of ann", "of ben"]);
  },
);

test("a user without authorisation gets none, and gets it as soon as they have authorised", async () => {
  const server = serverOf({ authKind: "oauth2" });
  expect(await namesFor(server, "eve")).toBeNull();
  keys.set("eve", "of eve");
  expect(await namesFor(server, "eve")).toEqual(["read", "write"]);
  expect(listing.listedFor).toEqual(["of eve"]);
});

test("a user who disconnects gets none at once, and the list is requested again after a new connection", async () => {
  const server = serverOf({ authKind: "oauth2" });
  expect(await namesFor(server)).toEqual(["read", "write"]);
  keys.delete("ann");
  expect(await namesFor(server)).toBeNull();
  listing.tools = ["of another account"];
  keys.set("ann", "of ann's other account");
  since.set("ann", new Date(1));
  expect(await namesFor(server)).toEqual(["of another account"]);
  expect(listing.listedFor).toEqual(["of ann", "of ann's other account"]);
});

test("a server that refuses the user's authorisation is asked again the next time", async () => {
  const server = serverOf({ authKind: "oauth2" });
  listing.mood = "closed";
  expect(await namesFor(server)).toBeNull();
  listing.mood = "fine";
  expect(await namesFor(server)).toEqual(["read", "write"]);
});

test("a changed server is asked again at once", async () => {
  await namesFor(serverOf());
  const id = "0f8fad5b-d9cb-469f-a165-70867728950e";
  await namesFor(serverOf({ id }));
  listing.tools = ["other"];
  expect(await namesFor(serverOf({ id, version: 2 }))).toEqual(["other"]);
  bus.publishConfigChange("mcp-servers");
  expect(await namesFor(serverOf({ id }))).toEqual(["other"]);
});

test("a request to a hanging server is abandoned after ten seconds, and not repeated for fifteen", async () => {
  listing.mood = "deaf";
  const server = serverOf();
  const armed = clock.nextTimer(10_000);
  const pendingNames = [namesFor(server), namesFor(server, "ben")];
  await armed;
  clock.advance(10_000);
  expect(await Promise.all(pendingNames)).toEqual([null, null]);
  listing.mood = "fine";
  expect([await namesFor(server), listing.listedFor]).toEqual([null, []]);
  clock.advance(15_001);
  expect(await namesFor(server)).toEqual(["read", "write"]);
});

test("a request while servers are changed gets an answer", async () => {
  const pendingNames = namesFor(serverOf());
  bus.publishConfigChange("mcp-servers");
  expect(await pendingNames).toEqual(["read", "write"]);
});

test("closing ends requests under way", async () => {
  listing.mood = "deaf";
  const armed = clock.nextTimer(10_000);
  const pendingNames = namesFor(serverOf());
  await armed;
  await tools.close();
  expect(await pendingNames).toBeNull();
});

function inMood(mood: typeof listing.mood, server: McpServerRecord): McpServerRecord {
  listing.mood = mood;
  return server;
}

describe("trying a server", () => {
  test("returns its identity and tools, without a cache", async () => {
    const server = serverOf({ isEnabled: false });
    const expected = {
      ok: true,
      tools: ["read", "write"].map((name) => ({
        name,
        description: `Does ${name}.`,
        inputSchema: { type: "object", properties: {} },
      })),
      serverName: "listing",
      serverVersion: "3.2.1",
      protocolVersion: expect.stringMatching(/^\d{4}-/) as string,
      latencyMs: expect.any(Number) as number,
    };
    expect([await tools.try(server, "ann"), await tools.try(server, "ben")]).toEqual([expected, expected]);
    expect(listing.listedFor).toEqual(["of ann", "of ben"]);
  });

  test.each<[string, (server: McpServerRecord) => McpServerRecord, string]>([
    ["that refuses the credentials", (server) => inMood("closed", server), "unauthorized"],
    ["that fails", (server) => inMood("broken", server), "unreachable"],
    [
      "where nothing listens",
      (server) => ({ ...server, url: "http://127.0.0.1:1/mcp?key=s3cret" }),
      "unreachable",
    ],
    ["in a forbidden network", (server) => ({ ...server, allowsPrivateAddresses: false }), "blocked"],
  ])("%s reports why, without secrets", async (_name, become, kind) => {
    const trial = await tools.try(become(serverOf()), "ann");
    expect(trial).toMatchObject({
      ok: false,
      failure: { kind, message: expect.stringMatching(/\.$/) as string },
    });
    expect(JSON.stringify(trial)).not.toMatch(/of ann|s3cret/);
  });

  test("by a user who has not authorised it reports so", async () => {
    const trial = await tools.try(serverOf({ authKind: "oauth2" }), "eve");
    expect(trial).toMatchObject({ ok: false, failure: { kind: "unauthorized", message: "Connect it." } });
  });
});
