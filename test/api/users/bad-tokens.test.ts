// Callers that guess tokens are rejected on every endpoint of a server, while others behind the same address are not.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import {
  AGENT_INSTANCE_HEADER,
  AGENT_PROTOCOL_HEADER,
  DIAL_OUT_PATH,
} from "../../../src/agent/protocol/dial-out.js";
import { AGENT_PROTOCOL_VERSION } from "../../../src/agent/protocol/paths.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";

const LIMIT = 3;
let environment: TestEnvironment;
let server: TestParley;
beforeAll(async () => {
  environment = await createTestEnvironment();
  server = await environment.start({
    PARLEY_RATE_LIMITS: "on",
    PARLEY_RATE_LIMIT_ADDRESS_FAILURES: String(LIMIT),
    PARLEY_TRUSTED_PROXIES: "loopback",
  });
});
afterAll(() => environment.remove());

const from = (address: string, token: string) => ({
  authorization: `Bearer ${token}`,
  "x-forwarded-for": address,
});

async function callAsAgent(address: string): Promise<number | undefined> {
  const socket = new WebSocket(`${server.api.url.replace("http", "ws")}${DIAL_OUT_PATH}`, {
    headers: {
      ...from(address, "pa_bad"),
      [AGENT_INSTANCE_HEADER]: randomUUID(),
      [AGENT_PROTOCOL_HEADER]: String(AGENT_PROTOCOL_VERSION),
    },
  });
  socket.on("error", () => undefined);
  const [, response] = (await once(socket, "unexpected-response")) as [unknown, { statusCode?: number }];
  return response.statusCode;
}

const fetchFile = (address: string, link = "") =>
  fetch(`${server.api.url}/files/file_${randomUUID()}${link}`, { headers: from(address, "pt_bad") });

test("invalid agent tokens, file tokens and forged links count together, per address", async () => {
  expect(await callAsAgent("198.51.100.1")).toBe(401);
  // The token and the link count as two attempts.
  expect((await fetchFile("198.51.100.1", "?expires=1&signature=forged")).status).toBe(401);
  expect((await fetchFile("198.51.100.1")).status).toBe(401);
  const refused = await fetchFile("198.51.100.1");
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, expect.stringMatching(/^\d+$/)]);
  expect(await refused.json()).toMatchObject({
    errors: [{ extensions: { code: "RATE_LIMITED", retryAfterMs: expect.any(Number) } }],
  });
  expect(await callAsAgent("198.51.100.1")).toBe(429);
  expect(await callAsAgent("198.51.100.2")).toBe(401);
});

test("known users continue from an address with many failures, and new ones have to wait", async () => {
  const ask = async (token: string) => {
    const response = await fetch(`${server.api.url}/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json", ...from("198.51.100.9", token) },
      body: JSON.stringify({ query: "{ viewer { user { username } } }" }),
    });
    return response.status;
  };
  const [known, newcomer] = [await server.addUser("known"), await server.addUser("newcomer")];
  expect(await ask(known.token ?? "")).toBe(200);
  for (let tries = 0; tries <= LIMIT; tries += 1) await ask(`pt_guess_${tries}`);
  expect([await ask(known.token ?? ""), await ask(newcomer.token ?? ""), await ask("pt_guess")]).toEqual([
    200, 429, 429,
  ]);
});
