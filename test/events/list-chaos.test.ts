// Every sidebar converges to the list, although the bus drops, duplicates and delays messages, servers lose events, and
// readers leave and return.
import { expect, test } from "vitest";
import { ListHub } from "../../src/events/lists/list-hub.js";
import { MemoryBus } from "../../src/events/bus/memory-bus.js";
import { createLog } from "../../src/lib/log.js";
import { ManualClock } from "../agent/manual-clock.js";
import { ChaosBus, seeded } from "./chaos-bus.js";
import { ListWorld, Sidebar } from "./list-world.js";
import { settle } from "./transcript.js";

const STEPS = 200;
const READERS = 4;
const SEEDS = Array.from({ length: 40 }, (_, index) => index + 1);
const log = createLog("silent");

test.each(SEEDS)("every sidebar converges to the list, seed %i", async (seed) => {
  const random = seeded(seed);
  const bus = new ChaosBus(new MemoryBus(log), random);
  const world = new ListWorld(bus);
  world.beforeRead = () => idle(Math.floor(random() * 4));
  const clock = new ManualClock();
  const bounds = { events: 8, bytes: 1_000_000 };
  const dependencies = { source: world, bus, clock, log, isFollowed: () => false };
  const hub = new ListHub(seed % 2 === 0 ? dependencies : { ...dependencies, streamBounds: bounds });
  const readers = Array.from({ length: READERS }, () => new Reader(hub, world, random));

  for (let step = 0; step < STEPS; step += 1) {
    act(world, random, step);
    await idle(Math.floor(random() * 6));
    if (random() < 0.05) clock.advance(random() < 0.5 ? 1_000 : 10_000);
  }
  bus.isCalm = true;
  for (const reader of readers) reader.stay();
  await settle();
  for (const wait of [10_000, 1_000, 1_000]) {
    clock.advance(wait);
    await settle();
  }
  expect(readers.map((reader) => reader.list)).toEqual(readers.map(() => world.list));

  const counts = readers.map((reader) => reader.eventCount);
  for (const wait of [10_000, 1_000, 1_000]) {
    clock.advance(wait);
    await settle();
  }
  expect(readers.map((reader) => reader.eventCount)).toEqual(counts);
  for (const reader of readers) await reader.leave();
  await settle();
  expect(hub.subscribedLists).toBe(0);
  await hub.close();
});

/** Client that leaves at random, and resumes with its last cursor. */
class Reader {
  readonly #sidebar: Sidebar;
  #isStaying = false;
  #isGone = false;
  #stream: AsyncIterator<unknown> | null = null;
  #failure: unknown = null;

  constructor(
    private readonly hub: ListHub,
    private readonly world: ListWorld,
    private readonly random: () => number,
  ) {
    this.#sidebar = new Sidebar(world);
    this.#live().catch((error: unknown) => (this.#failure = error));
  }

  get list() {
    if (this.#failure) throw new Error("stream failed", { cause: this.#failure });
    return this.#sidebar.list;
  }

  get eventCount(): number {
    return this.#sidebar.eventLog.length;
  }

  stay(): void {
    this.#isStaying = true;
  }

  async leave(): Promise<void> {
    this.#isGone = true;
    await this.#stream?.return?.();
  }

  async #live(): Promise<void> {
    const { ownerId: userId } = this.world;
    const viewer = { userId, username: "ada", name: "Ada", role: "member" as const, expiresAt: null };
    while (!this.#isGone) {
      const stream = await this.hub.subscribe(viewer, this.#sidebar.cursor);
      this.#stream = stream;
      for await (const event of stream) {
        this.#sidebar.take(event);
        if (!this.#isStaying && this.random() < 0.1) break;
        if (this.random() < 0.2) await idle(Math.floor(this.random() * 20));
      }
      await idle(Math.floor(this.random() * 10));
    }
  }
}

/** Performs one random action on the list; those that the lifecycle refuses have no effect. */
function act(world: ListWorld, random: () => number, step: number): void {
  const options = { isPublished: random() > 0.05 };
  const ids = [...world.chats.keys()];
  const chatId = ids[Math.floor(random() * ids.length)];
  const dice = random();
  if (chatId === undefined || dice < 0.1) return void world.create(`Chat ${step}`, options);
  if (dice < 0.2) return void world.rename(chatId, `Name ${step}`, options);
  if (dice < 0.28) return void world.run(chatId, [{ type: "archive" }], options);
  if (dice < 0.36) return void world.run(chatId, [{ type: "unarchive" }], options);
  if (dice < 0.46) return world.read(chatId, options);
  if (dice < 0.5) return void world.run(chatId, [{ type: "interrupt" }], options);
  switch (world.show(chatId).status) {
    case "pending":
      return void world.acquire(chatId, options);
    case "running":
      return void world.finish(chatId, options);
    default:
      return void world.send(chatId, options);
  }
}

async function idle(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
}
