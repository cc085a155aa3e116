// What a stream of the SDK does when its server, its network or its reader misbehaves.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type WebSocket as ServedSocket, WebSocket } from "ws";
import { createParley, type Parley, type ParleyOptions, type RetryNotice } from "../../sdk/src/index.js";
import { MAX_BUFFERED_EVENTS } from "../../sdk/src/follower.js";
import { type ScriptedServer, startScriptedServer, welcome } from "./scripted-server.js";

let server: ScriptedServer;
const opened: Parley[] = [];
beforeEach(async () => {
  server = await startScriptedServer();
});
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(opened.splice(0).map((parley) => parley.close()));
  await server.close();
});

function open(more: Partial<ParleyOptions> = {}): Parley {
  const retryDelays = { firstMs: 1, mostMs: 1 };
  const parley = createParley({
    ...{ url: server.url, token: "pt_1", webSocketImpl: WebSocket, retryDelays },
    ...more,
  });
  opened.push(parley);
  return parley;
}

const cursorOf = async (stream: AsyncIterator<{ cursor: string }>) =>
  ((await stream.next()).value as { cursor: string }).cursor;

test("a stream that was cut resumes after the last received event", async () => {
  const stream = open().chatEvents({ chatId: "cht_1", after: "c0" });
  const first = await server.asked();
  first.send("c1", "c2");
  expect([await cursorOf(stream), await cursorOf(stream)]).toEqual(["c1", "c2"]);
  first.socket.terminate();
  const second = await server.asked();
  second.send("c3");
  expect([first.after, second.after, await cursorOf(stream)]).toEqual(["c0", "c2", "c3"]);
});

test("buffered events that are not read yet count as received", async () => {
  const stream = open().chatEvents({ chatId: "cht_1" });
  const first = await server.asked();
  first.send("c1", "c2", "c3");
  expect(await cursorOf(stream)).toBe("c1");
  first.socket.terminate();
  const second = await server.asked();
  second.send("c4");
  expect(second.after).toBe("c3");
  expect([await cursorOf(stream), await cursorOf(stream), await cursorOf(stream)]).toEqual([
    "c2",
    "c3",
    "c4",
  ]);
});

test("a stream that the server completes or is too busy for is opened again", async () => {
  const notices: RetryNotice[] = [];
  const stream = open({ onRetry: (notice) => notices.push(notice) }).chatEvents({ chatId: "cht_1" });
  const read = cursorOf(stream);
  (await server.asked()).complete();
  (await server.asked()).fail("RATE_LIMITED");
  (await server.asked()).send("c1");
  expect(await read).toBe("c1");
  expect(notices.map(({ attempt, reason }) => [attempt, (reason as Error | undefined)?.message])).toEqual([
    [1, undefined],
    [2, "It is RATE_LIMITED."],
  ]);
});

test("a response with errors is no event: the stream is reopened", async () => {
  const stream = open().chatEvents({ chatId: "cht_1" });
  const first = await server.asked();
  const errors = [{ message: "Internal server error.", extensions: { code: "INTERNAL_SERVER_ERROR" } }];
  const payload = { data: { chatEvents: null }, errors };
  first.send("c1");
  first.socket.send(JSON.stringify({ id: first.id, type: "next", payload }));
  expect(await server.left()).toBe(first.id);
  const second = await server.asked();
  second.send("c2");
  expect([second.after, await cursorOf(stream), await cursorOf(stream)]).toEqual(["c1", "c1", "c2"]);
});

test("a permanent refusal by the server ends the loop with its code, after the events before it", async () => {
  const cursors: string[] = [];
  const read = async () => {
    for await (const { cursor } of open().chatEvents({ chatId: "cht_1" })) cursors.push(cursor);
  };
  const reading = read();
  const asked = await server.asked();
  asked.send("c1");
  asked.fail("FORBIDDEN");
  await expect(reading).rejects.toMatchObject({
    name: "ParleyError",
    code: "FORBIDDEN",
    message: "It is FORBIDDEN.",
  });
  expect(cursors).toEqual(["c1"]);
});

