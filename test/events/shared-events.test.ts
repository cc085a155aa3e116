// Readers at the same place are given the same event, so that it can be answered once for all of them.
import { describe, expect, test } from "vitest";
import type { ChatEvent } from "../../src/domain/chats/chat-stream.js";
import { HubFixture } from "./hub-fixture.js";
import { settle } from "./transcript.js";

type Stream = AsyncIterableIterator<ChatEvent>;

/** Everything that waits for a reader now. */
async function take(stream: Stream): Promise<ChatEvent[]> {
  const taken: ChatEvent[] = [];
  void (async () => {
    for await (const event of stream) taken.push(event);
  })();
  await settle();
  return taken;
}

describe("followers of one chat", () => {
  test("are given one and the same event for each thing that happens to them at once", async () => {
    const fixture = new HubFixture();
    const [first, second] = [await fixture.open(), await fixture.open()];
    await settle();
    fixture.world.start();
    fixture.world.write("A", "B");
    fixture.world.finish("AB");
    await settle();
    const [one, other] = [await take(first), await take(second)];
    expect(one.map(({ type }) => type)).toContain("part");
    expect(other).toEqual(one);
    const live = one.slice(2);
    expect(live.filter((event, index) => other[index + 2] === event)).toEqual(live);
  });

  test("have a refresh of their own when they come, since each reads the chat as it then is", async () => {
    const fixture = new HubFixture();
    const [first, second] = [await fixture.open(), await fixture.open()];
    await settle();
    const [[one], [other]] = [await take(first), await take(second)];
    expect(one).toEqual(other);
    expect(one).not.toBe(other);
  });
});
