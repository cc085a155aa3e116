// Opening many streams at once: a few concurrent snapshots, and a bounded wait for the others.
import { pino } from "pino";
import { expect, test } from "vitest";
import type { SemaphoreLimits } from "../../src/lib/concurrency/bounded-semaphore.js";
import { SnapshotAdmission } from "../../src/resolvers/chats/snapshot-admission.js";
import { eventually, ManualClock, openServers, RawSocket } from "./support.js";

const open = openServers();

/** Subscribes under different aliases, so that no result is shared. */
const subscriptionOf = (number: number) => `subscription { tick${number}: ticks { pending } }`;

async function openWith(bounds: SemaphoreLimits) {
  const clock = new ManualClock();
  const lines: Record<string, unknown>[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const admission = new SnapshotAdmission({ clock, log }, bounds);
  const server = await open({ createEventExecutor: (execute) => admission.refreshes(execute) });
  const raw = await RawSocket.connect(server);
  const subscribe = async (count: number) => {
    for (let id = 1; id <= count; id += 1) raw.subscribe(`${id}`, subscriptionOf(id));
    await eventually(() => server.world.feed.live === count);
    server.world.feed.push({ type: "refresh", chatId: "a" });
  };
  const messagesOfType = (type: string) => raw.messages.filter((message) => message["type"] === type);
  return { clock, lines, admission, server, raw, subscribe, messagesOfType };
}

test("few snapshots are read at a time; waiting streams get theirs, and those beyond the queue get a retryable error", async () => {
  const { server, raw, subscribe, messagesOfType, lines } = await openWith({
    maxRunning: 2,
    maxWaiting: 1,
    waitMs: 1_000,
  });
  await subscribe(4);
  const refused = await raw.until(({ type }) => type === "error");
  expect([refused, server.world.pendingCount(), server.count().operations]).toEqual([
    {
      id: "4",
      type: "error",
      payload: [
        {
          message: "Too many streams are being opened on this server; retry later.",
          extensions: { code: "UNAVAILABLE" },
        },
      ],
    },
    2,
    3,
  ]);
  server.world.release();
  await eventually(() => server.world.pendingCount() === 1);
  server.world.release();
  await eventually(() => messagesOfType("next").length === 3);
  expect(messagesOfType("next").map(({ id }) => id)).toEqual(["1", "2", "3"]);
  expect(lines).toMatchObject([{ level: 40, refused: 1, running: 2, waiting: 1 }]);
  raw.socket.close();
});

test("a stream that waits too long gets a retryable error, and ends", async () => {
  const { clock, server, raw, subscribe } = await openWith({ maxRunning: 1, maxWaiting: 10, waitMs: 1_000 });
  await subscribe(2);
  await eventually(() => clock.pending() === 1);
  clock.advance(1_000);
  expect(await raw.until(({ type }) => type === "error")).toMatchObject({
    id: "2",
    payload: [{ extensions: { code: "UNAVAILABLE" } }],
  });
  expect(server.world.feed.live).toBe(1);
  raw.socket.close();
});

test("a stream that is closed while it waits gets nothing, and the others get theirs", async () => {
  const { server, raw, subscribe, messagesOfType } = await openWith({
    maxRunning: 1,
    maxWaiting: 10,
    waitMs: 1_000,
  });
  await subscribe(3);
  raw.send({ type: "complete", id: "2" });
  await eventually(() => server.count().operations === 2);
  for (let turn = 0; turn < 3; turn += 1) {
    await eventually(() => server.world.pendingCount() === 1 || messagesOfType("next").length === 2);
    server.world.release();
  }
  await eventually(() => messagesOfType("next").length === 2);
  expect(messagesOfType("next").map(({ id }) => id)).toEqual(["1", "3"]);
  raw.socket.close();
});

test("other events are not delayed by snapshots", async () => {
  const { server, raw, subscribe, messagesOfType } = await openWith({
    maxRunning: 1,
    maxWaiting: 10,
    waitMs: 1_000,
  });
  raw.subscribe("plain", "subscription { ticks { number } }");
  await eventually(() => server.world.feed.live === 1);
  server.world.feed.push({ type: "status", number: 1 });
  await eventually(() => messagesOfType("next").length === 1);
  raw.send({ type: "complete", id: "plain" });
  await eventually(() => server.world.feed.live === 0);
  await subscribe(2);
  raw.subscribe("late", "subscription { ticks { number } }");
  await eventually(() => server.world.feed.live === 3);
  server.world.feed.push({ type: "status", number: 2 });
  await raw.until(({ id, type }) => id === "late" && type === "next");
  expect(server.world.pendingCount()).toBe(1);
  server.world.release();
  raw.socket.close();
});
