// Rate limits by user and by address, over all transports, with the real counters.
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { RATE_LIMITS, RATE_WINDOW_MS } from "../../src/domain/common/rate-limits.js";
import { readAddresses } from "../../src/http/common/client-address.js";
import { createRateGate } from "../../src/http/common/rate-gate.js";
import { type RateLimitSizes, WindowLimits } from "../../src/adapters/rate-limits/window-limits.js";
import { BoundedMemory } from "../../src/adapters/rate-limits/bounded-memory.js";
import { ask, askOverSocket, openServers, RawSocket, TOKEN, type TestServer, viewer } from "./support.js";

const openServer = openServers();
const silent = pino({ level: "silent" });
const NONE = Object.fromEntries(RATE_LIMITS.map((limit) => [limit, 0])) as RateLimitSizes;

// The library reads the system clock, which is frozen here until advanced.
beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());
const passMinute = () => vi.setSystemTime(Date.now() + RATE_WINDOW_MS);

/** A server behind one proxy on this machine, so that requests can have any address. */
function open(
  sizes: Partial<RateLimitSizes>,
  more: Parameters<typeof openServer>[0] = {},
): Promise<TestServer> {
  const rates = new WindowLimits({ sizes: { ...NONE, ...sizes }, redis: null, log: silent });
  const rateGate = createRateGate(rates, readAddresses({ networks: ["127.0.0.0/8"] }));
  return openServer({ rateGate, ...more });
}

const refusal = (message: string) => ({
  errors: [
    expect.objectContaining({ message, extensions: { code: "RATE_LIMITED", retryAfterMs: RATE_WINDOW_MS } }),
  ],
});
const TOO_MANY = refusal("You have sent too many mutations; try again later.");
const TOO_MANY_HERE = refusal("Too many mutations from your address; try again later.");
const write = 'mutation { write(text: "x") }';

