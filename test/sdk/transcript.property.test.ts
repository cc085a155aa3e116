// Whatever the server may send, after whatever was lost, doubled or late on the way to it: the SDK ends with the truth.
import fc from "fast-check";
import { expect, test } from "vitest";
import { ChatTranscript, type TranscriptState } from "../../sdk/src/index.js";
import { generationId } from "../../src/domain/chats/chat-events.js";
import type { ChatEvent as HubEvent } from "../../src/domain/chats/chat-stream.js";
import { ChatHub } from "../../src/events/chats/chat-hub.js";
import { MemoryBus } from "../../src/events/bus/memory-bus.js";
import { createLog } from "../../src/lib/log.js";
import { ManualClock } from "../agent/manual-clock.js";
import { scaled } from "../support/scale.js";
import { act } from "../events/random-actions.js";
import { ChaosBus, seeded } from "../events/chaos-bus.js";
import { settle } from "../events/transcript.js";
import { CHAT_ID, ChatWorld, viewer } from "../events/world.js";
import { toApiEvent, toApiMessage, toApiQueued } from "./api-events.js";

const STEPS = 120;
const RUNS = scaled(300);

test("a transcript that is cut off again and again ends with the server's chat", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 2 ** 31 - 1 }), async (seed) => {
      const random = seeded(seed);
      const log = createLog("silent");
      const bus = new ChaosBus(new MemoryBus(log), random);
      const world = new ChatWorld(bus);
      const clock = new ManualClock();
      const hub = new ChatHub({ source: world, bus, clock, log });
      const reader = new Reader(hub, world, random);
      for (let step = 0; step < STEPS; step += 1) {
        act(world, random, step);
        if (random() < 0.3) await settle();
        if (random() < 0.05) clock.advance(10_000);
      }
      reader.stay();
      bus.isCalm = true;
      await settle();
      clock.advance(10_000);
      await settle();
      for (let step = STEPS; world.state.status !== "running" || world.state.retry !== null; step += 1) {
        act(world, random, step);
      }
      world.run([{ type: "begin-attempt", fence: world.fence }]);
      world.write("the ", "last ", "words");
      await settle();
      expect(view(reader.state)).toEqual({
        ...truth(world),
        preview: [generationId(world.generation), "the last words"],
      });
      world.finish("the last words");
      await settle();
      expect(view(reader.state)).toEqual({ ...truth(world), preview: null });
      await reader.leave();
      await hub.close();
    }),
    { numRuns: RUNS, seed: 20_260 },
  );
});

function truth(world: ChatWorld): object {
  const { status, title, lastError } = world.state;
  return {
    ...{ status: status.toUpperCase(), title, failure: lastError, retry: null, isCaughtUp: true },
    messages: world.messages.map(toApiMessage),
    queue: world.queue.map(toApiQueued),
  };
}

function view({
  status,
  title,
  failure,
  retry,
  isCaughtUp,
  messages,
  queue,
  preview,
}: TranscriptState): object {
  const text = preview?.parts.map(({ part }) => ("text" in part ? part.text : "")).join("");
  // This world adds runtime to old messages too, which are then delivered late. The engine's rows are written again only
  // together with those that follow them.
  const sorted = [...messages].sort((a, b) => Number(a.id) - Number(b.id));
  return {
    ...{ status, title, failure, retry, isCaughtUp, messages: sorted, queue },
    preview: preview && [preview.generation, text],
  };
}

/** Reads, leaves at random, and comes back with its transcript's cursor. */
class Reader {
  readonly #transcript = new ChatTranscript();
  #isStaying = false;
  #isGone = false;
  #stream: AsyncIterator<HubEvent> | null = null;
  #failure: unknown = null;

  constructor(
    private readonly hub: ChatHub,
    private readonly world: ChatWorld,
    private readonly random: () => number,
  ) {
    this.#live().catch((error: unknown) => (this.#failure = error));
  }

  get state(): TranscriptState {
    if (this.#failure) throw new Error("The live stream failed.", { cause: this.#failure });
    return this.#transcript.state;
  }

  stay(): void {
    this.#isStaying = true;
  }

  async leave(): Promise<void> {
    this.#isGone = true;
    await this.#stream?.return?.();
  }

  async #live(): Promise<void> {
    while (!this.#isGone) {
      const stream = await this.hub.subscribe(viewer, CHAT_ID, this.#transcript.state.cursor);
      if (!stream) throw new Error("The chat is not there.");
      this.#stream = stream;
      for await (const event of stream) {
        const before = this.#transcript.state;
        const copy = structuredClone(before);
        this.#transcript.apply(toApiEvent(event, this.world));
        expect(before, "earlier states stay as they were").toEqual(copy);
        if (!this.#isStaying && this.random() < 0.15) break;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
