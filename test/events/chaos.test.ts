// Every reader converges to the chat, although the bus drops, duplicates and delays messages, and readers leave and
// return.
import { expect, test } from "vitest";
import { generationId } from "../../src/domain/chats/chat-events.js";
import { ChatHub } from "../../src/events/chats/chat-hub.js";
import { MemoryBus } from "../../src/events/bus/memory-bus.js";
import { createLog } from "../../src/lib/log.js";
import { ManualClock } from "../agent/manual-clock.js";
import { act } from "./random-actions.js";
import { ChaosBus, seeded } from "./chaos-bus.js";
import { settle, Transcript } from "./transcript.js";
import { CHAT_ID, ChatWorld, viewer } from "./world.js";

const STEPS = 150;
const READERS = 4;
const SEEDS = Array.from({ length: 30 }, (_, index) => index + 1);

test.each(SEEDS)("every reader converges to the chat, seed %i", async (seed) => {
  const random = seeded(seed);
  const log = createLog("silent");
  const bus = new ChaosBus(new MemoryBus(log), random);
  const world = new ChatWorld(bus);
  world.beforeRead = () => idle(Math.floor(random() * 4));
  const clock = new ManualClock();
  const hub = new ChatHub({ source: world, bus, clock, log });
  const readers = Array.from({ length: READERS }, () => new Reader(hub, world, random));

  for (let step = 0; step < STEPS; step += 1) {
    act(world, random, step);
    await idle(Math.floor(random() * 6));
    if (random() < 0.05) clock.advance(10_000);
  }
  bus.isCalm = true;
  await settle();
  clock.advance(10_000);
  await settle();
  for (let step = 0; world.state.status !== "running" || world.state.retry !== null; step += 1) {
    act(world, random, STEPS + step);
  }
  world.run([{ type: "begin-attempt", fence: world.fence }]);
  world.write("the ", "last ", "words");
  await settle();
  for (const reader of readers) reader.stay();
  await settle();

  const expected = {
    messages: world.messages,
    status: "running",
    queue: world.queue,
    previews: { [generationId(world.generation)]: "the last words" },
  };
  expect(readers.map((reader) => reader.view())).toEqual(readers.map(() => expected));

  world.finish("the last words");
  await settle();
  const rest = { messages: world.messages, status: world.state.status, queue: world.queue, previews: {} };
  expect(readers.map((reader) => reader.view())).toEqual(readers.map(() => rest));
  for (const reader of readers) await reader.leave();
  await settle();
  expect(hub.subscribedChats).toBe(0);
  await hub.close();
});

/** Client that leaves at random, and resumes with its last cursor. */
class Reader {
  readonly #transcript: Transcript;
  #isStaying = false;
  #isGone = false;
  #stream: AsyncIterator<unknown> | null = null;
  #failure: unknown = null;

  constructor(
    private readonly hub: ChatHub,
    world: ChatWorld,
    private readonly random: () => number,
  ) {
    this.#transcript = new Transcript(world);
    this.#live().catch((error: unknown) => (this.#failure = error));
  }

  stay(): void {
    this.#isStaying = true;
  }

  view() {
    if (this.#failure) throw new Error("live stream failed", { cause: this.#failure });
    const { messages, status, queue, previews } = this.#transcript;
    const sorted = [...messages.values()].sort((a, b) => Number(a.id) - Number(b.id));
    return { messages: sorted, status, queue, previews: Object.fromEntries(previews) };
  }

  async leave(): Promise<void> {
    this.#isGone = true;
    await this.#stream?.return?.();
  }

  async #live(): Promise<void> {
    while (!this.#isGone) {
      const stream = await this.hub.subscribe(viewer, CHAT_ID, this.#transcript.cursor);
      if (!stream) throw new Error("chat not found");
      this.#stream = stream;
      for await (const event of stream) {
        this.#transcript.take(event);
        if (!this.#isStaying && this.random() < 0.1) break;
        if (this.random() < 0.2) await idle(Math.floor(this.random() * 5));
      }
      await idle(Math.floor(this.random() * 10));
    }
  }
}

async function idle(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
}
