// Readers at the same cursor get the same event object, so that it can be executed once for all of them.
import { describe, expect, test } from "vitest";
import type { ChatEvent } from "../../src/domain/chats/chat-stream.js";
import { HubFixture } from "./hub-fixture.js";
import { settle } from "./transcript.js";

type Stream = AsyncIterableIterator<ChatEvent>;

/** All events queued for a reader now. */
async function take(stream: Stream): Promise<ChatEvent[]> {
  const taken: ChatEvent[] = [];
  void (async () => {
    for await (const event of stream) taken.push(event);
  })();
  await settle();
  return taken;
}

describe("subscribers of one chat", () => {
  test("share one event object per change", async () => {
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

  test("each get their own refresh, since each reads the chat at its own time", async () => {
    const fixture = new HubFixture();
    const [first, second] = [await fixture.open(), await fixture.open()];
    await settle();
    const [[one], [other]] = [await take(first), await take(second)];
    expect(one).toEqual(other);
    expect(one).not.toBe(other);
  });
});