async function post(
  server: TestServer,
  query: string,
  headers: Record<string, string> = {},
  url = server.graphqlUrl,
) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${TOKEN}`, ...headers },
    body: JSON.stringify({ query }),
  });
  return {
    status: response.status,
    retryAfter: response.headers.get("retry-after"),
    text: await response.text(),
  };
}

test("beyond the limit a mutation over HTTP is refused with a retry delay", async () => {
  const server = await open({ "user-mutations": 2 });
  await ask(server, write);
  expect((await ask(server, write)).status).toBe(200);
  const { status, body, headers } = await ask(server, write);
  expect({ status, body, retryAfter: headers.get("retry-after") }).toEqual({
    status: 429,
    body: TOO_MANY,
    retryAfter: "60",
  });
  expect(server.world.written).toEqual(["x", "x"]);
  passMinute();
  expect((await ask(server, write)).body).toEqual({ data: { write: "x" } });
});

test("all transports share the counters", async () => {
  const server = await open({ "user-mutations": 3 });
  await ask(server, write);
  expect(await askOverSocket(server, write)).toEqual({ data: { write: "x" } });
  const stream = () => post(server, write, { accept: "text/event-stream" }, server.streamUrl);
  expect((await stream()).text).toContain('{"data":{"write":"x"}}');
  expect(await askOverSocket(server, write)).toEqual(TOO_MANY);
  expect((await stream()).text).toContain('"code":"RATE_LIMITED","retryAfterMs":60000');
  expect((await ask(server, write)).status).toBe(429);
  expect(server.world.written).toHaveLength(3);
});

test("each root field of a mutation counts, also aliased and within fragments", async () => {
  const server = await open({ "user-mutations": 4 });
  const three =
    'mutation { a: write(text: "1") ...B } fragment B on Mutation { b: write(text: "2") ... { c: write(text: "3") } }';
  expect((await ask(server, three)).body).toEqual({ data: { a: "1", b: "2", c: "3" } });
  expect((await ask(server, three)).body).toEqual(TOO_MANY);
  expect(server.world.written).toHaveLength(3);
});

test("queries, and mutations that are refused before they run, are not counted", async () => {
  const server = await open({ "user-mutations": 1 });
  for (const document of ["{ hello }", "mutation { nonsense }", "mutation { write }"])
    for (let times = 0; times < 3; times += 1) await ask(server, document);
  expect((await ask(server, write)).body).toEqual({ data: { write: "x" } });
});

test("a refused operation frees its slot on the socket", async () => {
  const server = await open({ "user-mutations": 1 }, { limits: { maxOperationsPerSocket: 1 } });
  const raw = await RawSocket.connect(server);
  for (const id of ["a", "b", "c"]) {
    raw.subscribe(id, write);
    await raw.until((message) => message.id === id && message.type !== "next");
  }
  expect(
    raw.messages.filter(({ type }) => type === "error").map(({ payload }) => ({ errors: payload })),
  ).toEqual([TOO_MANY, TOO_MANY]);
  raw.socket.terminate();
});

describe("by address", () => {
  const from = (server: TestServer, address: string) => post(server, write, { "x-forwarded-for": address });

  test("a client behind a trusted proxy is counted by itself, at sockets too", async () => {
    const server = await open({ "address-mutations": 1 });
    expect((await from(server, "198.51.100.1")).status).toBe(200);
    expect((await from(server, "6.6.6.6, 198.51.100.1")).status).toBe(429);
    expect((await from(server, "198.51.100.2")).status).toBe(200);
    const raw = await RawSocket.connect(server, { headers: { "x-forwarded-for": "198.51.100.2" } });
    raw.subscribe("a", write);
    expect((await raw.until(({ id }) => id === "a")).payload).toEqual(TOO_MANY_HERE.errors);
    raw.socket.terminate();
  });

  test("an untrusted client cannot forge its address", async () => {
    const rates = new WindowLimits({ sizes: { ...NONE, "address-mutations": 1 }, redis: null, log: silent });
    const server = await openServer({
      rateGate: createRateGate(rates, readAddresses({ networks: ["10.0.0.0/8"] })),
    });
    expect((await from(server, "198.51.100.1")).status).toBe(200);
    expect((await from(server, "198.51.100.2")).status).toBe(429);
    const raw = await RawSocket.connect(server, { headers: { "x-forwarded-for": "198.51.100.3" } });
    raw.subscribe("a", write);
    expect((await raw.until(({ id }) => id === "a")).payload).toEqual(TOO_MANY_HERE.errors);
    raw.socket.terminate();
  });

  test("all addresses of an IPv6 network count as one", async () => {
    const server = await open({ "address-mutations": 1 });
    expect((await from(server, "2001:db8:0:1::1")).status).toBe(200);
    expect((await from(server, "2001:db8:0:1:ffff::2")).status).toBe(429);
    expect((await from(server, "2001:db8:0:2::1")).status).toBe(200);
  });
});

describe("invalid tokens", () => {
  const authenticate = vi.fn(async (token: string) =>
    token === TOKEN || token === "pt_new" ? viewer : null,
  );
  const show = (server: TestServer, token: string) =>
    post(server, "{ hello }", { authorization: `Bearer ${token}` });
  beforeEach(() => void authenticate.mockClear());

  test("after too many of them only recently valid tokens are still looked up", async () => {
    const server = await open({ "address-failures": 2 }, { authenticate });
    expect((await show(server, TOKEN)).status).toBe(200);
    for (const status of [401, 401, 401, 429]) expect((await show(server, "pt_bad")).status).toBe(status);
    expect((await show(server, "pt_new")).retryAfter).toBe("60");
    expect(authenticate).toHaveBeenCalledTimes(4);
    passMinute();
    expect((await show(server, TOKEN)).status).toBe(200);
    expect((await show(server, "pt_new")).status).toBe(200);
  });

  test("a socket is closed with a code upon which its client retries later", async () => {
    const server = await open({ "address-failures": 1 }, { authenticate });
    for (const code of [4403, 4403, 1013]) {
      const raw = await RawSocket.open(server);
      raw.send({ type: "connection_init", payload: { token: "pt_bad" } });
      expect((await raw.closed).code).toBe(code);
    }
    expect(authenticate).toHaveBeenCalledTimes(2);
  });
});

test("sign-in pages are limited by address, and respond with 429 and a retry delay", async () => {
  const port = { begin: async () => ({ url: "https://idp.example/", note: "n" }) };
  const signIn = {
    port,
    cookies: { set: () => "a=b" },
    publicUrl: "http://localhost",
    noteMs: 1,
    sessionMs: 1,
  };
  const server = await open({ "address-visits": 2 }, { signIn: signIn as never });
  const visit = (path: string) => fetch(server.url + path, { redirect: "manual" });
  const statuses = [];
  for (const path of ["/auth/login", "/auth/signed-out", "/auth/login"])
    statuses.push((await visit(path)).status);
  expect([...statuses, (await visit("/auth/callback?state=x")).headers.get("retry-after")]).toEqual([
    302,
    200,
    429,
    "60",
  ]);
  expect((await visit("/healthz")).status).toBe(200);
});

test("rejected clients are logged once per window", async () => {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: "info" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const rates = new WindowLimits({ sizes: { ...NONE, "user-mutations": 2 }, redis: null, log });
  const waits = [];
  for (const uses of [1, 1, 1, 5]) waits.push(await rates.take("user-mutations", "ada", uses));
  expect(waits).toEqual([null, null, RATE_WINDOW_MS, RATE_WINDOW_MS]);
  expect(lines.map(({ limit, key, most }) => ({ limit, key, most }))).toEqual([
    { limit: "user-mutations", key: "ada", most: 2 },
  ]);
});

test("a client with many addresses does not fill the memory: the least recently used is evicted", async () => {
  const memory = new BoundedMemory({ keyPrefix: "x", points: 1, duration: 60 }, 2);
  for (const key of ["a", "b", "c"]) await memory.consume(key);
  expect(memory.dump().storage.map(({ key }) => key)).toEqual(["b", "c"]);
});
