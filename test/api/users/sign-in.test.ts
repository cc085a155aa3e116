// Sign-in with a real identity provider, through requests as a browser sends them.
import { createClient } from "graphql-ws";
import { WebSocket } from "ws";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../../support/network/free-port.js";
import {
  signIn,
  startIdentityProvider,
  type TestProvider,
  WindowlessBrowser,
} from "../../support/users/identity-provider.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";

const USERS = {
  ada: { preferred_username: "Ada", name: "Ada Lovelace", groups: ["dev", "ops"] },
  ben: { preferred_username: "ben", name: "Ben", groups: ["dev"] },
  admin: { preferred_username: "admin", name: "Not the admin" },
};
const KEY = `test:${Buffer.alloc(32, 7).toString("base64")}`;

let environment: TestEnvironment;
let provider: TestProvider;
let server: TestParley;
let publicUrl: string;
beforeAll(async () => {
  environment = await createTestEnvironment();
  const port = await freePort();
  publicUrl = `http://127.0.0.1:${port}`;
  provider = await startIdentityProvider(publicUrl, USERS);
  const settings = { ...provider.settings, PARLEY_PORT: String(port), PARLEY_SECRETS_KEYS: KEY };
  server = await environment.start(settings);
});
afterAll(async () => {
  await environment.remove();
  await provider.close();
});

type Asked = { status: number; viewer?: { user: { username: string; name: string; role: string } } };

/** Sends a query with the session in the browser's cookie; `headers` are those that a browser would add. */
async function whoAmI(browser: WindowlessBrowser, headers: Record<string, string>): Promise<Asked> {
  const response = await fetch(`${publicUrl}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", cookie: browser.cookiesFor(publicUrl), ...headers },
    body: JSON.stringify({ query: "{ viewer { user { username name role } } }" }),
  });
  const { data } = (await response.json()) as { data?: { viewer: NonNullable<Asked["viewer"]> } };
  return { status: response.status, ...(data && { viewer: data.viewer }) };
}

const ownPage = () => ({ origin: publicUrl });

test("a new user is created from their claims, and is the same user the next time", async () => {
  const [first, second] = [new WindowlessBrowser(), new WindowlessBrowser()];
  const page = await signIn(first, publicUrl, "ben");
  expect([page.url, page.status]).toEqual([`${publicUrl}/healthz`, 200]);
  await signIn(second, publicUrl, "ben");
  const user = { username: "ben", name: "Ben", role: "MEMBER" };
  expect([await whoAmI(first, ownPage()), await whoAmI(second, ownPage())]).toEqual([
    { status: 200, viewer: { user } },
    { status: 200, viewer: { user } },
  ]);
});

test("claims can grant the admin role; a username that is taken is not taken over", async () => {
  const [ada, impostor] = [new WindowlessBrowser(), new WindowlessBrowser()];
  await signIn(ada, publicUrl, "ada");
  await signIn(impostor, publicUrl, "admin");
  expect((await whoAmI(ada, ownPage())).viewer?.user).toMatchObject({ username: "ada", role: "ADMIN" });
  expect((await whoAmI(impostor, ownPage())).viewer?.user).toMatchObject({
    username: "admin-2",
    role: "MEMBER",
  });
});

describe("a session's cookie", () => {
  let browser: WindowlessBrowser;
  beforeAll(async () => {
    browser = new WindowlessBrowser();
    await signIn(browser, publicUrl, "ben");
  });

  test.each<[string, Record<string, string>, number]>([
    ["a page of ours", { "sec-fetch-site": "same-origin" }, 200],
    ["another page", { origin: "https://evil.example", "sec-fetch-site": "cross-site" }, 401],
    ["a page on a sibling", { "sec-fetch-site": "same-site" }, 401],
    ["an unknown caller", {}, 401],
  ])("sent by %s is answered with its status", async (_whom, headers, status) => {
    expect((await whoAmI(browser, headers)).status).toBe(status);
  });

  test.each([
    [true, "connected"],
    [false, 4403],
  ])("opens a WebSocket for our own pages only: %s", async (isOurs, outcome) => {
    class BrowserSocket extends WebSocket {
      constructor(address: string, protocols?: string | string[]) {
        const origin = isOurs ? publicUrl : "https://evil.example";
        super(address, protocols, { headers: { cookie: browser.cookiesFor(publicUrl), origin } });
      }
    }
    const client = createClient({
      url: `${publicUrl.replace("http", "ws")}/graphql`,
      webSocketImpl: BrowserSocket,
      retryAttempts: 0,
      lazy: false,
      onNonLazyError: () => undefined,
    });
    const opened = await new Promise((found) => {
      client.on("connected", () => found("connected"));
      client.on("closed", (event) => found((event as { code: number }).code));
    });
    await client.dispose();
    expect(opened).toBe(outcome);
  });

  test("is not a token and cannot be sent as one", async () => {
    const session = /parley_session=([^;]+)/.exec(browser.cookiesFor(publicUrl))?.[1] ?? "";
    for (const token of [session, `session ${session}`]) {
      const response = await fetch(`${publicUrl}/graphql`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
        body: JSON.stringify({ query: "{ viewer { permissions } }" }),
      });
      expect(response.status).toBe(401);
    }
  });
});

test("signing out closes open connections and redirects to the provider to sign out there", async () => {
  const browser = new WindowlessBrowser();
  await signIn(browser, publicUrl, "ben");
  const before = browser.cookiesFor(publicUrl);
  const answer = await fetch(`${publicUrl}/auth/logout`, {
    method: "POST",
    headers: { cookie: before, origin: publicUrl, accept: "application/json" },
  });
  const { location } = (await answer.json()) as { location: string };
  expect(location.startsWith(`${provider.issuer}/session/end?`)).toBe(true);
  const after = await fetch(`${publicUrl}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", cookie: before, origin: publicUrl },
    body: JSON.stringify({ query: "{ viewer { permissions } }" }),
  });
  expect(after.status).toBe(401);
});

