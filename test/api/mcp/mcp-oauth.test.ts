// A user connects their account with an MCP server: our page, the other server's pages, and the redirect back.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  agree,
  begin,
  connect,
  createAccounts,
  connectionOf,
  type Accounts,
} from "../../support/mcp/mcp-accounts.js";
import { FormBrowser } from "../../support/users/form-browser.js";
import { insertServer } from "../../support/mcp/mcp-server-rows.js";
import { encodeId } from "../../../src/domain/common/ids.js";

let accounts: Accounts;
beforeAll(async () => {
  accounts = await createAccounts({ PARLEY_ALLOWED_ORIGINS: "https://chat.example" });
});
afterAll(() => accounts.remove());

const rows = (sql: string, values: unknown[] = []) =>
  accounts.parley.parley.database.dataSource.query<Record<string, unknown>[]>(sql, values);
const addressOf = async (api = accounts.parley.api, more: object = {}) =>
  (await begin(api, accounts.serverId, more)).authorizationUrl ?? "";

test("the whole flow: consent here, sign-in there, connected, and disconnected again", async () => {
  const { parley, serverId, oauth } = accounts;
  const ann = await parley.addUser("ann");
  expect(await connectionOf(ann, serverId)).toEqual({
    status: "DISCONNECTED",
    connectedAt: null,
    expiresAt: null,
  });
  const { authorizationUrl, expiresAt, userErrors } = await begin(ann, serverId);
  expect(userErrors).toEqual([]);
  expect(Date.parse(expiresAt ?? "") - Date.now()).toBeGreaterThan(500_000);
  const browser = new FormBrowser();
  const consent = await browser.get(authorizationUrl ?? "");
  expect(consent.text).toContain("Connect Accounts &amp; Co?");
  expect(consent.text).toContain("<strong>ann</strong>");
  expect(consent.text).toContain(new URL(oauth.url).host);
  const last = await browser.get(await agree(browser, authorizationUrl ?? "", { username: "Ann Example" }));
  expect({ status: last.status, text: last.text }).toMatchObject({
    status: 200,
    text: expect.stringContaining("You may close this window") as string,
  });
  expect(last.text).toContain(`{"type":"parley:mcp-connected","serverId":"${serverId}"}`);
  expect(await connectionOf(ann, serverId)).toEqual({
    status: "CONNECTED",
    connectedAt: expect.any(String) as string,
    expiresAt: expect.any(String) as string,
  });
  const other = await parley.addUser("otto");
  expect(await connectionOf(other, serverId)).toMatchObject({ status: "DISCONNECTED" });
  const end = () =>
    ann.change("disconnectMcpServer", { serverId }, "server { id connection: account { status } }");
  const gone = { server: { id: serverId, connection: { status: "DISCONNECTED" } }, userErrors: [] };
  expect(await end()).toEqual(gone);
  expect(oauth.counts.revocations).toEqual(["Ann Example", "Ann Example"]);
  expect(await end()).toEqual(gone);
});

test("no secret of the flow is readable in the database", async () => {
  const { parley, serverId } = accounts;
  const eve = await parley.addUser("eve");
  const open = new URL(await addressOf(eve)).searchParams.get("ticket") ?? "?";
  await connect(eve, serverId, "eve");
  const [flows, connections, servers] = await Promise.all(
    ["mcp_oauth_flows", "mcp_connections", "mcp_servers"].map((table) => rows(`SELECT * FROM ${table}`)),
  );
  const text = JSON.stringify([flows, connections, servers]);
  expect([flows?.length, connections?.length]).toEqual([1, 1]);
  for (const secret of ["access-", "refresh-", open]) expect(text).not.toContain(secret);
});

test("pages are not cached, not framed and send no referrer", async () => {
  const page = await new FormBrowser().get(await addressOf());
  expect(Object.fromEntries(page.headers)).toMatchObject({
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "content-security-policy": expect.stringContaining("frame-ancestors 'none'") as string,
    "set-cookie": expect.stringMatching(/; Path=\/mcp\/oauth; HttpOnly; SameSite=Lax$/) as string,
  });
});

