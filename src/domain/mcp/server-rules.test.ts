import { describe, expect, test } from "vitest";
import type { McpServerSettings } from "./types.js";
import type { McpAuthChange } from "./auth-rules.js";
import {
  invalidatesAuthorizations,
  type McpServerChange,
  type NewMcpServer,
  planMcpServerChange,
  planNewMcpServer,
} from "./server-rules.js";

const NEW: NewMcpServer = {
  slug: "files",
  displayName: "Files",
  url: "https://mcp.example/mcp",
  transport: "streamable_http",
  auth: { kind: "none", isConfirmed: true },
};

/** The problems of a new server, as `path: message`. */
function problemsOf(input: Partial<NewMcpServer>): string[] {
  const plan = planNewMcpServer({ ...NEW, ...input });
  return plan.ok ? [] : plan.problems.map(({ path, message }) => `${path.join(".")}: ${message}`);
}

/** Only the paths. */
const pathsOf = (input: Partial<NewMcpServer>) => problemsOf(input).map((line) => line.split(": ")[0]);

function settingsOf(input: Partial<NewMcpServer> = {}): McpServerSettings {
  const plan = planNewMcpServer({ ...NEW, ...input });
  if (!plan.ok) throw new Error(JSON.stringify(plan.problems));
  return plan.settings;
}

test("a new server with nothing but what it must have is disabled and not selected by default", () => {
  expect(planNewMcpServer(NEW)).toEqual({
    ok: true,
    settings: {
      slug: "files",
      displayName: "Files",
      description: "",
      iconUrl: null,
      url: "https://mcp.example/mcp",
      transport: "streamable_http",
      authKind: "none",
      oauthClientId: null,
      oauthAuthorizeUrl: null,
      oauthTokenUrl: null,
      oauthScopes: [],
      apiKeyHeader: null,
      toolAllowList: [],
      toolDenyList: [],
      availability: "default_off",
      isEnabled: false,
      allowsPrivateAddresses: false,
    },
    secrets: { oauthClientSecret: "clear", apiKey: "clear", customHeaders: "clear" },
  });
});

describe("a slug", () => {
  test.each(["a", "0", "files", "my-files", "my_files", "a-_b", "x".repeat(32)])("may be %s", (slug) => {
    expect(pathsOf({ slug })).toEqual([]);
  });
  test.each([
    "",
    " ",
    "-a",
    "a-",
    "_a",
    "a_",
    "a__b",
    "A",
    "a b",
    "a.b",
    "ä",
    "x".repeat(33),
    "a\u0000",
    "a\n\nb",
  ])("may not be %j", (slug) => {
    expect(pathsOf({ slug })).toEqual(["slug"]);
  });
});

describe("an address", () => {
  test.each([
    ["https://mcp.example", "https://mcp.example/"],
    [" HTTPS://MCP.Example:443/Mcp?tenant=1 ", "https://mcp.example/Mcp?tenant=1"],
    ["http://[::1]:3000/sse", "http://[::1]:3000/sse"],
    ["https://bücher.example/mcp", "https://xn--bcher-kva.example/mcp"],
  ])("%j is stored as %s", (url, stored) => {
    expect(settingsOf({ url }).url).toBe(stored);
  });
  test.each([
    "",
    "mcp.example",
    "ftp://mcp.example",
    "javascript:alert(1)",
    "https://",
    "https://user@mcp.example",
    "https://user:word@mcp.example/",
    "https://mcp.example/#part",
    "https://mcp.example/#",
    `https://mcp.example/${"x".repeat(2_048)}`,
  ])("%j is none", (address) => {
    const oauth: McpAuthChange = { kind: "oauth2", clientId: "c", authorizeUrl: address, tokenUrl: address };
    expect([pathsOf({ url: address }), pathsOf({ iconUrl: address }), pathsOf({ auth: oauth })]).toEqual([
      ["url"],
      ["iconUrl"],
      ["auth.oauth2.authorizeUrl", "auth.oauth2.tokenUrl"],
    ]);
  });
  test("with a user and a fragment has both problems", () => {
    expect(pathsOf({ url: "https://a@b.example/#c" })).toEqual(["url", "url"]);
  });
});

