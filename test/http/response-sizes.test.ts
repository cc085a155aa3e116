// Size limits: of one response, and of all data in flight to one user. Clients that request a lot of data and do not
// read it only affect their own streams, not the server's memory.
import { expect, describe, test } from "vitest";
import { eventually as keepsTrying } from "../support/eventually.js";
import { EventStreamReader } from "../support/clients/event-stream-reader.js";
import { ask, askOverSocket, eventually, openServers, RawSocket, TOKEN, type TestServer } from "./support.js";

const open = openServers();
/** More than the kernel buffers for a socket without a reader. */
const MEGABYTE = 1_000_000;
const LARGE = "x".repeat(300_000);
const FIVE_TIMES = `query ($text: String!) { ${[1, 2, 3, 4, 5].map((n) => `a${n}: echo(text: $text)`).join(" ")} }`;
const tooLarge = (maxBytes: number) => ({
  message: `The response would exceed ${maxBytes} bytes: select fewer objects or smaller pages. Changes made by mutations remain.`,
  extensions: { code: "ANSWER_TOO_LARGE", maxBytes },
});
const OVER_MEGABYTE = { data: null, errors: [tooLarge(MEGABYTE)] };

async function askOverStream(server: TestServer, query: string, variables: Record<string, unknown>) {
  const stream = await EventStreamReader.open(server, query, { token: TOKEN, variables });
  const [first] = await stream.rest();
  return first?.data;
}

describe("a response that repeats one text many times", () => {
  test("is refused over HTTP, while one of exactly the limit is sent", async () => {
    const server = await open({ limits: { maxResponseBytes: MEGABYTE } });
    const refused = await ask(server, FIVE_TIMES, { variables: { text: LARGE } });
    expect({ status: refused.status, body: refused.body }).toEqual({ status: 200, body: OVER_MEGABYTE });
    const escaped = await ask(server, FIVE_TIMES, { variables: { text: "\u0001".repeat(40_000) } });
    expect(escaped.body).toEqual(OVER_MEGABYTE);
    const answered = await ask(server, FIVE_TIMES, { variables: { text: "y".repeat(190_000) } });
    expect(Object.keys(answered.body.data ?? {})).toHaveLength(5);
  });

  test("is refused over a socket and an event stream", async () => {
    const server = await open({ limits: { maxResponseBytes: MEGABYTE } });
    const variables = { text: LARGE };
    expect(await askOverSocket(server, FIVE_TIMES, { variables })).toEqual(OVER_MEGABYTE);
    expect(await askOverStream(server, FIVE_TIMES, variables)).toEqual(OVER_MEGABYTE);
  });

  test("is refused as an event, after which the stream continues", async () => {
    const server = await open({ limits: { maxResponseBytes: MEGABYTE } });
    const raw = await RawSocket.connect(server);
    raw.subscribe("1", "subscription { ticks { number a: text b: text c: text d: text } }");
    await eventually(() => server.world.feed.live === 1);
    server.world.feed.push({ number: 1, text: LARGE });
    server.world.feed.push({ number: 2, text: "short" });
    await eventually(() => raw.messages.length === 3);
    expect(raw.messages.slice(1).map(({ payload }) => payload)).toMatchObject([
      OVER_MEGABYTE,
      { data: { ticks: { number: 2 } } },
    ]);
    raw.socket.close();
  });

  test("is refused for a mutation too, and the error says that its effects remain", async () => {
    const server = await open({ limits: { maxResponseBytes: MEGABYTE } });
    const four = [1, 2, 3, 4].map((n) => `a${n}: write(text: $text)`).join(" ");
    const { body } = await ask(server, `mutation ($text: String!) { ${four} }`, {
      variables: { text: LARGE },
    });
    expect([body, server.world.written.length]).toEqual([OVER_MEGABYTE, 4]);
  });
});

