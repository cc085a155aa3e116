// Per-user limits on running operations, over all transports.
import { describe, expect, test } from "vitest";
import {
  ask,
  askOverSocket,
  connect,
  eventually,
  ManualClock,
  openServers,
  RawSocket,
  TOKEN,
  viewer,
} from "./support.js";

const openServer = openServers();
const OTHER = "pt_other";
const authenticate = async (token: string) =>
  token === TOKEN ? viewer : token === OTHER ? { ...viewer, userId: "u2" } : null;

const code = (answer: { body: { errors?: { extensions: { code: string } }[] } }) =>
  answer.body.errors?.[0]?.extensions.code;

describe("concurrent operations", () => {
  test("one more waits, those beyond are refused, and other users are not affected", async () => {
    const server = await openServer({ authenticate, limits: { maxRunningPerUser: 1, maxWaitingPerUser: 1 } });
    const first = ask(server, "{ pending }");
    await eventually(() => server.world.pendingCount() === 1);
    const raw = await RawSocket.connect(server);
    raw.subscribe("1", "{ hello }");
    await eventually(() => server.count().operations === 1);
    const refused = await ask(server, "{ hello }");
    expect([refused.status, refused.headers.get("retry-after"), code(refused)]).toEqual([
      429,
      "1",
      "RATE_LIMITED",
    ]);
    expect((await askOverSocket(server, "{ hello }")).errors?.[0]?.extensions.code).toBe("RATE_LIMITED");
    expect((await ask(server, "{ hello }", { token: OTHER })).body).toEqual({ data: { hello: "world" } });
    server.world.release();
    expect((await first).body).toEqual({ data: { pending: "done" } });
    expect(await raw.until(({ type }) => type === "next")).toMatchObject({
      payload: { data: { hello: "world" } },
    });
    raw.socket.close();
  });

  test("subscriptions need a permit only until they are open", async () => {
    const server = await openServer({ limits: { maxRunningPerUser: 1, maxWaitingPerUser: 2 } });
    const client = connect(server);
    const ticks = [1, 2, 3].map(() => client.iterate({ query: "subscription { ticks { number } }" }));
    for (const tick of ticks) void tick.next();
    await eventually(() => server.world.feed.live === 3);
    expect((await ask(server, "{ hello }")).status).toBe(200);
    await client.dispose();
    await eventually(() => server.count().operations === 0);
  });

  test("a client that disconnects while waiting releases its place in the queue; a running operation keeps its permit until it ends", async () => {
    const server = await openServer({ limits: { maxRunningPerUser: 1, maxWaitingPerUser: 3 } });
    const leaving = new AbortController();
    const go = () =>
      fetch(server.graphqlUrl, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${TOKEN}` },
        body: JSON.stringify({ query: "{ pending }" }),
        signal: leaving.signal,
      }).catch(() => "gone");
    const gone = [go(), go(), go()];
    await eventually(() => server.world.pendingCount() === 1);
    leaving.abort();
    expect(await Promise.all(gone)).toEqual(["gone", "gone", "gone"]);
    const raw = await RawSocket.connect(server);
    raw.subscribe("1", "{ hello }");
    await eventually(() => server.count().operations === 1);
    expect(raw.messages.filter(({ type }) => type === "next")).toEqual([]);
    server.world.release();
    await raw.until(({ type }) => type === "next");
    expect(server.world.pendingCount()).toBe(0);
    raw.socket.close();
  });
});

test("a user whose operations use too much CPU is refused over all transports until the budget recovers", async () => {
  const clock = new ManualClock();
  const server = await openServer({
    ...{ authenticate, clock },
    limits: { userCpuMsPerSecond: 1, userCpuBurstMs: 0.001 },
  });
  expect((await ask(server, "{ hello }")).status).toBe(200);
  const refused = await ask(server, "{ hello }");
  expect([refused.status, code(refused)]).toEqual([429, "RATE_LIMITED"]);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  expect((await askOverSocket(server, "{ hello }")).errors?.[0]?.extensions.code).toBe("RATE_LIMITED");
  expect((await ask(server, "{ hello }", { token: OTHER })).status).toBe(200);
  clock.jump(3_600_000);
  expect((await ask(server, "{ hello }")).status).toBe(200);
});

test("parsing a user's requests counts as CPU too, whether they are valid or not", async () => {
  const clock = new ManualClock();
  const server = await openServer({
    ...{ authenticate, clock },
    limits: { userCpuMsPerSecond: 1, userCpuBurstMs: 0.5 },
  });
  const { status } = await fetch(server.graphqlUrl, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${TOKEN}` },
    body: JSON.stringify({ query: "", variables: { text: "x".repeat(500_000) } }),
  });
  expect(status).toBe(400);
  const refused = await ask(server, "{ hello }");
  expect(refused.body.errors?.[0]?.extensions).toMatchObject({ code: "RATE_LIMITED" });
});
