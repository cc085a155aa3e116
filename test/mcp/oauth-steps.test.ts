// Discovery, registration, refresh and revocation against small HTTP servers with the answers of each table row.
import { createServer, type IncomingMessage, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { discoverAuthorizationServer, readChallenge } from "../../src/mcp/oauth-discovery.js";
import { obtainClient, refreshTokens, revokeToken } from "../../src/mcp/oauth.js";
import type { AuthorizationServer, OauthClient } from "../../src/mcp/oauth-types.js";

/** The answer at a path; text is sent unchanged except that `{origin}` is replaced by the server's origin. */
type Answers = Record<string, { status?: number; body?: unknown; headers?: Record<string, string> }>;
type Asked = { path: string; method: string; body: string; authorization: string | undefined };

const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
});

async function answering(answers: Answers): Promise<{ origin: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const path = request.url ?? "";
      asked.push({ path, method: request.method ?? "", body, authorization: request.headers.authorization });
      const { status = 200, body: answer = {}, headers = {} } = answers[path] ?? { status: 404 };
      const filled = (text: string) => text.replaceAll("{origin}", origin);
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, filled(value));
      response.writeHead(status, { "content-type": "application/json" });
      response.end(filled(typeof answer === "string" ? answer : JSON.stringify(answer)));
    });
  });
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, asked };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

const RESOURCE = "/.well-known/oauth-protected-resource";
const METADATA = "/.well-known/oauth-authorization-server";
const OPENID = "/.well-known/openid-configuration";

const metadata = (issuer: string, more: object = {}) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  response_types_supported: ["code"],
  code_challenge_methods_supported: ["S256"],
  ...more,
});
const openid = (issuer: string, more: object = {}) => ({
  ...metadata(issuer),
  jwks_uri: `${issuer}/jwks`,
  subject_types_supported: ["public"],
  id_token_signing_alg_values_supported: ["RS256"],
  ...more,
});
const resource = (more: object = {}) => ({
  resource: "{origin}/mcp",
  authorization_servers: ["{origin}/tenant"],
  ...more,
});

describe("an authorisation server is found", () => {
  const whole = { issuer: "{origin}", tokenEndpoint: "{origin}/token", challengeMethods: ["S256"] };
  const tenant = { issuer: "{origin}/tenant", tokenEndpoint: "{origin}/tenant/token" };
  const rows: [string, string, Answers, object][] = [
    [
      "by the resource's description at its own path",
      "/mcp",
      {
        [`${RESOURCE}/mcp`]: { body: resource({ scopes_supported: ["read"] }) },
        [`${METADATA}/tenant`]: { body: metadata("{origin}/tenant") },
      },
      { ...tenant, resource: "{origin}/mcp", resourceScopes: ["read"] },
    ],
    [
      "by the description at the root, the address ending in a slash",
      "/mcp/",
      {
        [RESOURCE]: { body: resource({ authorization_servers: ["{origin}/tenant/"] }) },
        [`${METADATA}/tenant`]: { body: metadata("{origin}/tenant") },
      },
      tenant,
    ],
    [
      "by OpenID's metadata, where the path comes first, with what only OAuth knows",
      "/mcp",
      {
        [`${RESOURCE}/mcp`]: { body: resource() },
        [`/tenant${OPENID}`]: {
          body: openid("{origin}/tenant", {
            revocation_endpoint: "{origin}/revoke",
            authorization_response_iss_parameter_supported: true,
          }),
        },
      },
      { ...tenant, revocationEndpoint: "{origin}/revoke", announcesIssuer: true },
    ],
    [
      "at the server's own root when the description names none",
      "/mcp",
      {
        [`${RESOURCE}/mcp`]: { body: resource({ authorization_servers: [] }) },
        [METADATA]: { body: metadata("{origin}") },
      },
      { ...whole, resource: "{origin}/mcp" },
    ],
    [
      "at the root of a server without a description",
      "/mcp",
      { [METADATA]: { body: metadata("{origin}") } },
      {
        ...whole,
        resource: null,
      },
    ],
    [
      "by the endpoints of the first edition without any metadata",
      "/mcp",
      {},
      {
        issuer: null,
        authorizationEndpoint: "{origin}/authorize",
        tokenEndpoint: "{origin}/token",
        registrationEndpoint: "{origin}/register",
        challengeMethods: null,
      },
    ],
  ];
  test.each(rows)("%s", async (_name, path, answers, expected) => {
    const { origin } = await answering(answers);
    const found = await discoverAuthorizationServer({ url: new URL(`${origin}${path}`) }, fetch);
    expect(found).toMatchObject(
      JSON.parse(JSON.stringify(expected).replaceAll("{origin}", origin)) as object,
    );
  });

  test("where the server's 401 points to, with the scope that it names", async () => {
    const { origin, asked } = await answering({
      "/mcp": {
        status: 401,
        headers: { "www-authenticate": 'Bearer resource_metadata="{origin}/elsewhere", scope="a b"' },
      },
      "/elsewhere": { body: resource() },
      [`${METADATA}/tenant`]: { body: metadata("{origin}/tenant") },
    });
    const url = new URL(`${origin}/mcp`);
    const challenge = await readChallenge(url, fetch);
    expect(challenge).toEqual({ resourceMetadataUrl: `${origin}/elsewhere`, scope: "a b" });
    expect(await discoverAuthorizationServer({ url, challenge }, fetch)).toMatchObject({
      issuer: `${origin}/tenant`,
    });
    expect(asked.map(({ path }) => path)).toEqual(["/mcp", "/elsewhere", `${METADATA}/tenant`]);
  });
});

