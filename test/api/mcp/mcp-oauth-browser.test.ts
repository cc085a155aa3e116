// Two users connect their accounts in a real browser; in their turns, the tools then know them by name.
import { type Browser, chromium } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { ApiClient } from "../../support/clients/api-client.js";
import type { Part } from "../../support/clients/api-shapes.js";
import { begin, createAccounts, connectionOf, type Accounts } from "../../support/mcp/mcp-accounts.js";
import { CHROMIUM, has } from "../../support/requirements.js";

const ARGUMENTS = [
  ...["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-background-networking"],
  ...["--disable-component-update", "--disable-sync", "--no-first-run"],
];
const LIMIT_MS = 120_000;

describe.skipIf(!has("chromium"))("in Chromium", () => {
  let accounts: Accounts;
  let browser: Browser;
  let ann: ApiClient;
  let ben: ApiClient;
  beforeAll(async () => {
    accounts = await createAccounts();
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS });
  });
  afterAll(async () => {
    await browser.close();
    await accounts.remove();
  });

  /** Connects the account in the user's own browser. Returns the last page's text and its message to the opener. */
  async function connect(api: ApiClient, user: string): Promise<{ pageText: string; message: unknown }> {
    const { authorizationUrl } = await begin(api, accounts.serverId);
    const context = await browser.newContext();
    const page = await context.newPage();
    const [url, origin] = [authorizationUrl ?? "", new URL(authorizationUrl ?? "").origin];
    // Any page of the server, because the opener must have the same origin.
    await page.goto(`${origin}/healthz`);
    const [opened] = await Promise.all([
      page.waitForEvent("popup"),
      page.evaluate((address) => {
        const state = globalThis as unknown as { message: Promise<unknown>; open(to: string): unknown };
        state.message = new Promise((resolve) =>
          addEventListener("message", (event) => resolve((event as unknown as { data: unknown }).data)),
        );
        state.open(address);
      }, url),
    ]);
    await opened.getByRole("button", { name: "Connect" }).click();
    await opened.getByLabel("Name").fill(user);
    await opened.getByRole("button", { name: "Allow" }).click();
    await opened.getByRole("heading", { name: "is connected" }).waitFor();
    const pageText = await opened.locator("body").innerText();
    const message = await page.evaluate(
      () => (globalThis as unknown as { message: Promise<unknown> }).message,
    );
    await context.close();
    return { pageText, message };
  }

  /** Runs a turn, by default in a new chat that has selected the server, and returns the messages that it adds. */
  async function turn(
    api: ApiClient,
    request: string,
    known?: string,
  ): Promise<{ chatId: string; parts: Part[] }> {
    const selecting = { workspaceId: null, mcpServerIds: [accounts.serverId] };
    const chatId = known ?? (await api.createChat("[[demo: deltas=1]]", selecting));
    const first = api.follow(chatId);
    await first.untilStatus("WAITING");
    await first.close();
    const before = await messages(api, chatId);
    const follower = await api.followFromNow(chatId);
    await api.send(chatId, request);
    await follower.until(({ log }) => log.at(-1) === "status WAITING");
    await follower.close();
    const added = (await messages(api, chatId)).slice(before.length);
    return { chatId, parts: added.flatMap(({ parts }) => parts) };
  }

  const messages = async (api: ApiClient, chatId: string) => (await api.chat(chatId))?.messages.nodes ?? [];
  const results = (parts: Part[]) =>
    parts.filter(({ __typename: type }) => type === "ToolResultPart").map(({ result }) => result);
  const notices = (parts: Part[]) => parts.filter(({ __typename: type }) => type === "NoticePart");
  const named = (api: ApiClient) =>
    api.change(
      "createChat",
      { parts: [{ text: { text: "Hello" } }], workspaceId: null, mcpServerIds: [accounts.serverId] },
      "chat { id }",
    );

  beforeAll(async () => {
    const { parley, serverId } = accounts;
    [ann, ben] = [await parley.addUser("ann"), await parley.addUser("ben")];
    expect((await named(ann)).userErrors).toMatchObject([
      { __typename: "McpAuthRequired", code: "AUTH_REQUIRED", path: ["mcpServerIds"] },
    ]);
    for (const [api, user] of [
      [ann, "Ann"],
      [ben, "Ben"],
    ] as const) {
      expect(await connect(api, user)).toEqual({
        pageText: expect.stringContaining("Accounts & Co is connected") as string,
        message: { type: "parley:mcp-connected", serverId },
      });
    }
  }, LIMIT_MS);
  afterEach(() => {
    accounts.oauth.onCall = () => undefined;
  });

  test(
    "each user's turn acts as the account they connected",
    async () => {
      const turns = await Promise.all([ann, ben].map((api) => turn(api, "call accounts__whoami")));
      expect(turns.map(({ parts }) => results(parts))).toEqual([["You are Ann."], ["You are Ben."]]);
    },
    LIMIT_MS,
  );

  test(
    "a token that expires during a turn is rejected once, and the turn continues with a new one",
    async () => {
      const { oauth } = accounts;
      const before = { ...oauth.counts };
      oauth.onCall = () => {
        oauth.onCall = () => undefined;
        oauth.dropAccessTokens();
      };
      const request = 'call accounts__add with `{"a": 1, "b": 2}`, then call accounts__whoami';
      const { parts } = await turn(ann, request);
      expect([results(parts), notices(parts)]).toEqual([["3", "You are Ann."], []]);
      expect([oauth.counts.refusals - before.refusals, oauth.counts.refreshes - before.refreshes]).toEqual([
        1, 1,
      ]);
    },
    LIMIT_MS,
  );

  test(
    "an authorization revoked at the server fails the call, becomes EXPIRED, and later turns report it and continue",
    async () => {
      const { oauth, serverId } = accounts;
      oauth.onCall = (user) => void (user === "Ben" && oauth.dropGrants(user));
      const request = 'call accounts__add with `{"a": 1, "b": 2}`, then call accounts__whoami';
      const { chatId, parts } = await turn(ben, request);
      expect(results(parts)).toEqual([
        "3",
        { error: expect.stringContaining("Ask the user to authorise it again") as string },
      ]);
      const notice = {
        ...{ __typename: "NoticePart", level: "WARNING" },
        text: expect.stringContaining("Accounts & Co") as string,
      };
      expect(notices(parts)).toEqual([notice]);
      expect(await connectionOf(ben, serverId)).toMatchObject({ status: "EXPIRED" });
      const next = await turn(ben, "call accounts__whoami", chatId);
      expect([results(next.parts), notices(next.parts)]).toEqual([[], [notice]]);
      expect((await named(ben)).userErrors).toMatchObject([{ code: "AUTH_REQUIRED" }]);
      // Ann's connection is unaffected.
      expect(results((await turn(ann, "call accounts__whoami")).parts)).toEqual(["You are Ann."]);
    },
    LIMIT_MS,
  );

  test(
    "disconnecting revokes the authorization, sets DISCONNECTED, and the server can no longer be selected",
    async () => {
      const { oauth, serverId } = accounts;
      const { chatId, parts: known } = await turn(ann, "call accounts__whoami");
      expect(results(known)).toEqual(["You are Ann."]);
      await ann.change("disconnectMcpServer", { serverId }, "server { id }");
      expect(await connectionOf(ann, serverId)).toMatchObject({ status: "DISCONNECTED" });
      expect(oauth.counts.revocations).toContain("Ann");
      expect((await named(ann)).userErrors).toMatchObject([
        { __typename: "McpAuthRequired", code: "AUTH_REQUIRED" },
      ]);
      const calls = oauth.counts.calls.length;
      const { parts } = await turn(ann, "call accounts__whoami", chatId);
      expect([results(parts), notices(parts).length, oauth.counts.calls.length]).toEqual([[], 1, calls]);
    },
    LIMIT_MS,
  );
});