test("another site cannot sign a user out", async () => {
  const browser = new WindowlessBrowser();
  await signIn(browser, publicUrl, "ben");
  const answer = await fetch(`${publicUrl}/auth/logout`, {
    method: "POST",
    headers: { cookie: browser.cookiesFor(publicUrl), origin: "https://evil.example" },
  });
  expect([answer.status, (await whoAmI(browser, ownPage())).status]).toEqual([403, 200]);
});

test("a deactivated user is informed, and gets no session", async () => {
  const browser = new WindowlessBrowser();
  await signIn(browser, publicUrl, "ben");
  const set = (sql: string) => server.parley.database.query({ name: sql, text: sql }, []);
  await set("UPDATE users SET deactivated_at = now() WHERE username = 'ben'");
  const page = await signIn(new WindowlessBrowser(), publicUrl, "ben");
  await set("UPDATE users SET deactivated_at = NULL WHERE username = 'ben'");
  expect([page.status, page.text]).toEqual([403, expect.stringContaining("deactivated")]);
});

describe("a redirect from the provider is refused", () => {
  test.each([
    ["in a browser that never left", "?code=a&state=b"],
    ["without anything", ""],
  ])("%s", async (_what, query) => {
    const page = await new WindowlessBrowser().get(`${publicUrl}/auth/callback${query}`);
    expect([page.status, page.text]).toEqual([403, expect.stringContaining("You are not signed in")]);
  });

  test("with another sign-in's state", async () => {
    const browser = new WindowlessBrowser();
    await browser.get(`${publicUrl}/auth/login`);
    const page = await browser.get(`${publicUrl}/auth/callback?code=stolen&state=another`);
    expect([page.status, page.text.includes("stolen")]).toEqual([502, false]);
  });

  test("when the user declines", async () => {
    const browser = new WindowlessBrowser();
    const login = await browser.get(`${publicUrl}/auth/login`);
    const abort = /href="([^"]*\/abort)"/.exec(login.text)?.[1] ?? "";
    const page = await browser.get(new URL(abort, login.url).href);
    expect([page.status, page.text]).toEqual([403, expect.stringContaining("access_denied")]);
  });
});
