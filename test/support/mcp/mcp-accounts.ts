// Server with a registered MCP server behind OAuth, and the steps by which users connect their accounts.
import { randomBytes } from "node:crypto";
import { encodeId } from "../../../src/domain/common/ids.js";
import { Authorizations } from "../../../src/services/mcp/authorization.js";
import { systemClock } from "../../../src/lib/clock.js";
import { createLog } from "../../../src/lib/log.js";
import { OutboundFetch } from "../../../src/lib/outbound/outbound-fetch.js";
import { SecretBox } from "../../../src/store/common/secret-box.js";
import type { McpServerRecord, McpServerValues } from "../../../src/store/mcp/mcp-servers.js";
import type { ApiClient } from "../clients/api-client.js";
import { FormBrowser, type Shown } from "../users/form-browser.js";
import { insertServer } from "./mcp-server-rows.js";
import { OauthServer } from "./oauth-server.js";
import { createTestEnvironment, type Settings, type TestParley, type TestEnvironment } from "../parley.js";

export type Accounts = {
  environment: TestEnvironment;
  oauth: OauthServer;
  parley: TestParley;
  record: McpServerRecord;
  /** Public id of the MCP server. */
  serverId: string;
  /** Creates the source of users' headers that turns use, with its own cache. */
  authorizations(): Authorizations;
  remove(): Promise<void>;
};

const KEY = { id: "test", bytes: randomBytes(32) };
const KEYS = { PARLEY_SECRETS_KEYS: `${KEY.id}:${KEY.bytes.toString("base64")}` };
/** Longer than any request of a test takes. */
const LIMIT_MS = 15_000;

/** Starts the server, and an MCP server behind OAuth that is registered there. */
export async function createAccounts(
  settings: Settings = {},
  overrides: Partial<McpServerValues> = {},
): Promise<Accounts> {
  const [environment, oauth] = await Promise.all([createTestEnvironment(), new OauthServer().start()]);
  const parley = await environment.start({ ...KEYS, ...settings });
  const outbound = new OutboundFetch(systemClock);
  const record = await insertServer(parley.parley.database, {
    slug: "accounts",
    displayName: "Accounts & Co",
    url: oauth.url,
    authKind: "oauth2",
    allowsPrivateAddresses: true,
    ...overrides,
  });
  return {
    ...{ environment, oauth, parley, record, serverId: encodeId("mcp", record.id) },
    authorizations: () =>
      new Authorizations({
        database: parley.parley.database,
        secrets: new SecretBox([KEY]),
        fetchFor: ({ allowsPrivateAddresses: isPrivateAllowed }) =>
          outbound.for({ isPrivateAllowed, timeoutMs: LIMIT_MS, maxBodyBytes: 1_000_000 }),
        clock: systemClock,
        log: createLog("silent"),
        identityTokenOf: () => Promise.resolve(null),
      }),
    async remove() {
      await environment.remove();
      await Promise.all([oauth.stop(), outbound.close()]);
    },
  };
}

export type Begun = { authorizationUrl: string | null; expiresAt: string | null; userErrors: object[] };

export function begin(api: ApiClient, serverId: string, more: object = {}): Promise<Begun> {
  return api.change<Begun>("startMcpOauth", { serverId, ...more }, "authorizationUrl expiresAt");
}

/** From our page to the authorisation server's answer: the address that it redirects the browser to. */
export async function agree(
  browser: FormBrowser,
  authorizationUrl: string,
  { username, answer = "allow" }: { username: string; answer?: "allow" | "deny" },
): Promise<string> {
  const consent = await browser.get(authorizationUrl);
  const onward = await browser.submit(authorizationUrl, consent);
  if (onward.location === null) throw new Error(`The page does not go on: ${onward.text}`);
  const login = await browser.get(onward.location);
  const back = await browser.submit(onward.location, login, { username, answer });
  if (back.location === null) throw new Error(`The server does not come back: ${back.text}`);
  return back.location;
}

/** Completes the whole flow; returns the last page. */
export async function connect(api: ApiClient, serverId: string, username: string): Promise<Shown> {
  const { authorizationUrl } = await begin(api, serverId);
  const browser = new FormBrowser();
  return browser.get(await agree(browser, authorizationUrl ?? "", { username }));
}

export async function connectionOf(api: ApiClient, serverId: string) {
  const query =
    "query ($id: ID!) { node(id: $id) { ... on McpServer { connection: account { status connectedAt expiresAt } } } }";
  type Answer = {
    node: { connection: { status: string; connectedAt: string | null; expiresAt: string | null } };
  };
  return (await api.get<Answer>(query, { id: serverId })).node.connection;
}
