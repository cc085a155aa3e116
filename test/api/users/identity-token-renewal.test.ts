// Users' identity provider tokens, which are sent to MCP servers, are renewed once for all replicas.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { FreshIdentityTokens } from "../../../src/identity/identity-tokens.js";
import { IdentityProvider } from "../../../src/identity/provider.js";
import { systemClock } from "../../../src/lib/clock.js";
import { createLog } from "../../../src/lib/log.js";
import { findUserByUsername } from "../../../src/store/users/users.js";
import { freePort } from "../../support/network/free-port.js";
import {
  signIn,
  startIdentityProvider,
  type TestProvider,
  WindowlessBrowser,
} from "../../support/users/identity-provider.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";
import { testSecretBox } from "../../support/users/secrets-keys.js";

let environment: TestEnvironment;
let provider: TestProvider;
let server: TestParley;
let userId: string;
beforeAll(async () => {
  const port = await freePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  [environment, provider] = await Promise.all([
    createTestEnvironment(),
    startIdentityProvider(publicUrl, { ann: { preferred_username: "ann" } }, 3_600),
  ]);
  server = await environment.start({ ...provider.settings, PARLEY_PORT: String(port) });
  await signIn(new WindowlessBrowser(), publicUrl, "ann");
  userId = (await findUserByUsername(server.parley.database, "ann"))?.id ?? "";
});
afterAll(async () => {
  await environment.remove();
  await provider.close();
});

/** As on a replica, which shares only the database and the provider with others. */
function replica() {
  const { issuer } = provider;
  const asked = new IdentityProvider({
    ...{ issuer, clientId: "parley", clientSecret: "the-secret-of-the-tests", scopes: "openid" },
    ...{ redirectUri: "", now: () => systemClock.now() },
  });
  const renewals = vi.spyOn(asked, "refresh");
  const { database } = server.parley;
  const parts = { database, secrets: testSecretBox, clock: systemClock, log: createLog("silent") };
  const tokens = new FreshIdentityTokens({ ...parts, provider: asked, issuer });
  return { tokens, renewals };
}

const age = (interval: string) =>
  environment.database.dataSource.query(
    `UPDATE user_identities SET token_expires_at = now() + interval '${interval}' WHERE user_id = $1`,
    [userId],
  );

/** The token's subject according to the provider; undefined for an invalid token. */
async function subjectOf(token: string | null): Promise<string | undefined> {
  const answer = await fetch(`${provider.issuer}/me`, { headers: { authorization: `Bearer ${token}` } });
  return answer.ok ? ((await answer.json()) as { sub: string }).sub : undefined;
}

test("forty requests on two replicas for an expiring token renew it once, and all get the new one", async () => {
  const [one, two] = [replica(), replica()];
  const old = await one.tokens.of(userId);
  await age("30 seconds");
  const asks = Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? one : two).tokens.of(userId));
  const found = [...new Set(await Promise.all(asks))];
  expect(found).toEqual([expect.any(String)]);
  expect(found).not.toEqual([old]);
  expect(await subjectOf(found[0] ?? null)).toBe("ann");
  expect(one.renewals.mock.calls.length + two.renewals.mock.calls.length).toBe(1);
  // The rotated refresh token is stored: it allows another renewal, also on the other replica.
  await age("30 seconds");
  const next = await two.tokens.of(userId);
  expect([next === found[0], await subjectOf(next)]).toEqual([false, "ann"]);
});

test("while the provider is down, a token is used until it expires, and no longer", async () => {
  const { tokens } = replica();
  await provider.close();
  await age("30 seconds");
  const shown = await tokens.of(userId);
  await age("-1 second");
  expect([typeof shown, await tokens.of(userId)]).toEqual(["string", null]);
});
