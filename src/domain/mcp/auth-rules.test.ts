import { describe, expect, test } from "vitest";
import type { McpAuthChange, StoredSecrets } from "./auth-rules.js";
import { type McpServerChange, planMcpServerChange, planNewMcpServer } from "./server-rules.js";

const CLIENT = {
  clientId: "parley",
  authorizeUrl: "https://id.example/authorize",
  tokenUrl: "https://id.example/token",
};

function planWith(auth: McpAuthChange) {
  return planNewMcpServer({
    slug: "files",
    displayName: "Files",
    url: "https://mcp.example/mcp",
    transport: "streamable_http",
    auth,
  });
}

function pathsOf(auth: McpAuthChange): string[] {
  const plan = planWith(auth);
  return plan.ok ? [] : plan.problems.map(({ path }) => path.join("."));
}

const key = (header: string, value = "key"): McpAuthChange => ({
  kind: "api_key",
  header,
  value: { set: value },
});
const headers = (...names: string[]): McpAuthChange => ({
  kind: "custom_headers",
  headers: names.map((name) => ({ name, value: { set: "value" } })),
});

test.each<[string, McpAuthChange, string[]]>([
  ["nothing", { kind: "none", isConfirmed: true }, []],
  ["nothing, denied", { kind: "none", isConfirmed: false }, ["auth.none"]],
  ["the user's identity", { kind: "user_identity", isConfirmed: true }, []],
  ["the user's identity, unconfirmed", { kind: "user_identity", isConfirmed: false }, ["auth.userIdentity"]],
  ["OAuth by discovery", { kind: "oauth2" }, []],
  ["OAuth by discovery with scopes", { kind: "oauth2", scopes: ["read:all", "write"] }, []],
  ["a whole client", { kind: "oauth2", ...CLIENT }, []],
  ["a client with a secret", { kind: "oauth2", ...CLIENT, clientSecret: { set: "s e c r e t" } }, []],
  [
    "a client's id alone",
    { kind: "oauth2", clientId: "parley" },
    ["auth.oauth2.authorizeUrl", "auth.oauth2.tokenUrl"],
  ],
  [
    "addresses alone",
    { kind: "oauth2", authorizeUrl: CLIENT.authorizeUrl, tokenUrl: CLIENT.tokenUrl },
    ["auth.oauth2.clientId"],
  ],
  ["a secret of no client", { kind: "oauth2", clientSecret: { set: "s" } }, ["auth.oauth2.clientSecret"]],
  ["a blank client", { kind: "oauth2", ...CLIENT, clientId: " " }, ["auth.oauth2.clientId"]],
  [
    "a blank secret",
    { kind: "oauth2", ...CLIENT, clientSecret: { set: " " } },
    ["auth.oauth2.clientSecret.set"],
  ],
  [
    "a clear that is false",
    { kind: "oauth2", ...CLIENT, clientSecret: { clear: false } },
    ["auth.oauth2.clientSecret.clear"],
  ],
  [
    "scopes that are none",
    { kind: "oauth2", scopes: ["read", "", "read write", 'a"b', "a\\b", "ä", "x".repeat(257)] },
    [1, 2, 3, 4, 5, 6].map((index) => `auth.oauth2.scopes.${index}`),
  ],
  [
    "too many scopes",
    { kind: "oauth2", scopes: Array.from({ length: 101 }, (_, index) => `s${index}`) },
    ["auth.oauth2.scopes"],
  ],
  ["a key", key("Authorization", "Bearer x y"), []],
  ["a pasted key", key(" X-Api-Key ", " key\n"), []],
  ["a key without a header", { kind: "api_key", value: { set: "key" } }, ["auth.apiKey.header"]],
  ["a key without a value", { kind: "api_key", header: "X-Api-Key" }, ["auth.apiKey.value"]],
  [
    "a key that is cleared",
    { kind: "api_key", header: "X-Api-Key", value: { clear: true } },
    ["auth.apiKey.value"],
  ],
  ["a blank key", key("X-Api-Key", " "), ["auth.apiKey.value.set"]],
  ["a key with a line break inside", key("X-Api-Key", "a\r\nHost: evil"), ["auth.apiKey.value.set"]],
  ["a key that is no ASCII", key("X-Api-Key", "schlüssel"), ["auth.apiKey.value.set"]],
  ["a key of 8,193 characters", key("X-Api-Key", "x".repeat(8_193)), ["auth.apiKey.value.set"]],
  ["headers", headers("X-One", "X-Two"), []],
  ["no headers", headers(), ["auth.headers"]],
  ["20 headers", headers(...Array.from({ length: 20 }, (_, index) => `X-${index}`)), []],
  ["21 headers", headers(...Array.from({ length: 21 }, (_, index) => `X-${index}`)), ["auth.headers"]],
  ["a header twice", headers("X-One", "x-one"), ["auth.headers.1.name"]],
  [
    "headers without values",
    { kind: "custom_headers", headers: [{ name: "X-One" }, { name: "X-Two", value: { clear: true } }] },
    ["auth.headers.0.value", "auth.headers.1.value"],
  ],
])("for %s the problems are at the fields", (_name, auth, paths) => {
  expect(pathsOf(auth)).toEqual(paths);
});

