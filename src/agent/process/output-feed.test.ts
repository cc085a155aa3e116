import { expect, test } from "vitest";
import { randomNumbers } from "../../../test/support/random.js";
import { OutputFeed } from "./output-feed.js";

const RETAINED_BYTES = 64 * 1024;

test("whatever is written in whatever chunks, a follower at any offset reads exactly what is retained after it", () => {
  const below = randomNumbers(7);
  for (let round = 0; round < 40; round += 1) {
    const feed = new OutputFeed();
    let written = Buffer.alloc(0);
    for (let write = 0; write < 30; write += 1) {
      const size = below(3) === 0 ? below(100_000) : below(200);
      const start = below(90);
      const chunk = Buffer.alloc(size).map((_, index) => 32 + ((start + index * 7) % 89));
      feed.write(chunk);
      written = Buffer.concat([written, chunk]);
      const from = below(written.length + 10);
      const offset = Math.max(from, written.length - RETAINED_BYTES);
      const text = written.subarray(offset).toString("latin1");
      const expected = text === "" ? null : { offset, nextOffset: written.length, text };
      const retained = feed.read(from);
      // A small ring retains everything; it grows to its limit before anything is lost.
      expect(retained).toEqual(expected);
    }
  }
});

test("an ended feed is empty when its last follower has left, and takes nothing more", () => {
  const feed = new OutputFeed();
  const leave = [feed.follow(), feed.follow()];
  feed.write(Buffer.from("caf\xc3", "latin1"));
  const running = feed.read(0);
  feed.end();
  feed.write(Buffer.from("late"));
  const ended = feed.read(0);
  for (const one of leave) one();
  expect([running, ended, feed.read(0), feed.writtenBytes]).toEqual([
    { offset: 0, nextOffset: 3, text: "caf" },
    { offset: 0, nextOffset: 4, text: "caf\uFFFD" },
    null,
    4,
  ]);
});