test.each([4400, 4401, 4406, 4409])("close code %i is permanent", async (code) => {
  const stream = open().chatEvents({ chatId: "cht_1" });
  const failure = expect(stream.next()).rejects.toMatchObject({ code: "CONNECTION_REFUSED" });
  (await server.asked()).socket.close(code, "No.");
  await failure;
  expect(await stream.next()).toEqual({ value: undefined, done: true });
});

test.each([1001, 1011, 1012, 4408, 4500])("close code %i is retried", async (code) => {
  const stream = open().chatEvents({ chatId: "cht_1" });
  (await server.asked()).socket.close(code, "Later.");
  (await server.asked()).send("c1");
  expect(await cursorOf(stream)).toBe("c1");
});

test("leaving the loop unsubscribes", async () => {
  const parley = open();
  const read = async () => {
    for await (const event of parley.chatEvents({ chatId: "cht_1" })) if (event.cursor === "c2") return;
  };
  const reading = read();
  const asked = await server.asked();
  asked.send("c1", "c2", "c3");
  await reading;
  expect(await server.left()).toBe(asked.id);
});

test("a waiting reader is released by return() and by its signal, without an error", async () => {
  const parley = open();
  const leaving = new AbortController();
  const stream = parley.chatEvents({ chatId: "cht_1" });
  const other = parley.chatEvents({ chatId: "cht_2", signal: leaving.signal });
  const asked = [await server.asked(), await server.asked()].map(({ id }) => id);
  const waiting = [stream.next(), other.next()];
  await stream.return?.();
  leaving.abort();
  expect(await Promise.all(waiting)).toEqual(waiting.map(() => ({ value: undefined, done: true })));
  expect([await server.left(), await server.left()].sort()).toEqual(asked.sort());
  const late = parley.chatEvents({ chatId: "cht_3", signal: leaving.signal });
  expect(await late.next()).toEqual({ value: undefined, done: true });
});

test("a slow reader buffers a bounded number of events and misses none", async () => {
  const stream = open().chatEvents({ chatId: "cht_1" });
  const first = await server.asked();
  const cursors = Array.from({ length: MAX_BUFFERED_EVENTS + 500 }, (_, index) => `c${index + 1}`);
  first.send(...cursors);
  expect(await server.left()).toBe(first.id);
  const read: string[] = [];
  while (read.length < MAX_BUFFERED_EVENTS) read.push(await cursorOf(stream));
  const second = await server.asked();
  expect(second.after).toBe(`c${MAX_BUFFERED_EVENTS}`);
  second.send(...cursors.slice(MAX_BUFFERED_EVENTS));
  while (read.length < cursors.length) read.push(await cursorOf(stream));
  expect(read).toEqual(cursors);
});

test("closing the client ends its streams with CLOSED and its socket", async () => {
  const parley = open();
  const waiting = expect(parley.chatEvents({ chatId: "cht_1" }).next()).rejects.toMatchObject({
    code: "CLOSED",
  });
  const { socket } = await server.asked();
  const gone = new Promise<number>((resolve) => socket.once("close", resolve));
  await parley.close();
  await waiting;
  expect(await gone).toBe(1000);
  expect(() => parley.chatEvents({ chatId: "cht_1" })).toThrow("The client was closed.");
});

test("two streams share one socket", async () => {
  const parley = open();
  parley.chatEvents({ chatId: "cht_1" });
  parley.chatEvents({ chatId: "cht_2" });
  const sockets = new Set<ServedSocket>([(await server.asked()).socket, (await server.asked()).socket]);
  expect(sockets.size).toBe(1);
});