describe("invalid metadata is refused", () => {
  const rows: [string, Answers][] = [
    ["when its description is no JSON", { [`${RESOURCE}/mcp`]: { body: "<html>" } }],
    ["when its description names no resource", { [`${RESOURCE}/mcp`]: { body: { resource: 7 } } }],
    ["when its description fails", { [`${RESOURCE}/mcp`]: { status: 503 } }],
    [
      "when its description is another server's",
      { [`${RESOURCE}/mcp`]: { body: resource({ resource: "https://other.example/mcp" }) } },
    ],
    [
      "when it names an address that runs scripts",
      { [`${RESOURCE}/mcp`]: { body: resource({ authorization_servers: ["javascript:alert(1)"] }) } },
    ],
    ["when the server that it names tells nothing", { [`${RESOURCE}/mcp`]: { body: resource() } }],
    ["when the metadata are no JSON", { [METADATA]: { body: "{" } }],
    ["when the metadata lack an endpoint", { [METADATA]: { body: { issuer: "{origin}" } } }],
    ["when the metadata fail", { [METADATA]: { status: 500 } }],
    [
      "when the metadata are another issuer's",
      {
        [`${RESOURCE}/mcp`]: { body: resource() },
        [`${METADATA}/tenant`]: { body: metadata("https://evil.example") },
      },
    ],
    [
      "when it gives no codes",
      { [METADATA]: { body: metadata("{origin}", { response_types_supported: ["token"] }) } },
    ],
  ];
  test.each(rows)("%s", async (_name, answers) => {
    const { origin } = await answering(answers);
    const found = discoverAuthorizationServer({ url: new URL(`${origin}/mcp`) }, fetch);
    await expect(found).rejects.toMatchObject({
      name: "OauthFailure",
      kind: expect.stringMatching(/metadata|answer/) as string,
    });
  });

  test("when it is not there", async () => {
    const url = new URL("http://127.0.0.1:1/mcp");
    await expect(discoverAuthorizationServer({ url }, fetch)).rejects.toMatchObject({ kind: "unreachable" });
    await expect(readChallenge(url, fetch)).rejects.toMatchObject({ kind: "unreachable" });
  });
});

const serverAt = (origin: string, more: Partial<AuthorizationServer> = {}): AuthorizationServer => ({
  issuer: origin,
  authorizationEndpoint: `${origin}/authorize`,
  tokenEndpoint: `${origin}/token`,
  registrationEndpoint: `${origin}/register`,
  revocationEndpoint: `${origin}/revoke`,
  tokenAuthMethods: [],
  revocationAuthMethods: [],
  challengeMethods: ["S256"],
  scopes: [],
  announcesIssuer: false,
  takesClientDocuments: false,
  resource: `${origin}/mcp`,
  resourceScopes: [],
  ...more,
});
const wanted = {
  redirectUri: "https://parley.example/mcp/oauth/callback",
  documentUrl: null,
  scopes: ["read"],
};

