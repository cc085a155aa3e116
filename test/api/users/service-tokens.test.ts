// Service tokens signed by an issuer, with its metadata, keys and signatures over real HTTP.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ApiClient } from "../../support/clients/api-client.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";

const AUDIENCE = "parley-of-the-tests";
type KeyPair = Awaited<ReturnType<typeof generateKeyPair>>;

let environment: TestEnvironment;
let server: TestParley;
let web: Server;
let issuer: string;
let own: KeyPair;
let otherKeys: KeyPair;
beforeAll(async () => {
  [own, otherKeys] = await Promise.all([generateKeyPair("ES256"), generateKeyPair("ES256")]);
  const keys = { keys: [{ ...(await exportJWK(own.publicKey)), kid: "own", alg: "ES256", use: "sig" }] };
  web = createServer((request, response) => {
    const isKeys = request.url === "/keys";
    const metadata = { issuer, jwks_uri: `${issuer}/keys`, authorization_endpoint: `${issuer}/authorize` };
    response.setHeader("content-type", "application/json").end(JSON.stringify(isKeys ? keys : metadata));
  });
  web.listen(0, "127.0.0.1");
  await once(web, "listening");
  issuer = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
  environment = await createTestEnvironment();
  server = await environment.start({
    PARLEY_JWT_ISSUER: issuer,
    PARLEY_JWT_AUDIENCE: AUDIENCE,
    PARLEY_OIDC_ROLE_CLAIM: "roles",
    PARLEY_OIDC_ADMIN_VALUES: "ops",
  });
});
afterAll(async () => {
  await environment.remove();
  web.close();
});

type TokenOverrides = {
  claims?: JWTPayload;
  keys?: KeyPair;
  issuer?: string;
  audience?: string;
  expiresIn?: number | null;
  notBeforeIn?: number;
};

async function sign(overrides: TokenOverrides = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1_000);
  const token = new SignJWT({ sub: "service-1", preferred_username: "Deploy Bot", ...overrides.claims })
    .setProtectedHeader({ alg: "ES256", kid: "own" })
    .setIssuer(overrides.issuer ?? issuer)
    .setAudience(overrides.audience ?? AUDIENCE);
  if (overrides.expiresIn !== null) token.setExpirationTime(now + (overrides.expiresIn ?? 3_600));
  if (overrides.notBeforeIn !== undefined) token.setNotBefore(now + overrides.notBeforeIn);
  return token.sign((overrides.keys ?? own).privateKey);
}

const ask = (token: string) =>
  new ApiClient(server.api.url, token).ask<{ viewer: { user: object } }>(
    "{ viewer { user { username role } } }",
  );

/** An unsigned token, which the library refuses to create. */
function unsigned(): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { iss: issuer, aud: AUDIENCE, sub: "service-1", exp: 4_000_000_000 };
  return `${part({ alg: "none" })}.${part(claims)}.AAAA`;
}

test("a service is identified by its subject, and has the role in its current claim", async () => {
  const user = { username: "deploy.bot", role: "MEMBER" };
  const [first, again] = [await ask(await sign()), await ask(await sign({ claims: { roles: ["ops"] } }))];
  expect([first.data?.viewer.user, again.data?.viewer.user]).toEqual([user, { ...user, role: "ADMIN" }]);
});

test("two first requests at the same time create one user", async () => {
  const claims = { sub: "service-2", preferred_username: "twin" };
  const tokens = await Promise.all([1, 2, 3, 4].map((nonce) => sign({ claims: { ...claims, nonce } })));
  const answers = await Promise.all(tokens.map(ask));
  const user = { username: "twin", role: "MEMBER" };
  expect(answers.map(({ data }) => data?.viewer.user)).toEqual([user, user, user, user]);
});

describe("is not a valid token:", () => {
  test.each<[string, () => Promise<string> | string]>([
    ["one that another has signed", () => sign({ keys: otherKeys })],
    ["one of another issuer", () => sign({ issuer: "https://evil.example" })],
    ["one for another audience", () => sign({ audience: "another" })],
    ["one that has expired", () => sign({ expiresIn: -60 })],
    ["one without an end", () => sign({ expiresIn: null })],
    ["one that does not count yet", () => sign({ notBeforeIn: 120 })],
    ["one without a subject", () => sign({ claims: { sub: undefined } })],
    ["one without a signature", () => unsigned()],
    ["one that only looks like one", () => "a.b.c"],
  ])("%s", async (_what, make) => {
    expect((await ask(await make())).status).toBe(401);
  });
});

test("clock skew of half a minute is tolerated", async () => {
  expect((await ask(await sign({ expiresIn: -10 }))).status).toBe(200);
});

test("API tokens remain valid beside them", async () => {
  expect((await server.api.ask("{ viewer { permissions } }")).status).toBe(200);
});
