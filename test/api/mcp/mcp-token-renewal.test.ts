// Tokens of MCP servers are renewed once for all replicas, and failed renewals are reported.
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Authorizations } from "../../../src/services/mcp/authorization.js";
import type { McpHeaders } from "../../../src/services/mcp/ports.js";
import { findMcpServers } from "../../../src/store/mcp/mcp-servers.js";
import { connect, createAccounts, connectionOf, type Accounts } from "../../support/mcp/mcp-accounts.js";

let accounts: Accounts;
let userId: string;
/** As on two replicas, which share only the database. */
let one: Authorizations;
let two: Authorizations;
beforeEach(async () => {
  accounts = await createAccounts();
  [one, two] = [accounts.authorizations(), accounts.authorizations()];
  await connect(accounts.parley.api, accounts.serverId, "ann");
  const [row] = await rows<{ user_id: string }>("SELECT user_id FROM mcp_connections");
  userId = row?.user_id ?? "";
});
afterEach(() => accounts.remove());

const rows = <Row>(sql: string) => accounts.parley.parley.database.dataSource.query<Row[]>(sql);
const spend = () => rows("UPDATE mcp_connections SET expires_at = now() - interval '1 second'");
const age = () =>
  rows(
    "UPDATE mcp_connections SET expires_at = now() + interval '30 seconds', connected_at = now() - interval '1 hour'",
  );

async function record() {
  const [server] = await findMcpServers(accounts.parley.parley.database, [accounts.record.id]);
  if (!server) throw new Error("There is no server.");
  return server;
}

const headersAt = async (side: Authorizations) => side.headersFor(await record(), userId);

async function renewedAt(side: Authorizations, rejected: McpHeaders): Promise<McpHeaders> {
  if (!rejected.ok) throw new Error("There is nothing to reject.");
  return side.renewedHeaders(await record(), userId, rejected.headers);
}

test("a fresh token is used as it is", async () => {
  const headers = await headersAt(one);
  expect(headers).toEqual({
    ok: true,
    headers: { Authorization: expect.stringMatching(/^Bearer access-/) as string },
  });
  expect(await headersAt(one)).toEqual(headers);
  expect(accounts.oauth.counts.refreshes).toBe(0);
});

test("forty requests on two replicas renew a spent token once, and all get the same new one", async () => {
  const old = await headersAt(one);
  await spend();
  const asked = Array.from({ length: 40 }, (_, at) => headersAt(at % 2 === 0 ? one : two));
  const found = new Set((await Promise.all(asked)).map((headers) => JSON.stringify(headers)));
  expect([found.size, found.has(JSON.stringify(old)), accounts.oauth.counts.refreshes]).toEqual([
    1,
    false,
    1,
  ]);
  expect(JSON.parse([...found][0] ?? "")).toMatchObject({ ok: true });
  // The refresh token has been rotated.
  await spend();
  expect(await headersAt(two)).toMatchObject({ ok: true });
  expect(accounts.oauth.counts.refreshes).toBe(2);
});

test("a token is renewed before it expires, and still used if that fails", async () => {
  const old = await headersAt(one);
  await age();
  accounts.oauth.isIll = true;
  expect(await headersAt(one)).toEqual(old);
  // A failing server is not called again before the claim expires.
  expect(await headersAt(one)).toEqual(old);
  expect(accounts.oauth.counts.refreshes).toBe(1);
  accounts.oauth.isIll = false;
  await rows("UPDATE mcp_connections SET refresh_claimed_until = now()");
  const renewed = await headersAt(one);
  expect([renewed.ok, JSON.stringify(renewed) === JSON.stringify(old)]).toEqual([true, false]);
});

test("a replica that died during a renewal blocks no other once its claim has expired", async () => {
  await spend();
  await rows(
    `UPDATE mcp_connections SET refresh_claim = gen_random_uuid(), refresh_claimed_until = now() + interval '1 hour'`,
  );
  const waiting = headersAt(one);
  await rows("UPDATE mcp_connections SET refresh_claimed_until = now()");
  expect(await waiting).toMatchObject({ ok: true });
  expect(accounts.oauth.counts.refreshes).toBe(1);
});

