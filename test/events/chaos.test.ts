// Whatever the bus drops, doubles or delays, and however often readers come back: all end with the truth.
import { expect, test } from "vitest";
import { generationId } from "../../src/domain/chat-events.js";
import type { ChatFailure } from "../../src/domain/failures.js";
import { ChatHub } from "../../src/events/chat-hub.js";
import { MemoryBus } from "../../src/events/memory-bus.js";
import { createLog } from "../../src/lib/log.js";
import { ManualClock } from "../agent/manual-clock.js";
import { ChaosBus, seeded } from "./chaos-bus.js";
import { settle, Transcript } from "./transcript.js";
import { CHAT_ID, ChatWorld, said, viewer } from "./world.js";

const STEPS = 150;
const READERS = 4;
const SEEDS = Array.from({ length: 30 }, (_, index) => index + 1);

const failure: ChatFailure = { kind: "overloaded", message: "Busy.", isRetryable: true };

test.each(SEEDS)("every reader ends with the truth, seed %i", async (seed) => {
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

  const truth = {
    messages: world.messages,
    status: "running",
    queue: world.queue,
    previews: { [generationId(world.generation)]: "the last words" },
  };
  expect(readers.map((reader) => reader.view())).toEqual(readers.map(() => truth));

  world.finish("the last words");
  await settle();
  const rest = { messages: world.messages, status: world.state.status, queue: world.queue, previews: {} };
  expect(readers.map((reader) => reader.view())).toEqual(readers.map(() => rest));
  for (const reader of readers) await reader.leave();
  await settle();
  expect(hub.watchedChats).toBe(0);
  await hub.close();
});

/** Reads, leaves at random, and comes back with its last cursor. */
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
    if (this.#failure) throw new Error("The live stream failed.", { cause: this.#failure });
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
      if (!stream) throw new Error("The chat is not there.");
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

/** One thing that may happen to the chat now; what the lifecycle refuses does not happen. */
function act(world: ChatWorld, random: () => number, step: number): void {
  const { state, fence } = world;
  const dice = random();
  const options = { isTold: random() > 0.05, isLarge: random() < 0.1 };
  const run = (...commands: Parameters<ChatWorld["run"]>[0]) => world.run(commands, options);
  const ids = { workerId: `worker-${step}`, runnerId: `runner-${step}` };
  const queuedId = `queued-${step}`;
  const whenBusy = random() < 0.3 ? ("interrupt" as const) : ("queue" as const);
  if (dice < 0.04) return void run({ type: "send-message", whenBusy, message: said(`${step}`), queuedId });
  if (dice < 0.06) return edit(world, random, step);
  if (dice < 0.08) return void run({ type: "interrupt" });
  if (dice < 0.1) return void run({ type: "promote-queued", queuedId: state.queuedIds.at(-1) ?? "" });
  switch (state.status) {
    case "pending":
      return void run({ type: "acquire", ...ids, isLeaseDead: false });
    case "running":
      return work(world, random, step);
    case "interrupting": {
      const messages = dice < 0.5 ? [world.answer(`partial ${step}`)] : [];
      return void run({ type: "finish-interrupt", fence, messages, openCalls: [] });
    }
    case "requires_action": {
      const results = state.openCalls.map(({ toolCallId }) => ({ toolCallId, result: "ok", isError: false }));
      return void run({ type: "submit-tool-results", results });
    }
    case "waiting":
    case "error":
      return void run({ type: "send-message", whenBusy, message: said(`${step}`), queuedId });
  }
}

/** What a runner may do next. */
function work(world: ChatWorld, random: () => number, step: number): void {
  const { state, fence } = world;
  const dice = random();
  const run = (...commands: Parameters<ChatWorld["run"]>[0]) => world.run(commands);
  if (state.attempt === 0 || state.retry !== null) return void run({ type: "begin-attempt", fence });
  if (dice < 0.6)
    return world.write(...Array.from({ length: 1 + Math.floor(random() * 4) }, () => `${step} `));
  if (dice < 0.66) return void run({ type: "record-retry", fence, delayMs: 10, failure });
  const ids = { workerId: `worker-${step}`, runnerId: `runner-${step}` };
  if (dice < 0.7) return void run({ type: "acquire", ...ids, isLeaseDead: true });
  if (dice < 0.73) return void run({ type: "release", fence });
  if (dice < 0.75) return void run({ type: "fail", fence, failure });
  if (dice < 0.85) {
    const openCalls = [{ toolCallId: `call-${step}`, toolName: "ask", isClient: true, arguments: {} }];
    const messages = [world.answer(`asks ${step}`)];
    return void run({ type: "commit-step", fence, messages, openCalls }, { type: "await-client", fence });
  }
  const asking = world.messages.findLast((row) => row.role === "assistant");
  const addRuntime = asking ? { addRuntime: { messageId: asking.id, runtimeMs: 5 } } : {};
  if (dice < 0.9) {
    const messages = [world.answer(`step ${step}`)];
    return void run({ type: "commit-step", fence, messages, openCalls: [], ...addRuntime });
  }
  world.finish(`answer ${step}`);
}

function edit(world: ChatWorld, random: () => number, step: number): void {
  const users = world.messages.filter((row) => row.role === "user");
  const chosen = users[Math.floor(random() * users.length)];
  if (chosen) world.run([{ type: "edit-message", messageId: chosen.id, message: said(`edited ${step}`) }]);
}

async function idle(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
}
