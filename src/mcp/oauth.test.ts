import { describe, expect, test } from "vitest";
import {
  beginAuthorization,
  clientDocument,
  findIssuerProblem,
  obtainClient,
  readTokens,
  scopesToRequest,
} from "./oauth.js";
import { OauthFailure, type AuthorizationServer, type OauthClient } from "./oauth-types.js";

const server: AuthorizationServer = {
  issuer: "https://login.example",
  authorizationEndpoint: "https://login.example/authorize?tenant=1",
  tokenEndpoint: "https://login.example/token",
  registrationEndpoint: null,
  revocationEndpoint: null,
  tokenAuthMethods: [],
  revocationAuthMethods: [],
  challengeMethods: ["S256"],
  scopes: [],
  announcesIssuer: false,
  takesClientDocuments: false,
  resource: "https://tools.example/mcp",
  resourceScopes: ["read", "write"],
};
const client: OauthClient = { id: "parley", secret: null, authMethod: null, secretExpiresAt: null };

describe("the requested scopes", () => {
  const challenge = { resourceMetadataUrl: null, scope: " read  admin " };
  const cases: [string, Partial<AuthorizationServer>, Parameters<typeof scopesToRequest>[1], string[]][] = [
    [
      "an admin's, whatever else is said",
      { scopes: ["offline_access"] },
      { configured: ["a"], challenge },
      ["a"],
    ],
    ["the challenge's before the resource's", {}, { configured: [], challenge }, ["read", "admin"]],
    ["the resource's without a challenge", {}, { configured: [], challenge: null }, ["read", "write"]],
    ["none when none are named", { resourceScopes: [] }, { configured: [], challenge: null }, []],
    [
      "with a refresh token where the server has such a scope",
      { scopes: ["openid", "offline_access"] },
      { configured: [], challenge },
      ["read", "admin", "offline_access"],
    ],
    [
      "not that one alone",
      { scopes: ["offline_access"], resourceScopes: [] },
      { configured: [], challenge: null },
      [],
    ],
  ];
  test.each(cases)("are %s", (_name, facts, requested, expected) => {
    expect(scopesToRequest({ ...server, ...facts }, requested)).toEqual(expected);
  });
});

describe("an answer's issuer", () => {
  const cases: [string, Partial<AuthorizationServer>, string | null, boolean][] = [
    ["is right when it is the one that was asked", { announcesIssuer: true }, "https://login.example", true],
    ["is wrong when it is another", {}, "https://evil.example", false],
    ["is wrong when it differs by a slash", {}, "https://login.example/", false],
    ["may be absent when the server never names it", {}, null, true],
    ["may not be absent when the server always names it", { announcesIssuer: true }, null, false],
    ["is anybody's when the server is unknown", { issuer: null }, "https://any.example", true],
  ];
  test.each(cases)("%s", (_name, facts, issuer, isRight) => {
    expect(findIssuerProblem({ ...server, ...facts }, issuer) === null).toBe(isRight);
  });
});

test("a browser is sent with PKCE, the resource, the exact redirect and the scopes, and no state", async () => {
  const wanted = { redirectUri: "https://parley.example/p/mcp/oauth/callback", scopes: ["read", "write"] };
  const { authorizationUrl, codeVerifier } = await beginAuthorization({ server, client }, wanted);
  const { code_challenge: challenge, ...rest } = Object.fromEntries(authorizationUrl.searchParams);
  expect(rest).toEqual({
    tenant: "1",
    response_type: "code",
    client_id: "parley",
    code_challenge_method: "S256",
    redirect_uri: wanted.redirectUri,
    scope: "read write",
    resource: "https://tools.example/mcp",
  });
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(codeVerifier));
  expect(challenge).toBe(Buffer.from(hash).toString("base64url"));
});

test.each([[[]], [["plain"]]])("a server whose PKCE methods are %j is refused", async (challengeMethods) => {
  const begun = beginAuthorization(
    { server: { ...server, challengeMethods }, client },
    { redirectUri: "https://parley.example/mcp/oauth/callback", scopes: [] },
  );
  await expect(begun).rejects.toMatchObject({
    kind: "metadata",
    message: expect.stringContaining("PKCE") as string,
  });
});

describe("a token answer", () => {
  const answer = { access_token: "abc", token_type: "bearer" };
  const read = {
    accessToken: "abc",
    tokenType: "Bearer",
    refreshToken: null,
    scopes: null,
    expiresInSeconds: null,
  };
  const cases: [string, object, object][] = [
    ["of the least that there can be", {}, {}],
    ["with any spelling of bearer", { token_type: "BEARER" }, {}],
    ["of another type, which is preserved", { token_type: "DPoP" }, { tokenType: "DPoP" }],
    [
      "with all there is",
      { refresh_token: "r", scope: "a  b", expires_in: 3600.9 },
      { refreshToken: "r", scopes: ["a", "b"], expiresInSeconds: 3600 },
    ],
    ["whose life is no time", { expires_in: -5 }, {}],
    ["that lives for ever", { expires_in: 1e300 }, { expiresInSeconds: 3_153_600_000 }],
    ["that is spent already", { expires_in: 0 }, { expiresInSeconds: 0 }],
    ["with an empty refresh token, which is none", { refresh_token: "" }, {}],
  ];
  test.each(cases)("%s is read", (_name, fields, expected) => {
    expect(readTokens({ ...answer, ...fields })).toEqual({ ...read, ...expected });
  });

  const wrong: [string, object][] = [
    ["an empty token", { access_token: "" }],
    ["a token with a line break", { access_token: "a\r\nx-admin: 1" }],
    ["a token beyond ASCII", { access_token: "tökén" }],
    ["a token that fits no header", { access_token: "x".repeat(16_385) }],
    ["a type that is no word", { token_type: "Bearer\nX:" }],
  ];
  test.each(wrong)("with %s is refused without repeating it", (_name, fields) => {
    expect(() => readTokens({ ...answer, ...fields })).toThrow(OauthFailure);
  });
});

test("where a server takes the address of our description, that is the client", async () => {
  const documentUrl = "https://parley.example/mcp/oauth/client.json";
  const redirectUri = "https://parley.example/mcp/oauth/callback";
  const wanted = { redirectUri, documentUrl, scopes: [] };
  const noFetch = () => Promise.reject(new Error("Nothing is to be asked."));
  const made = await obtainClient({ ...server, takesClientDocuments: true }, wanted, noFetch);
  expect(made).toEqual({ id: documentUrl, secret: null, authMethod: "none", secretExpiresAt: null });
  expect(clientDocument({ documentUrl, redirectUri, homeUrl: "https://parley.example" })).toMatchObject({
    client_id: documentUrl,
    redirect_uris: [redirectUri],
    grant_types: ["authorization_code", "refresh_token"],
    token_endpoint_auth_method: "none",
  });
  await expect(obtainClient(server, wanted, noFetch)).rejects.toMatchObject({ kind: "metadata" });
});
