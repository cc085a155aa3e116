// Equal subscriptions share executions, without any visible difference.
import { describe, expect, test } from "vitest";
import type { CreateEventExecutor } from "../../src/http/subscriptions/event-result.js";
import type { HttpServerOptions } from "../../src/http/server.js";
import {
  askOverSocket,
  eventually,
  openServers,
  RawSocket,
  TOKEN,
  type TestServer,
  viewer,
} from "./support.js";

const open = openServers();

const PLAIN = "subscription { ticks { number } }";
const PERSONAL = "subscription { ticks { number contextNumber } }";
const FRAGILE = "subscription { ticks { number fragile } }";

/** A server that counts executions; tokens are the names of members, and of admins who begin with "admin". */
async function openCounting(options: Partial<HttpServerOptions> = {}) {
  const counted = { executions: 0 };
  const createEventExecutor: CreateEventExecutor = (execute) => (event, asking) => {
    counted.executions += 1;
    return execute(event, asking);
  };
  const authenticate: HttpServerOptions["authenticate"] = async (token) =>
    ({ ...viewer, userId: token, role: token.startsWith("admin") ? "admin" : "member" }) as const;
  const server = await open({ createEventExecutor, authenticate, ...options });
  return { server, counted };
}

async function enter(server: TestServer, token = TOKEN): Promise<RawSocket> {
  const raw = await RawSocket.open(server);
  raw.send({ type: "connection_init", payload: { token } });
  await raw.until(({ type }) => type === "connection_ack");
  return raw;
}

/** Subscribes each of these sockets once, each with its own id. */
async function subscribeAll(server: TestServer, raws: RawSocket[], query: string): Promise<void> {
  const before = server.world.feed.live;
  raws.forEach((raw, index) => raw.subscribe(`op-${index}`, query));
  await eventually(() => server.world.feed.live === before + raws.length);
}

async function answersOf(raw: RawSocket, count: number): Promise<Record<string, unknown>[]> {
  const nexts = () => raw.messages.filter(({ type }) => type === "next");
  await raw.until(() => nexts().length >= count);
  return nexts();
}

function payloads(messages: Record<string, unknown>[]): unknown[] {
  return messages.map(({ payload }) => payload);
}

describe("an event for many equal subscriptions", () => {
  test("is executed once and reaches each under the id of its own operation", async () => {
    const { server, counted } = await openCounting();
    const raws = await Promise.all([enter(server), enter(server), enter(server)]);
    await subscribeAll(server, raws, PLAIN);
    server.world.feed.push({ number: 7 });
    const answers = await Promise.all(raws.map((raw) => answersOf(raw, 1)));
    expect(answers).toEqual(
      raws.map((_raw, index) => [
        { id: `op-${index}`, type: "next", payload: { data: { ticks: { number: 7 } } } },
      ]),
    );
    expect(counted.executions).toBe(1);
  });

  test("is executed once for users with different rights if it is declared to be for every subscriber", async () => {
    const { server, counted } = await openCounting();
    const raws = await Promise.all(["ada", "bob", "admin"].map((token) => enter(server, token)));
    await subscribeAll(server, raws, PLAIN);
    server.world.feed.push({ number: 7, audience: "every_subscriber" });
    for (const raw of raws)
      expect(payloads(await answersOf(raw, 1))).toEqual([{ data: { ticks: { number: 7 } } }]);
    expect(counted.executions).toBe(1);
  });

  test("is executed for each user if it is declared to be for the same viewer, once for all sockets of one", async () => {
    const { server, counted } = await openCounting();
    const raws = await Promise.all(["ada", "ada", "bob"].map((token) => enter(server, token)));
    await subscribeAll(server, raws, PERSONAL);
    server.world.feed.push({ number: 7 });
    const seen: unknown[] = [];
    for (const raw of raws) seen.push(...payloads(await answersOf(raw, 1)));
    const numbers = seen.map(
      (payload) => (payload as { data: { ticks: { contextNumber: number } } }).data.ticks,
    );
    expect(numbers[1]).toEqual(numbers[0]);
    expect(numbers[2]).not.toEqual(numbers[0]);
    expect(counted.executions).toBe(2);
  });

  test("is executed once per distinct operation", async () => {
    const { server, counted } = await openCounting();
    const [one, other] = await Promise.all([enter(server), enter(server)]);
    await subscribeAll(server, [one], PLAIN);
    await subscribeAll(server, [other], "subscription { ticks { count: number } }");
    server.world.feed.push({ number: 7 });
    expect(payloads(await answersOf(one, 1))).toEqual([{ data: { ticks: { number: 7 } } }]);
    expect(payloads(await answersOf(other, 1))).toEqual([{ data: { ticks: { count: 7 } } }]);
    expect(counted.executions).toBe(2);
  });

  test("that partially fails is masked equally for all, and logged once", async () => {
    const { server } = await openCounting();
    const raws = await Promise.all([enter(server), enter(server)]);
    await subscribeAll(server, raws, FRAGILE);
    server.world.feed.push({ number: 7, isBroken: true });
    server.world.feed.push({ number: 8 });
    const [first, second] = await Promise.all(raws.map(async (raw) => payloads(await answersOf(raw, 2))));
    expect(second).toEqual(first);
    expect(first).toMatchObject([
      {
        data: { ticks: { number: 7, fragile: null } },
        errors: [{ message: "Internal server error.", extensions: { code: "INTERNAL_SERVER_ERROR" } }],
      },
      { data: { ticks: { number: 8, fragile: "fine" } } },
    ]);
    expect(JSON.stringify(first)).not.toContain("hunter2");
    expect(server.lines.filter((line) => line.msg === "request failed with an internal error")).toHaveLength(
      1,
    );
  });
});