test.each<[Partial<NewMcpServer>, string[]]>([
  [{ displayName: " " }, ["displayName"]],
  [{ displayName: "x".repeat(100) }, []],
  [{ displayName: "x".repeat(101) }, ["displayName"]],
  [{ displayName: "a\u0000b" }, ["displayName"]],
  [{ description: "Two\nlines\tand a tab" }, []],
  [{ description: "x".repeat(2_000) }, []],
  [{ description: "x".repeat(2_001) }, ["description"]],
  [{ description: "\u001b[31mred" }, ["description"]],
  [{ toolAllowList: Array.from({ length: 200 }, (_, index) => `tool-${index}`) }, []],
  [{ toolAllowList: Array.from({ length: 201 }, (_, index) => `tool-${index}`) }, ["toolAllowList"]],
  [{ toolDenyList: ["a", "", "x".repeat(256), "x".repeat(257)] }, ["toolDenyList.1", "toolDenyList.3"]],
  [{ toolAllowList: ["a", "b"], toolDenyList: ["c", "b"] }, ["toolDenyList.1"]],
  [
    { displayName: "", slug: "A", url: "x", toolDenyList: [""] },
    ["slug", "displayName", "url", "toolDenyList.0"],
  ],
])("of %j the problems are at %j", (input, paths) => {
  expect(pathsOf(input)).toEqual(paths);
});

test("a name that is listed twice counts once", () => {
  expect(settingsOf({ toolDenyList: ["a", "b", "a"] }).toolDenyList).toEqual(["a", "b"]);
});

/** A server with all the secrets of its kind stored. */
function before(input: Partial<NewMcpServer> = {}, headerNames: string[] = []) {
  const settings = settingsOf(input);
  const secrets = {
    hasOauthClientSecret: settings.oauthClientId !== null,
    hasApiKey: settings.authKind === "api_key",
    headerNames,
  };
  return { settings, secrets };
}

function change(update: McpServerChange, old = before()) {
  const plan = planMcpServerChange(old, update);
  return plan.ok ? plan.settings : plan.problems.map(({ path }) => path.join("."));
}

describe("a change", () => {
  test("keeps what is absent and clears what is null", () => {
    const old = before({ description: "Words", iconUrl: "https://a.example/i.png", toolAllowList: ["a"] });
    expect([
      change({}, old),
      change({ description: null, iconUrl: null, toolAllowList: null }, old),
      change({ description: "Other", isPrivateNetworkAllowed: true, isEnabled: true }, old),
    ]).toEqual([
      old.settings,
      { ...old.settings, description: "", iconUrl: null, toolAllowList: [] },
      { ...old.settings, description: "Other", allowsPrivateAddresses: true, isEnabled: true },
    ]);
  });

  test("cannot clear what a server requires", () => {
    const nulls = { displayName: null, url: null, transport: null, auth: null, availability: null };
    expect(change({ ...nulls, isEnabled: null, isPrivateNetworkAllowed: null })).toEqual([
      "displayName",
      "url",
      "transport",
      "auth",
      "availability",
      "isEnabled",
      "isPrivateNetworkAllowed",
    ]);
  });

  test("of one list is checked against the other as it is", () => {
    expect(change({ toolAllowList: ["x", "b"] }, before({ toolDenyList: ["b"] }))).toEqual([
      "toolAllowList.1",
    ]);
  });
});

describe("a change invalidates users' authorizations", () => {
  const client: McpAuthChange = {
    kind: "oauth2",
    clientId: "parley",
    authorizeUrl: "https://id.example/authorize",
    tokenUrl: "https://id.example/token",
  };
  const old = before({ auth: client });
  test.each<[McpServerChange, boolean]>([
    [{ displayName: "Other", isEnabled: true, transport: "sse", toolDenyList: ["a"] }, false],
    [{ url: "HTTPS://mcp.example:443/mcp" }, false],
    [{ auth: { kind: "oauth2", scopes: ["read"] } }, false],
    [{ auth: { kind: "oauth2", clientSecret: { set: "new" } } }, false],
    [{ url: "https://mcp.example/other" }, true],
    [{ url: "https://evil.example/mcp" }, true],
    [{ auth: { kind: "oauth2", clientId: "other" } }, true],
    [{ auth: { ...client, tokenUrl: "https://id.example/other" } }, true],
    [{ auth: { kind: "oauth2", clientId: null, authorizeUrl: null, tokenUrl: null } }, true],
    [{ auth: { kind: "none", isConfirmed: true } }, true],
  ])("of %j: %s", (update, invalidates) => {
    const after = change(update, old);
    if (Array.isArray(after)) throw new Error(after.join());
    expect(invalidatesAuthorizations(old.settings, after)).toBe(invalidates);
  });
});