describe("Parley registers itself", () => {
  test.each([
    [["none", "client_secret_basic"], "none"],
    [["client_secret_post", "client_secret_basic"], "client_secret_basic"],
    [["client_secret_post"], "client_secret_post"],
    [[], "client_secret_basic"],
    [["private_key_jwt"], "client_secret_basic"],
  ])("with a server that supports %j as one with %s", async (tokenAuthMethods, method) => {
    const { origin, asked } = await answering({
      "/register": {
        status: 201,
        body: {
          client_id: "c1",
          client_secret: "s1",
          client_secret_expires_at: 5,
          redirect_uris: [wanted.redirectUri],
        },
      },
    });
    expect(await obtainClient(serverAt(origin, { tokenAuthMethods }), wanted, fetch)).toEqual({
      id: "c1",
      secret: "s1",
      authMethod: null,
      secretExpiresAt: 5_000,
    });
    expect(JSON.parse(asked[0]?.body ?? "")).toEqual({
      client_name: "Parley",
      redirect_uris: [wanted.redirectUri],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: method,
      scope: "read",
    });
  });

  const refusals: [string, Answers, object][] = [
    ["an answer without a client id", { "/register": { status: 201, body: {} } }, { kind: "answer" }],
    [
      "a refusal, with its reason",
      {
        "/register": {
          status: 400,
          body: { error: "invalid_redirect_uri", error_description: "Not here\u0007" },
        },
      },
      { kind: "refused", message: expect.stringContaining("Not here") as string },
    ],
    [
      "a page in place of an answer, which is not repeated",
      { "/register": { status: 403, body: "<html>secret</html>" } },
      { kind: "answer", message: expect.not.stringContaining("secret") as string },
    ],
  ];
  test.each(refusals)("and receives %s", async (_name, answers, expected) => {
    const { origin } = await answering(answers);
    await expect(obtainClient(serverAt(origin), wanted, fetch)).rejects.toMatchObject(expected);
  });
});

describe("tokens", () => {
  const client: OauthClient = { id: "c:1", secret: "s/1", authMethod: null, secretExpiresAt: null };

  test("that are renewed keep the refresh token when there is no other, and name the resource", async () => {
    const { origin, asked } = await answering({
      "/token": { body: { access_token: "new", token_type: "bearer", expires_in: "60" } },
    });
    const oauthClient = { server: serverAt(origin), client: { ...client, id: "c1" }, fetch };
    expect(await refreshTokens(oauthClient, "r1")).toEqual({
      accessToken: "new",
      tokenType: "Bearer",
      refreshToken: "r1",
      scopes: null,
      expiresInSeconds: 60,
    });
    expect(Object.fromEntries(new URLSearchParams(asked[0]?.body))).toEqual({
      grant_type: "refresh_token",
      refresh_token: "r1",
      resource: `${origin}/mcp`,
    });
    expect(asked[0]?.authorization).toBe(`Basic ${Buffer.from("c1:s/1").toString("base64")}`);
  });

  test("that cannot be renewed any more are distinguished from failing servers", async () => {
    const revoked = await answering({ "/token": { status: 400, body: { error: "invalid_grant" } } });
    const ill = await answering({ "/token": { status: 503, body: "busy" } });
    const oauthClient = (origin: string) => ({ server: serverAt(origin), client, fetch });
    await expect(refreshTokens(oauthClient(revoked.origin), "r")).rejects.toMatchObject({
      kind: "refused",
      code: "invalid_grant",
    });
    await expect(refreshTokens(oauthClient(ill.origin), "r")).rejects.toMatchObject({
      kind: "answer",
      code: null,
    });
  });

  test("are revoked with the client's secret in the way that the server supports", async () => {
    const { origin, asked } = await answering({ "/revoke": {} });
    const basic = { server: serverAt(origin), client, fetch };
    const posted = { ...basic, server: serverAt(origin, { revocationAuthMethods: ["client_secret_post"] }) };
    expect(await revokeToken(basic, { token: "t", kind: "refresh_token" })).toBe(true);
    expect(await revokeToken(posted, { token: "t", kind: "access_token" })).toBe(true);
    const nowhere = { ...basic, server: serverAt(origin, { revocationEndpoint: null }) };
    expect(await revokeToken(nowhere, { token: "t", kind: "access_token" })).toBe(false);
    expect(asked.map(({ body, authorization }) => [body, authorization])).toEqual([
      ["token=t&token_type_hint=refresh_token", `Basic ${Buffer.from("c%3A1:s%2F1").toString("base64")}`],
      ["token=t&token_type_hint=access_token&client_id=c%3A1&client_secret=s%2F1", undefined],
    ]);
  });
});