test("a deployment behind TLS and a path has its own cookie, redirect URI and client metadata", async () => {
  const { oauth } = accounts;
  const behind = await createAccounts({ PARLEY_PUBLIC_URL: "https://parley.example/p" }, { url: oauth.url });
  try {
    const { authorizationUrl } = await begin(behind.parley.api, behind.serverId);
    expect(authorizationUrl).toMatch(/^https:\/\/parley\.example\/p\/mcp\/oauth\/start\?ticket=/);
    const here = behind.parley.api.url;
    const page = await new FormBrowser().get(
      `${here}/mcp/oauth/start${new URL(authorizationUrl ?? "").search}`,
    );
    expect(page.text).toContain('action="/p/mcp/oauth/start"');
    expect(page.headers.get("set-cookie")).toMatch(
      /^__Host-parley_mcp_oauth=[\w-]{43}; Max-Age=1200; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    const document = await fetch(`${here}/mcp/oauth/client.json`);
    expect(await document.json()).toMatchObject({
      client_id: "https://parley.example/p/mcp/oauth/client.json",
      redirect_uris: ["https://parley.example/p/mcp/oauth/callback"],
    });
  } finally {
    await behind.remove();
  }
  expect((await fetch(`${accounts.parley.api.url}/mcp/oauth/client.json`)).status).toBe(404);
});

describe("the flow ends without a connection", () => {
  const isOver = { status: 400, text: expect.stringContaining("This link is no longer valid") as string };

  test("when the state comes a second time", async () => {
    const browser = new FormBrowser();
    const back = await agree(browser, await addressOf(), { username: "ann" });
    expect(await browser.get(back)).toMatchObject({ status: 200 });
    expect(await browser.get(back)).toMatchObject(isOver);
  });

  test("when another browser comes back, and the first one can still finish", async () => {
    const browser = new FormBrowser();
    const back = await agree(browser, await addressOf(), { username: "ann" });
    expect(await new FormBrowser().get(back)).toMatchObject(isOver);
    const another = new FormBrowser();
    await another.get(await addressOf());
    expect(await another.get(back)).toMatchObject(isOver);
    expect(await browser.get(back)).toMatchObject({ status: 200 });
  });

  test("when a second browser uses a ticket that another has used", async () => {
    const url = await addressOf();
    await agree(new FormBrowser(), url, { username: "ann" });
    const second = new FormBrowser();
    expect(await second.submit(url, await second.get(url))).toMatchObject(isOver);
  });

  test("when the form is submitted from another site", async () => {
    const url = await addressOf();
    const ticket = new URL(url).searchParams.get("ticket") ?? "";
    const page = `<form action="${url}"><input type="hidden" name="ticket" value="${ticket}">`;
    const forged = { status: 200, text: page, location: null, headers: new Headers() };
    // With the ticket alone, then with the cookie as well, in case a browser sends it cross-site.
    expect(await new FormBrowser().submit(url, forged)).toMatchObject(isOver);
    const victim = new FormBrowser();
    await victim.get(url);
    expect(await victim.submit(url, forged)).toMatchObject(isOver);
  });

  test("when it is too late", async () => {
    const [browser, early] = [new FormBrowser(), await addressOf()];
    const back = await agree(browser, early, { username: "ann" });
    await rows("UPDATE mcp_oauth_flows SET expires_at = now()");
    expect(await browser.get(back)).toMatchObject(isOver);
    expect(await browser.get(early)).toMatchObject(isOver);
    await addressOf();
    expect(await rows("SELECT id FROM mcp_oauth_flows WHERE expires_at <= now()")).toEqual([]);
  });

  test("when the user declines, with the server's message but not its markup", async () => {
    const browser = new FormBrowser();
    const back = await agree(browser, await addressOf(), { username: "ann", answer: "deny" });
    const page = await browser.get(back);
    expect(page.status).toBe(400);
    expect(page.text).toContain("access_denied: &lt;b&gt;No&lt;/b&gt; &amp; never");
  });

  test("when an admin has changed the server in the meantime", async () => {
    const browser = new FormBrowser();
    const back = await agree(browser, await addressOf(), { username: "ann" });
    await rows("UPDATE mcp_servers SET version = version + 1");
    const page = await browser.get(back);
    expect(page).toMatchObject({
      status: 400,
      text: expect.stringContaining("settings were changed") as string,
    });
  });

  test("when the response is from another issuer", async () => {
    const { oauth } = accounts;
    oauth.issuerInAnswers = "https://evil.example";
    const browser = new FormBrowser();
    const page = await browser.get(await agree(browser, await addressOf(), { username: "ann" }));
    oauth.issuerInAnswers = null;
    expect(page).toMatchObject({
      status: 400,
      text: expect.stringContaining("another authorisation server") as string,
    });
  });

  test("when the code is invalid or missing", async () => {
    const [browser, refs] = [new FormBrowser(), /<code>[0-9a-f-]{36}<\/code>/];
    const wrong = new URL(await agree(browser, await addressOf(), { username: "ann" }));
    wrong.searchParams.set("code", "guessed");
    const page = await browser.get(wrong.href);
    expect(page).toMatchObject({ status: 502, text: expect.stringMatching(refs) as string });
    const without = new URL(await agree(browser, await addressOf(), { username: "ann" }));
    without.searchParams.delete("code");
    expect(await browser.get(without.href)).toMatchObject({ status: 400 });
  });

  test.each([
    "",
    "?state=",
    "?state=a&state=b&code=c",
    "?code=x",
    "?state=%00",
    `?state=${"x".repeat(20_000)}`,
    "?error=access_denied",
  ])("when the response is garbage: %.40s", async (query) => {
    const { api } = accounts.parley;
    const browser = new FormBrowser();
    await browser.get(await addressOf());
    const page = await browser.get(`${api.url}/mcp/oauth/callback${query}`);
    expect([400, 431]).toContain(page.status);
    expect((await browser.get(`${api.url}/mcp/oauth/start${query}`)).status).toBeGreaterThanOrEqual(400);
  });
});

describe("an authorization does not start", () => {
  test("for a server that does not exist or is not visible to members", async () => {
    const { parley } = accounts;
    const { database } = parley.parley;
    const hidden = await insertServer(database, { authKind: "oauth2", isEnabled: false });
    const mia = await parley.addUser("mia");
    const missing = encodeId("mcp", "00000000-0000-4000-8000-000000000000");
    for (const id of [missing, encodeId("mcp", hidden.id)]) {
      const refusal = [{ code: "NOT_FOUND", message: "There is no such MCP server.", path: ["serverId"] }];
      expect(await begin(mia, id)).toMatchObject({ authorizationUrl: null, userErrors: refusal });
      expect(await mia.change("disconnectMcpServer", { serverId: id }, "server { id }")).toMatchObject({
        server: null,
        userErrors: refusal,
      });
    }
  });

  test("for a server that needs no authorization", async () => {
    const { parley } = accounts;
    const open = await insertServer(parley.parley.database);
    expect(await begin(parley.api, encodeId("mcp", open.id))).toMatchObject({
      authorizationUrl: null,
      userErrors: [{ code: "INVALID", path: ["serverId"] }],
    });
    expect(await connectionOf(parley.api, encodeId("mcp", open.id))).toMatchObject({ status: "NOT_NEEDED" });
  });

  test("with a server that is unreachable or blocked", async () => {
    const { parley, oauth } = accounts;
    const away = await insertServer(parley.parley.database, {
      ...{ authKind: "oauth2", url: "http://127.0.0.1:1/mcp", allowsPrivateAddresses: true },
    });
    const guarded = await insertServer(parley.parley.database, { authKind: "oauth2", url: oauth.url });
    for (const { id } of [away, guarded]) {
      expect(await begin(parley.api, encodeId("mcp", id))).toMatchObject({
        authorizationUrl: null,
        userErrors: [{ code: "UNAVAILABLE", path: ["serverId"] }],
      });
    }
  });

  test.each([
    "//evil.example",
    "https://evil.example/",
    "javascript:alert(1)",
    "https://chat.example@evil.example",
  ])("with %s to return to", async (returnTo) => {
    const refused = await begin(accounts.parley.api, accounts.serverId, { returnTo });
    expect(refused).toMatchObject({ userErrors: [{ code: "INVALID", path: ["returnTo"] }] });
  });
});

test.each([
  ["/chats?x=1", (url: string) => `http://localhost:${new URL(url).port}/chats?x=1`],
  ["https://chat.example/back", () => "https://chat.example/back"],
])("the browser returns to %s in the end", async (returnTo, whole) => {
  const { api } = accounts.parley;
  const browser = new FormBrowser();
  const page = await browser.get(
    await agree(browser, await addressOf(api, { returnTo }), { username: "ann" }),
  );
  expect([page.status, page.location]).toEqual([303, whole(api.url)]);
});

test("of eleven pending flows the oldest is discarded", async () => {
  const lea = await accounts.parley.addUser("lea");
  const urls: string[] = [];
  for (let count = 0; count < 11; count += 1) urls.push(await addressOf(lea));
  const statuses = await Promise.all(urls.map(async (url) => (await new FormBrowser().get(url)).status));
  expect(statuses).toEqual([400, ...Array.from({ length: 10 }, () => 200)]);
});

test("Parley registers itself once, however many flows start at the same time", async () => {
  const fresh = await createAccounts();
  try {
    const clients = await Promise.all(
      ["a", "b", "c", "d"].map((name) => fresh.parley.addUser(`many-${name}`)),
    );
    const begun = await Promise.all(clients.map((api) => begin(api, fresh.serverId)));
    expect(begun.flatMap(({ userErrors }) => userErrors)).toEqual([]);
    const ends = begun.map(async ({ authorizationUrl }) => {
      const browser = new FormBrowser();
      return (await browser.get(await agree(browser, authorizationUrl ?? "", { username: "x" }))).status;
    });
    expect(await Promise.all(ends)).toEqual([200, 200, 200, 200]);
    const before = fresh.oauth.counts.registrations;
    await begin(fresh.parley.api, fresh.serverId);
    expect(fresh.oauth.counts.registrations).toBe(before);
  } finally {
    await fresh.remove();
  }
});

test("authorizations are deleted with their user or server", async () => {
  const { parley, record } = accounts;
  const tom = await parley.addUser("tom");
  await connect(tom, accounts.serverId, "tom");
  await addressOf(tom);
  const own = async () =>
    rows(
      `SELECT 1 FROM mcp_connections WHERE user_id = (SELECT id FROM users WHERE username = 'tom')
       UNION ALL SELECT 1 FROM mcp_oauth_flows WHERE user_id = (SELECT id FROM users WHERE username = 'tom')`,
    );
  expect(await own()).toHaveLength(2);
  await rows("DELETE FROM users WHERE username = 'tom'");
  await rows("DELETE FROM mcp_servers WHERE id = $1", [record.id]);
  expect(await rows("SELECT 1 FROM mcp_connections UNION ALL SELECT 1 FROM mcp_oauth_flows")).toEqual([]);
});
