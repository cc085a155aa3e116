// Subscribers that join in the middle of a long preview.
import { expect, test } from "vitest";
import type { LiveDelta } from "../../src/domain/chats/chat-events.js";
import { HubFixture } from "./hub-fixture.js";
import { CHAT_ID } from "./world.js";

const words = (count: number) => Array.from({ length: count }, (_, index) => `${index} `);

test("a subscriber that joins after thousands of deltas gets them all at its own pace, and then goes live", async () => {
  const fixture = new HubFixture();
  fixture.world.start();
  for (const word of words(3_000)) fixture.world.write(word);
  const late = await fixture.read();
  fixture.world.write("live");
  const events = await late.eventLog();
  expect([events.length, events[0], events[1], events.at(-2), events.at(-1)]).toEqual([
    3_003,
    "refresh first_snapshot",
    "part 0 ",
    "caught-up",
    "part live",
  ]);
  expect(late.transcript.events.at(-2)).toMatchObject({ replayedEvents: 3_000 });
});

test("a subscriber that is still catching up on a long preview when its message arrives gets the message", async () => {
  const fixture = new HubFixture();
  fixture.world.start();
  for (const word of words(3_000)) fixture.world.write(word);
  const stream = await fixture.open();
  const taken = [];
  for (let event = 0; event < 100; event += 1) taken.push((await stream.next()).value);
  fixture.world.finish("the answer");
  const rest: string[] = [];
  for (;;) {
    const { value } = await stream.next();
    rest.push(value.type);
    if (value.type === "caught-up") break;
  }
  expect(rest.filter((type) => type !== "part")).toEqual(["message", "status", "caught-up"]);
  expect(rest.indexOf("message")).toBeLessThan(3_000);
});

const output = (sequence: number, append: string, partIndex = 0): LiveDelta => ({
  ...{ sequence, role: "tool", partIndex },
  delta: { type: "tool-output-delta", toolCallId: `call_${partIndex}`, append },
});
const result = (sequence: number, partIndex = 0): LiveDelta => ({
  ...{ sequence, role: "tool", partIndex },
  delta: {
    ...{ type: "tool-result", toolCallId: `call_${partIndex}`, toolName: "execute" },
    ...{ result: "all of it", isError: false },
  },
});

test("a subscriber that joins a verbose command gets its newest output after an omission mark, and every result", async () => {
  const fixture = new HubFixture();
  fixture.world.start();
  const { bus, world } = fixture;
  const { generation } = world;
  const publish = (...deltas: LiveDelta[]) => bus.publishLive({ chatId: CHAT_ID, generation, deltas });
  publish(output(1, "quiet", 1));
  for (let sequence = 2; sequence <= 101; sequence += 1) publish(output(sequence, "x".repeat(10_000)));
  publish(output(102, "ending", 2), result(103, 2));
  const late = await fixture.read();
  publish(output(104, "live"));
  await late.eventLog();
  const shown = late.transcript.events.flatMap((event) =>
    event.type === "part" ? [[event.sequence, event.partIndex, event.delta] as const] : [],
  );
  expect(shown.map(([sequence, partIndex]) => [sequence, partIndex])).toEqual([
    [1, 1],
    ...[96, 97, 98, 99, 100, 101].map((sequence) => [sequence, 0]),
    [103, 2],
    [104, 0],
  ]);
  expect(shown[1]?.[2]).toEqual({
    ...{ type: "tool-output-delta", toolCallId: "call_0" },
    append: `... [earlier output left out] ...\n${"x".repeat(10_000)}`,
  });
});