test.each([
  "",
  "a b",
  "a:b",
  "ä",
  "a\r\nb",
  "x".repeat(101),
  "Host",
  "connection",
  "Keep-Alive",
  "TE",
  "Trailer",
  "Transfer-Encoding",
  "Upgrade",
  "Proxy-Authorization",
  "Content-Type",
  "content-length",
  "Accept",
  "Expect",
  "Last-Event-ID",
  "Mcp-Session-Id",
  "MCP-Protocol-Version",
])("a custom header may not be called %j", (name) => {
  expect([pathsOf(key(name)), pathsOf(headers(name))]).toEqual([
    ["auth.apiKey.header"],
    ["auth.headers.0.name"],
  ]);
});

test("no problem repeats a secret", () => {
  const secret = "s3cret\u0001value";
  const plans = [
    planWith(key("X-Api-Key", secret)),
    planWith({ kind: "custom_headers", headers: [{ name: "Host", value: { set: secret } }] }),
    planWith({ kind: "oauth2", ...CLIENT, clientSecret: { set: secret } }),
  ];
  expect(plans.map(({ ok }) => ok)).toEqual([false, false, false]);
  expect(JSON.stringify(plans)).not.toContain("s3cret");
});

describe("for an existing server", () => {
  const NO_SECRETS: StoredSecrets = { hasOauthClientSecret: false, hasApiKey: false, headerNames: [] };
  const former = {
    key: { auth: key("X-Api-Key"), secrets: { ...NO_SECRETS, hasApiKey: true } },
    headers: { auth: headers("X-One", "X-Two"), secrets: { ...NO_SECRETS, headerNames: ["X-One", "X-Two"] } },
    oauth: {
      auth: { kind: "oauth2", ...CLIENT, scopes: ["read"], clientSecret: { set: "s" } } as McpAuthChange,
      secrets: { ...NO_SECRETS, hasOauthClientSecret: true },
    },
  };

  function planAfter(kind: keyof typeof former, change: McpServerChange) {
    const { auth, secrets } = former[kind];
    const plan = planWith(auth);
    if (!plan.ok) throw new Error(JSON.stringify(plan.problems));
    return planMcpServerChange({ settings: plan.settings, secrets }, change);
  }

  test.each<[keyof typeof former, McpServerChange, object]>([
    ["key", { displayName: "Other" }, { oauthClientSecret: "keep", apiKey: "keep", customHeaders: "keep" }],
    [
      "key",
      { auth: { kind: "api_key" } },
      { oauthClientSecret: "clear", apiKey: "keep", customHeaders: "clear" },
    ],
    [
      "key",
      { auth: { kind: "api_key", value: { set: " new " } } },
      { oauthClientSecret: "clear", apiKey: { set: "new" }, customHeaders: "clear" },
    ],
    [
      "key",
      { auth: { kind: "none", isConfirmed: true } },
      { oauthClientSecret: "clear", apiKey: "clear", customHeaders: "clear" },
    ],
    [
      "headers",
      {
        auth: {
          kind: "custom_headers",
          headers: [{ name: "x-one" }, { name: "X-New", value: { set: "v" } }],
        },
      },
      {
        oauthClientSecret: "clear",
        apiKey: "clear",
        customHeaders: {
          headers: [
            { name: "x-one", value: null },
            { name: "X-New", value: "v" },
          ],
        },
      },
    ],
    [
      "oauth",
      { auth: { kind: "oauth2", scopes: [] } },
      { oauthClientSecret: "keep", apiKey: "clear", customHeaders: "clear" },
    ],
    [
      "oauth",
      { auth: { kind: "oauth2", clientSecret: { clear: true } } },
      { oauthClientSecret: "clear", apiKey: "clear", customHeaders: "clear" },
    ],
    // Another client has another secret.
    [
      "oauth",
      { auth: { kind: "oauth2", clientId: "other" } },
      { oauthClientSecret: "clear", apiKey: "clear", customHeaders: "clear" },
    ],
  ])("with %s, the change %j leaves these secrets", (kind, change, secrets) => {
    expect(planAfter(kind, change)).toMatchObject({ ok: true, secrets });
  });

  const MOVED = "https://evil.example/mcp";
  test.each<[keyof typeof former, McpServerChange, string[]]>([
    ["key", { url: "https://mcp.example/other" }, []],
    ["key", { url: MOVED }, ["auth.apiKey.value"]],
    ["key", { url: "http://mcp.example/mcp" }, ["auth.apiKey.value"]],
    ["key", { url: MOVED, auth: { kind: "api_key", header: "X-Other" } }, ["auth.apiKey.value"]],
    ["key", { url: MOVED, auth: key("X-Api-Key", "new") }, []],
    ["key", { url: MOVED, auth: { kind: "none", isConfirmed: true } }, []],
    ["headers", { url: MOVED }, ["auth.headers"]],
    [
      "headers",
      { url: MOVED, auth: { kind: "custom_headers", headers: [{ name: "X-One" }] } },
      ["auth.headers.0.value"],
    ],
    ["headers", { url: MOVED, auth: headers("X-One") }, []],
    ["oauth", { url: MOVED }, []],
    [
      "oauth",
      { auth: { kind: "oauth2", tokenUrl: "https://evil.example/token" } },
      ["auth.oauth2.clientSecret"],
    ],
    [
      "oauth",
      { auth: { kind: "oauth2", tokenUrl: "https://evil.example/token", clientSecret: { set: "new" } } },
      [],
    ],
    ["oauth", { auth: { kind: "oauth2", tokenUrl: "https://id.example/other" } }, []],
  ])(
    "with %s, the change %j requires secrets again at %j, so that they cannot be read by pointing them elsewhere",
    (kind, change, paths) => {
      const plan = planAfter(kind, change);
      expect(plan.ok ? [] : plan.problems.map(({ path }) => path.join("."))).toEqual(paths);
    },
  );
});
