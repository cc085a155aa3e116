import { describe, expect, test } from "vitest";
import { ByteBudget } from "../../lib/streams/byte-budget.js";
import { EventStream } from "./event-stream.js";

const over = { value: undefined, done: true };

function build(bounds?: { events: number; bytes: number }) {
  const released: string[] = [];
  const stream = new EventStream<string>(() => void released.push("released"), bounds);
  return { stream, released };
}

describe("a reader with many streams", () => {
  test("has one bound for all of them, which taking events frees again", async () => {
    const accounts = new ByteBudget(200_000);
    const open = () => new EventStream<string>(() => undefined, undefined, accounts.open("ada"));
    const [one, two, three] = [open(), open(), open()];
    expect([one.push("a", 100_000), one.push("b", 50_000)]).toEqual([true, true]);
    expect([two.push("a", 30_000), two.push("b", 40_000), three.push("a", 60_000)]).toEqual([
      true,
      false,
      true,
    ]);
    await one.next();
    expect([two.push("b", 40_000), accounts.used("ada")]).toEqual([true, 70_000]);
    two.replaceAll("refresh", () => undefined);
    await Promise.all([one.return(), two.return(), three.return()]);
    expect(accounts.used("ada")).toBe(0);
  });
});

describe("a stream's reader", () => {
  test("gets what was pushed before it asked, in order", async () => {
    const { stream } = build();
    stream.push("a", 1);
    stream.push("b", 1);
    expect([await stream.next(), await stream.next()]).toEqual([
      { value: "a", done: false },
      { value: "b", done: false },
    ]);
  });

  test("that waits gets the next event at once, the first to ask first", async () => {
    const { stream } = build();
    const reads = [stream.next(), stream.next()];
    stream.push("a", 1);
    stream.push("b", 1);
    expect(await Promise.all(reads)).toEqual([
      { value: "a", done: false },
      { value: "b", done: false },
    ]);
  });

  test("that waits is resolved when it leaves, and the stream is released once", async () => {
    const { stream, released } = build();
    const reads = stream.next();
    await stream.return();
    await stream.return();
    expect(await reads).toEqual(over);
    expect(released).toEqual(["released"]);
  });

  test("gets the queued events and then the end when the stream is ended", async () => {
    const { stream, released } = build();
    stream.push("a", 1);
    stream.end();
    stream.push("too late", 1);
    expect([await stream.next(), await stream.next()]).toEqual([{ value: "a", done: false }, over]);
    expect(released).toEqual(["released"]);
  });

  test("that leaves gets none of the queued events", async () => {
    const { stream } = build();
    stream.push("a", 1);
    await stream.return();
    expect(await stream.next()).toEqual(over);
  });

  test("that throws into the stream closes it and gets its error back", async () => {
    const { stream, released } = build();
    await expect(stream.throw(new Error("gone"))).rejects.toThrow("gone");
    expect(released).toEqual(["released"]);
  });
});

describe("a full stream", () => {
  test.each([
    ["events", { events: 2, bytes: 1_000 }, 1],
    ["bytes", { events: 1_000, bytes: 20 }, 10],
  ])("rejects events when its bound on %s is reached", async (_name, bounds, bytes) => {
    const { stream } = build(bounds);
    expect(["a", "b", "c"].map((event) => stream.push(event, bytes))).toEqual([true, true, false]);
    await stream.next();
    expect(stream.push("d", bytes)).toBe(true);
    expect([(await stream.next()).value, (await stream.next()).value]).toEqual(["b", "d"]);
  });

  test("accepts one event larger than its byte bound when the queue is empty", () => {
    const { stream } = build({ events: 10, bytes: 20 });
    expect([stream.push("large", 1_000), stream.push("next", 1)]).toEqual([true, false]);
  });

  test("can replace all queued events with one, and reports how many were dropped and when the new one is taken", async () => {
    const { stream } = build({ events: 2, bytes: 100 });
    const drained: string[] = [];
    stream.push("a", 1);
    stream.push("b", 1);
    expect(stream.replaceAll("refresh", () => void drained.push("drained"))).toBe(2);
    expect(drained).toEqual([]);
    expect(await stream.next()).toEqual({ value: "refresh", done: false });
    expect(drained).toEqual(["drained"]);
  });

  test("does not report being drained when its reader left instead", async () => {
    const { stream } = build({ events: 1, bytes: 100 });
    const drained: string[] = [];
    stream.push("a", 1);
    stream.replaceAll("refresh", () => void drained.push("drained"));
    await stream.return();
    await stream.next();
    expect(drained).toEqual([]);
  });
});
