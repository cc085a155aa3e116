import { pino } from "pino";
import { expect, test } from "vitest";
import { StderrLog } from "./stderr-log.js";

type Line = { msg: string; line?: string };

function startLog() {
  const lines: Line[] = [];
  let now = 0;
  const clock = { now: () => now, after: () => () => undefined, every: () => () => undefined };
  const log = pino({ level: "debug" }, { write: (text: string) => lines.push(JSON.parse(text) as Line) });
  const stderr = new StderrLog({ server: "one", log, clock });
  return { lines, stderr, advance: (ms: number) => (now += ms) };
}

test("lines are logged whole, however they come", () => {
  const { lines, stderr } = startLog();
  const bytes = Buffer.from("first é\nsecond\nunfinished");
  for (const byte of bytes) stderr.take(Buffer.from([byte]));
  expect([lines.map(({ line }) => line), stderr.lastWords]).toEqual([
    ["first é", "second"],
    "first é\nsecond\nunfinished",
  ]);
});

test("a long line is cut, and of many only a hundred a minute are logged", () => {
  const { lines, stderr, advance } = startLog();
  stderr.take(Buffer.from(`${"x".repeat(5_000)}\n`));
  stderr.take(Buffer.from("again\n".repeat(1_000)));
  const inFirstMinute = lines.length;
  advance(60_000);
  stderr.take(Buffer.from("later\n"));
  expect([lines[0]?.line?.length, inFirstMinute, lines[99]?.line, lines.at(-1)?.line]).toEqual([
    2_048,
    100,
    undefined,
    "later",
  ]);
  expect(stderr.lastWords.length).toBeLessThanOrEqual(600);
});

test("a line without end takes no more memory than its end", () => {
  const { lines, stderr } = startLog();
  for (let count = 0; count < 1_000; count += 1) stderr.take(Buffer.from("y".repeat(10_000)));
  stderr.take(Buffer.from("\n"));
  expect(lines.map(({ line }) => line?.length)).toEqual([2_048]);
});
