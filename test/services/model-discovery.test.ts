// Listing a provider's models is bounded in time and size, whatever the provider does.
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { discoverModels, DISCOVERY_TIMEOUT_MS } from "../../src/services/models/model-discovery.js";
import { ProviderEndpoints } from "../../src/services/models/provider-endpoints.js";
import { createLog } from "../../src/lib/log.js";
import { OutboundFetch } from "../../src/lib/outbound/outbound-fetch.js";
import { createProvider } from "../../src/providers/registry.js";
import { Database } from "../../src/store/common/database.js";
import { ManualClock } from "../agent/manual-clock.js";
import { createTestDatabase, type TestDatabase } from "../support/database/database.js";
import { insertSomeProvider } from "../support/database/model-rows.js";
import { testSecretBox } from "../support/users/secrets-keys.js";

let testDatabase: TestDatabase;
let database: Database;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = new Database(testDatabase.dataSource);
});
afterAll(() => testDatabase.drop());
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** Lists the models of a provider with that answer; `clock` is the request's. */
async function ask(answer: RequestListener) {
  const server = createServer(answer);
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const provider = await insertSomeProvider(database, {
    kind: "openai_compatible",
    openaiApi: "chat",
    baseUrl,
  });
  const clock = new ManualClock();
  const outbound = new OutboundFetch(clock);
  const parts = { database, clock, outbound, log: createLog("silent"), secrets: testSecretBox };
  const endpoints = new ProviderEndpoints({ ...parts, keys: {}, demoUrl: null });
  const found = discoverModels(
    { database, clock, endpoints, createAdapter: createProvider },
    provider,
    "nobody",
  );
  return { found, clock, server };
}

const LIST = { "content-type": "application/json" };

test("a silent provider times out after ten seconds", async () => {
  let asked: () => void = () => undefined;
  const isAsked = new Promise<void>((resolve) => (asked = resolve));
  const { found, clock } = await ask(() => asked());
  await isAsked;
  clock.advance(DISCOVERY_TIMEOUT_MS);
  expect(await found).toMatchObject({ ok: false, failure: { kind: "timeout" } });
});

test("a list that does not end times out after ten seconds", async () => {
  let begun: () => void = () => undefined;
  const hasBegun = new Promise<void>((resolve) => (begun = resolve));
  const { found, clock } = await ask((_request, response) => {
    response.writeHead(200, LIST).write('{"object":"list","data":[', () => begun());
  });
  await hasBegun;
  clock.advance(DISCOVERY_TIMEOUT_MS);
  expect(await found).toMatchObject({ ok: false, failure: { kind: "timeout" } });
});

test("a list of any size is not read to its end", async () => {
  const { found } = await ask((_request, response) => {
    const entry = JSON.stringify({ id: "m", description: "x".repeat(1_000_000) });
    response.writeHead(200, LIST).end(`{"object":"list","data":[${Array(10).fill(entry).join()}]}`);
  });
  expect(await found).toMatchObject({ ok: false, failure: { kind: "timeout" } });
});

test.each([
  ["a key that is not taken", 401, '{"error":{"message":"Wrong key."}}', "unauthorized"],
  ["no list", 404, "{}", "refused"],
  ["an HTML page", 200, "<html><body>Welcome</body></html>", "refused"],
  ["something else than a list", 200, '{"data": 7}', "refused"],
  ["nothing", 200, "", "refused"],
])("%s is reported", async (_name, status, body, kind) => {
  const { found } = await ask((_request, response) => void response.writeHead(status, LIST).end(body));
  expect(await found).toMatchObject({ ok: false, failure: { kind } });
});