test("a token that expires while connected is fetched again, and the stream resumes after its last event", async () => {
  const occasions: boolean[] = [];
  const token = ({ isRefused }: { isRefused: boolean }) => `pt_${occasions.push(isRefused)}`;
  const stream = open({ token }).chatEvents({ chatId: "cht_1" });
  const first = await server.asked();
  first.send("c1");
  expect(await cursorOf(stream)).toBe("c1");
  const shown: unknown[] = [];
  server.greet = (socket, given) => {
    shown.push(given);
    welcome(socket);
  };
  first.socket.close(4403, "Forbidden");
  const second = await server.asked();
  second.send("c2");
  expect({ after: second.after, next: await cursorOf(stream), shown, occasions }).toEqual({
    ...{ after: "c1", next: "c2", shown: ["pt_2"], occasions: [false, true] },
  });
});

test("a fresh token that is refused too ends every stream on the socket", async () => {
  const occasions: boolean[] = [];
  server.greet = (socket) => socket.close(4403, "Forbidden");
  const token = ({ isRefused }: { isRefused: boolean }) => `pt_${occasions.push(isRefused)}`;
  const parley = open({ token });
  const streams = [parley.chatEvents({ chatId: "cht_1" }), parley.chatEvents({ chatId: "cht_2" })];
  for (const stream of streams)
    await expect(stream.next()).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  expect(occasions).toEqual([false, true]);
});

test("a refused constant token ends the stream at once", async () => {
  const tries: unknown[] = [];
  server.greet = (socket, token) => {
    tries.push(token);
    socket.close(4403, "Forbidden");
  };
  const stream = open().chatEvents({ chatId: "cht_1" });
  await expect(stream.next()).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  expect(tries).toEqual(["pt_1"]);
});

test("a failing token source is called again; one without a token ends the stream", async () => {
  const answers = [new Error("The identity provider is away."), "pt_1", null];
  const token = () => {
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return Promise.resolve(answer ?? null);
  };
  const stream = open({ token }).chatEvents({ chatId: "cht_1" });
  const asked = await server.asked();
  asked.send("c1");
  expect(await cursorOf(stream)).toBe("c1");
  asked.socket.terminate();
  await expect(stream.next()).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
});

test("a server that no longer answers pings is replaced by a new connection", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const stream = open().chatEvents({ chatId: "cht_1" });
  const first = await server.asked();
  first.send("c1");
  expect(await cursorOf(stream)).toBe("c1");
  // The scripted server never answers the protocol's pings.
  await vi.advanceTimersByTimeAsync(10_000);
  await vi.advanceTimersByTimeAsync(10_001);
  const second = await server.asked();
  expect({ after: second.after, isNew: second.socket !== first.socket }).toEqual({
    after: "c1",
    isNew: true,
  });
});

test("a connection that is never acknowledged is closed", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const greeted = new Promise<void>((resolve) => {
    server.greet = () => resolve();
  });
  open().chatEvents({ chatId: "cht_1" });
  await greeted;
  server.greet = welcome;
  await vi.advanceTimersByTimeAsync(15_001);
  expect((await server.asked()).after).toBeNull();
});

test("closing the client while it connects does not wait for the server", async () => {
  const parley = open();
  const greeted = new Promise<ServedSocket>((resolve) => {
    server.greet = resolve;
  });
  const waiting = expect(parley.chatEvents({ chatId: "cht_1" }).next()).rejects.toMatchObject({
    code: "CLOSED",
  });
  const socket = await greeted;
  const gone = new Promise<number>((resolve) => socket.once("close", resolve));
  await parley.close();
  await waiting;
  expect(await gone).toBe(4499);
});

test("a server that is not up yet is reached once it is", async () => {
  const { url } = server;
  await server.close();
  const failed = new Promise<RetryNotice>((resolve) => {
    open({ url, onRetry: resolve }).chatEvents({ chatId: "cht_1" });
  });
  expect((await failed).attempt).toBe(1);
  server = await startScriptedServer(Number(new URL(url).port));
  expect((await server.asked()).after).toBeNull();
});