/** A socket that has stopped reading, and gets large events until no more are executed. */
async function stalled(server: TestServer, events: number) {
  const raw = await RawSocket.connect(server);
  raw.subscribe("1", "subscription { ticks { number contextNumber text } }");
  await eventually(() => server.world.feed.live > 0);
  raw.socket.pause();
  for (let number = 1; number <= events; number += 1)
    server.world.feed.push({ number, text: "x".repeat(MEGABYTE) });
  return raw;
}

const numbersOf = (raw: RawSocket) =>
  raw.messages.flatMap(
    ({ payload }) => (payload as { data?: { ticks: { number: number } } })?.data?.ticks.number ?? [],
  );

describe("a client that does not read", () => {
  test("has no events executed meanwhile, and gets everything in order when it reads again", async () => {
    const server = await open();
    const raw = await stalled(server, 40);
    const reader = await RawSocket.connect(server);
    reader.subscribe("1", "subscription { ticks { number } }");
    await eventually(() => server.world.feed.live === 2);
    server.world.feed.push({ number: 41, text: "" });
    await reader.until(({ type }) => type === "next");
    // One context for opening each stream, one for each executed event.
    expect(server.world.contexts.length).toBeLessThan(20);
    raw.socket.resume();
    await eventually(() => numbersOf(raw).length === 41);
    expect(numbersOf(raw)).toEqual(Array.from({ length: 41 }, (_, index) => index + 1));
    for (const socket of [raw, reader]) socket.socket.close();
  });

  test("blocks further large responses of its user, until it reads or disconnects", async () => {
    const server = await open({ limits: { maxBytesPerUser: 8 * MEGABYTE, maxResponseBytes: 5 * MEGABYTE } });
    const sockets: RawSocket[] = [];
    const text = "x".repeat(MEGABYTE - 1_000);
    const fourTimes = `query ($text: String!) { ${[1, 2, 3, 4].map((n) => `a${n}: echo(text: $text)`).join(" ")} }`;
    for (let count = 0; count < 2; count += 1) {
      const raw = await RawSocket.connect(server);
      raw.socket.pause();
      raw.send({ type: "subscribe", id: "1", payload: { query: fourTimes, variables: { text } } });
      sockets.push(raw);
    }
    const more = { query: fourTimes, variables: { text } };
    const codes = async () => {
      const answers = [
        (await ask(server, more.query, more)).body,
        await askOverSocket(server, more.query, more),
        (await askOverStream(server, more.query, more.variables)) as { errors?: unknown[] },
      ];
      return answers.map(({ errors }) => (errors?.[0] as { extensions: unknown } | undefined)?.extensions);
    };
    await eventually(() => server.world.feed.live === 0 && server.count().operations === 0);
    const refused = { code: "RATE_LIMITED" };
    await keepsTrying(async () => expect(await codes()).toEqual([refused, refused, refused]));
    expect((await ask(server, "{ hello }")).status).toBe(200);
    for (const raw of sockets) raw.socket.terminate();
    await eventually(() => server.count().sockets === 0);
    expect(await codes()).toEqual([undefined, undefined, undefined]);
  });

  test("delays its user's other large events, but not the small ones", async () => {
    const server = await open({ limits: { maxBytesPerUser: 3 * MEGABYTE } });
    const raw = await stalled(server, 40);
    const other = await RawSocket.connect(server);
    other.subscribe("1", "subscription { opened: ticks { number text } }");
    other.subscribe("2", "subscription { small: ticks { number } }");
    await eventually(() => server.world.feed.live === 3);
    for (let number = 41; number <= 43; number += 1)
      server.world.feed.push({ number, text: "x".repeat(MEGABYTE) });
    await other.until(({ id, payload }) => id === "2" && JSON.stringify(payload).includes("43"));
    raw.socket.terminate();
    await other.until(
      ({ id, payload }) => id === "1" && JSON.stringify(payload).startsWith('{"data":{"opened":{"number":43'),
    );
    other.socket.close();
  });
});
