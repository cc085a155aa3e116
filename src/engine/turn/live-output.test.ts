import { expect, test } from "vitest";
import { ManualClock } from "../../../test/agent/manual-clock.js";
import { LIVE_OUTPUT_BYTES_PER_SECOND, LIVE_OUTPUT_INTERVAL_MS, LiveOutput } from "./live-output.js";

function start() {
  const clock = new ManualClock();
  const streamed: string[] = [];
  return { clock, streamed, output: new LiveOutput((append) => void streamed.push(append), clock) };
}

test("the first output is shown at once, the following together, 200 ms later", () => {
  const { clock, streamed, output } = start();
  for (const words of ["a", "b", "c"]) output.write(words);
  clock.advance(LIVE_OUTPUT_INTERVAL_MS - 1);
  expect(streamed).toEqual(["a"]);
  clock.advance(1);
  output.write("d");
  expect(streamed).toEqual(["a", "bc"]);
});

test("excessive output is shown as its newest 16 KiB per second, with the number of omitted bytes", () => {
  const { clock, streamed, output } = start();
  for (let second = 0; second < 10; second += 1) {
    for (let tenth = 0; tenth < 10; tenth += 1) {
      output.write("é".repeat(50_000));
      clock.advance(100);
    }
  }
  output.write("the end");
  clock.advance(1_000);
  const mark = /^\n\.\.\. \[(\d+) bytes left out\] \.\.\.\n/;
  const deltas = streamed.map((text) => ({
    omitted: Number(mark.exec(text)?.[1] ?? 0),
    bytes: Buffer.byteLength(text.replace(mark, "")),
  }));
  const sum = (numbers: number[]) => numbers.reduce((all, one) => all + one, 0);
  expect(sum(deltas.map(({ omitted, bytes }) => omitted + bytes))).toBe(100 * 100_000 + "the end".length);
  expect(Math.max(...deltas.map(({ bytes }) => bytes))).toBeLessThanOrEqual(LIVE_OUTPUT_BYTES_PER_SECOND);
  expect(deltas.length).toBeLessThanOrEqual(12);
  expect(streamed.join("")).not.toContain("\uFFFD");
  expect(streamed.join("").endsWith("éthe end")).toBe(true);
});

test("lost output is counted together with the pending output before it", () => {
  const { clock, streamed, output } = start();
  output.write("a");
  output.write("bc");
  output.write("d", 100);
  clock.advance(1_000);
  expect(streamed).toEqual(["a", "\n... [102 bytes left out] ...\nd"]);
});

test("nothing is shown once the result is there", () => {
  const { clock, streamed, output } = start();
  output.write("a");
  output.write("b");
  output.close();
  output.write("c");
  clock.advance(1_000);
  expect(streamed).toEqual(["a"]);
});