test("a subscription whose source declares neither its audience nor its permission check is not opened", async () => {
  const { server } = await openCounting();
  expect(await askOverSocket(server, "subscription { undeclaredTicks { number } }")).toMatchObject({
    errors: [{ extensions: { code: "INTERNAL_SERVER_ERROR" } }],
  });
  expect(server.world.feed.live).toBe(0);
});

describe("while an event is being executed", () => {
  /** Each execution ends when the test says so. */
  async function openPending() {
    const ends: (() => void)[] = [];
    const createEventExecutor: CreateEventExecutor = (execute) => async (event, asking) => {
      await new Promise<void>((end) => ends.push(end));
      return execute(event, asking);
    };
    return { ...(await openCounting({ createEventExecutor })), ends };
  }

  test("a subscriber that leaves does not affect the others", async () => {
    const { server, ends } = await openPending();
    const [leaver, stayer] = await Promise.all([enter(server), enter(server)]);
    await subscribeAll(server, [leaver, stayer], PLAIN);
    server.world.feed.push({ number: 7 });
    await eventually(() => ends.length === 1);
    leaver.send({ type: "complete", id: "op-0" });
    await eventually(() => server.world.feed.live === 1);
    ends.forEach((end) => end());
    expect(payloads(await answersOf(stayer, 1))).toEqual([{ data: { ticks: { number: 7 } } }]);
    leaver.subscribe("after", "{ hello }");
    await leaver.until(({ id, type }) => id === "after" && type === "complete");
    expect(leaver.messages.filter(({ id }) => id === "op-0")).toEqual([]);
  });

  test("a new subscriber gets the next event and not this one", async () => {
    const { server, ends } = await openPending();
    const [first, second] = await Promise.all([enter(server), enter(server)]);
    await subscribeAll(server, [first], PLAIN);
    server.world.feed.push({ number: 7 });
    await eventually(() => ends.length === 1);
    await subscribeAll(server, [second], PLAIN);
    ends.splice(0).forEach((end) => end());
    await answersOf(first, 1);
    server.world.feed.push({ number: 8 });
    await eventually(() => ends.length === 1);
    ends.splice(0).forEach((end) => end());
    expect(payloads(await answersOf(second, 1))).toEqual([{ data: { ticks: { number: 8 } } }]);
    expect(payloads(await answersOf(first, 2))).toEqual([
      { data: { ticks: { number: 7 } } },
      { data: { ticks: { number: 8 } } },
    ]);
  });

  test("others with the same audience wait for it instead of executing it again", async () => {
    const { server, ends } = await openPending();
    const raws = await Promise.all(["ada", "ada", "ada", "bob"].map((token) => enter(server, token)));
    await subscribeAll(server, raws, PLAIN);
    server.world.feed.push({ number: 7 });
    await eventually(() => ends.length === 2);
    ends.forEach((end) => end());
    for (const raw of raws)
      expect(payloads(await answersOf(raw, 1))).toEqual([{ data: { ticks: { number: 7 } } }]);
    expect(ends).toHaveLength(2);
  });
});

test("an operation's id may contain anything that JSON must escape", async () => {
  const { server } = await openCounting();
  const raw = await enter(server);
  const id = 'a"b\\c\n€';
  raw.subscribe(id, PLAIN);
  await eventually(() => server.world.feed.live === 1);
  server.world.feed.push({ number: 7 });
  expect(await raw.until(({ type }) => type === "next")).toEqual({
    id,
    type: "next",
    payload: { data: { ticks: { number: 7 } } },
  });
});

test("a subscriber that stops reading only delays its own results, and then gets all of them in order", async () => {
  const answered: Record<string, number> = {};
  const createEventExecutor: CreateEventExecutor = (execute) => (event, asking) => {
    const { userId } = asking.requester.viewer();
    answered[userId] = (answered[userId] ?? 0) + 1;
    return execute(event, asking);
  };
  const { server } = await openCounting({ createEventExecutor });
  const [sleeper, reader] = await Promise.all([enter(server, "sleeper"), enter(server, "reader")]);
  await subscribeAll(server, [sleeper], "subscription { ticks { number text } }");
  await subscribeAll(server, [reader], "subscription { ticks { number } }");
  sleeper.socket.pause();
  // Far more than the kernel buffers for a connection.
  const events = Array.from({ length: 1_000 }, (_unused, number) => ({ number, text: "x".repeat(10_000) }));
  for (const event of events) server.world.feed.push(event);
  await answersOf(reader, events.length);
  expect(answered["reader"]).toBe(events.length);
  expect(answered["sleeper"]).toBeLessThan(events.length);
  sleeper.socket.resume();
  const got = payloads(await answersOf(sleeper, events.length));
  expect(
    got.map((payload) => (payload as { data: { ticks: { number: number } } }).data.ticks.number),
  ).toEqual(events.map(({ number }) => number));
});