test("an expired token of a failing server is a temporary failure, not the end of the authorization", async () => {
  await spend();
  accounts.oauth.isIll = true;
  expect(await headersAt(one)).toMatchObject({ ok: false, kind: "failed" });
  expect(await connectionOf(accounts.parley.api, accounts.serverId)).toMatchObject({ status: "CONNECTED" });
  accounts.oauth.isIll = false;
  expect(await headersAt(one)).toMatchObject({ ok: true });
});

test("a token rejected by the server is renewed; a second caller gets the new one without another renewal", async () => {
  const old = await headersAt(one);
  accounts.oauth.dropAccessTokens();
  const renewed = await renewedAt(one, old);
  expect(renewed).toMatchObject({ ok: true });
  expect(renewed).not.toEqual(old);
  expect(await renewedAt(one, old)).toEqual(renewed);
  expect(accounts.oauth.counts.refreshes).toBe(1);
});

test("an authorization revoked at the server becomes expired, and valid again after another consent", async () => {
  const { parley, oauth, serverId } = accounts;
  const old = await headersAt(one);
  oauth.dropGrants();
  expect(await renewedAt(one, old)).toMatchObject({ ok: false, kind: "expired" });
  expect(await connectionOf(parley.api, serverId)).toMatchObject({ status: "EXPIRED" });
  expect(await headersAt(one)).toMatchObject({ ok: false, kind: "expired" });
  expect(oauth.counts.refreshes).toBe(1);
  await connect(parley.api, serverId, "ann");
  expect(await connectionOf(parley.api, serverId)).toMatchObject({ status: "CONNECTED" });
  expect(await headersAt(one)).toMatchObject({ ok: true });
});

test("a token that cannot be renewed is connected until it expires", async () => {
  const { parley, serverId } = accounts;
  await rows("UPDATE mcp_connections SET refresh_token = NULL");
  expect(await connectionOf(parley.api, serverId)).toMatchObject({ status: "CONNECTED" });
  await spend();
  expect(await connectionOf(parley.api, serverId)).toMatchObject({ status: "EXPIRED" });
  expect(await headersAt(one)).toMatchObject({ ok: false, kind: "expired" });
});

test("a token is not sent to a server whose URL an admin has changed since", async () => {
  const { parley, serverId } = accounts;
  await rows("UPDATE mcp_servers SET url = 'http://127.0.0.1:1/mcp'");
  expect(await headersAt(one)).toMatchObject({ ok: false, kind: "not-connected" });
  expect(await connectionOf(parley.api, serverId)).toMatchObject({ status: "DISCONNECTED" });
});

test("a refresh token does not go to another token endpoint", async () => {
  await spend();
  await rows(
    `UPDATE mcp_servers SET oauth_discovered = jsonb_set(oauth_discovered, '{server,tokenEndpoint}', '"http://127.0.0.1:1/token"')`,
  );
  expect(await headersAt(one)).toMatchObject({ ok: false, kind: "expired" });
  expect(accounts.oauth.counts.refreshes).toBe(0);
});

test("a user who disconnects during a renewal stays disconnected", async () => {
  const { parley, oauth, serverId } = accounts;
  await spend();
  oauth.beforeRefresh = async () => {
    await parley.api.change("disconnectMcpServer", { serverId }, "server { id }");
  };
  expect(await headersAt(one)).toMatchObject({ ok: false, kind: "not-connected" });
  expect(await connectionOf(parley.api, serverId)).toMatchObject({ status: "DISCONNECTED" });
  expect(await rows("SELECT 1 FROM mcp_connections")).toEqual([]);
});

test("a new token that came too late for its connection is revoked", async () => {
  await spend();
  accounts.oauth.beforeRefresh = async () => {
    await rows("DELETE FROM mcp_connections");
  };
  expect(await headersAt(one)).toMatchObject({ ok: false, kind: "not-connected" });
  expect(accounts.oauth.counts.revocations).toEqual(["ann"]);
});
