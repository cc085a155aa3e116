// Sign-in with a real browser and identity provider: roles, a subscription that outlives its session, and sign-out.
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../../support/network/free-port.js";
import { startIdentityProvider, type TestProvider } from "../../support/users/identity-provider.js";
import { createTestEnvironment, type TestEnvironment } from "../../support/parley.js";
import { CHROMIUM, has } from "../../support/requirements.js";

const FLAGS =
  "--no-sandbox --disable-dev-shm-usage --disable-gpu --disable-background-networking --disable-component-update --disable-sync --no-first-run";

const USERS = {
  ada: { preferred_username: "ada", name: "Ada Lovelace", groups: ["ops"] },
  ben: { preferred_username: "ben", name: "Ben", groups: ["dev"] },
};
/** Long enough to subscribe, short enough to wait for its end. */
const SESSION_MS = 12_000;

describe.skipIf(!has("chromium"))("in Chromium", () => {
  let environment: TestEnvironment;
  let provider: TestProvider;
  let browser: Browser;
  let publicUrl: string;
  beforeAll(async () => {
    environment = await createTestEnvironment();
    const port = await freePort();
    publicUrl = `http://127.0.0.1:${port}`;
    provider = await startIdentityProvider(publicUrl, USERS);
    await environment.start({
      ...provider.settings,
      PARLEY_PORT: String(port),
      PARLEY_SECRETS_KEYS: `test:${Buffer.alloc(32, 7).toString("base64")}`,
      PARLEY_SESSION_LIFE_MS: String(SESSION_MS),
    });
    browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS.split(" ") });
  });
  afterAll(async () => {
    await browser?.close();
    await environment.remove();
    await provider?.close();
  });

  /** Completes the provider's pages, as far as it shows them. */
  async function signIn(page: Page, login: string): Promise<void> {
    await page.goto(`${publicUrl}/auth/login?returnTo=/healthz`);
    if (page.url().startsWith(provider.issuer) && (await page.locator("input[name=login]").count()) > 0) {
      await page.fill("input[name=login]", login);
      await page.fill("input[name=password]", "any");
      await page.click("button[type=submit]");
    }
    if (page.url().startsWith(provider.issuer)) await page.click("button[type=submit]");
    await page.waitForURL(`${publicUrl}/healthz`);
  }

  /** Queries the viewer from a page of the server. */
  const whoAmI = (page: Page) =>
    page.evaluate(async () => {
      const answer = await fetch("/graphql", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ query: "{ viewer { user { username role } } }" }),
      });
      const body = (await answer.json()) as { data?: { viewer: { user: object } } };
      return { status: answer.status, user: body.data?.viewer.user ?? null };
    });

  /** Follows the chat list over a WebSocket until it is closed. Returns the message types and the close code. */
  const followUntilClosed = (page: Page) =>
    page.evaluate(
      () =>
        new Promise<{ types: string[]; code: number }>((resolve) => {
          const socket = new WebSocket(`ws://${location.host}/graphql`, "graphql-transport-ws");
          const types: string[] = [];
          const say = (message: object) => socket.send(JSON.stringify(message));
          socket.onopen = () => say({ type: "connection_init" });
          socket.onmessage = (event: MessageEvent<string>) => {
            const { type } = JSON.parse(event.data) as { type: string };
            types.push(type);
            const query = "subscription { chatListEvents { __typename } }";
            if (type === "connection_ack") say({ id: "1", type: "subscribe", payload: { query } });
            if (type === "ping") say({ type: "pong" });
          };
          socket.onclose = ({ code }) => resolve({ types, code });
        }),
    );

  test("roles come from claims, and no script can read the session", async () => {
    for (const [login, role] of [
      ["ada", "ADMIN"],
      ["ben", "MEMBER"],
    ] as const) {
      const context = await browser.newContext();
      const page = await context.newPage();
      await signIn(page, login);
      expect(await whoAmI(page)).toEqual({ status: 200, user: { username: login, role } });
      const session = (await context.cookies()).find(({ name }) => name === "parley_session");
      expect(session).toMatchObject({ httpOnly: true, sameSite: "Lax" });
      expect(await page.evaluate(() => document.cookie)).not.toContain("parley_session");
      await context.close();
    }
  });

  test("a session that ends during a subscription closes it, and the user continues after signing in again", async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await signIn(page, "ben");
    const { types, code } = await followUntilClosed(page);
    expect([types.includes("connection_ack"), types.includes("next"), code]).toEqual([true, true, 4403]);
    expect(await whoAmI(page)).toEqual({ status: 401, user: null });
    await signIn(page, "ben");
    expect((await whoAmI(page)).status).toBe(200);
    await context.close();
  });

  test("signing out ends the session here and at the provider", async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await signIn(page, "ben");
    const closed = followUntilClosed(page);
    const other = await context.newPage();
    await other.goto(`${publicUrl}/healthz`);
    await other.evaluate(() => {
      const form = document.createElement("form");
      form.method = "post";
      form.action = "/auth/logout";
      document.body.append(form);
      form.submit();
    });
    await other.waitForURL(`${provider.issuer}/session/end*`);
    await other.click("button[value=yes]");
    await other.waitForURL(`${publicUrl}/auth/signed-out*`);
    expect((await closed).code).toBe(4403);
    expect(await whoAmI(page)).toEqual({ status: 401, user: null });
    await other.goto(`${publicUrl}/auth/login`);
    expect(await other.locator("input[name=login]").count()).toBe(1);
    await context.close();
  });
});
