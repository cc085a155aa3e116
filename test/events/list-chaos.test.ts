// Whatever the bus drops, doubles or delays, whatever news its server never tells, and however often readers come
// back: every sidebar ends with the list as it is.
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

test.each(SEEDS)("every sidebar ends with the list as it is, seed %i", async (seed) => {
  const random = seeded(seed);
  const bus = new ChaosBus(new MemoryBus(log), random);
  const world = new ListWorld(bus);
  world.beforeRead = () => idle(Math.floor(random() * 4));
  const clock = new ManualClock();
  const bounds = { events: 8, bytes: 1_000_000 };
  const parts = { source: world, bus, clock, log, isFollowed: () => false };
  const hub = new ListHub(seed % 2 === 0 ? parts : { ...parts, streamBounds: bounds });
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

  const quiet = readers.map((reader) => reader.told);
  for (const wait of [10_000, 1_000, 1_000]) {
    clock.advance(wait);
    await settle();
  }
  expect(readers.map((reader) => reader.told)).toEqual(quiet);
  for (const reader of readers) await reader.leave();
  await settle();
  expect(hub.watchedLists).toBe(0);
  await hub.close();
});

/** Reads, leaves at random, and comes back with its last cursor. */
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
    if (this.#failure) throw new Error("The stream failed.", { cause: this.#failure });
    return this.#sidebar.list;
  }

  get told(): number {
    return this.#sidebar.story.length;
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

/** One thing that may happen to the list now; what the lifecycle refuses does not happen. */
function act(world: ListWorld, random: () => number, step: number): void {
  const told = { isTold: random() > 0.05 };
  const ids = [...world.chats.keys()];
  const chatId = ids[Math.floor(random() * ids.length)];
  const dice = random();
  if (chatId === undefined || dice < 0.1) return void world.create(`Chat ${step}`, told);
  if (dice < 0.2) return void world.rename(chatId, `Name ${step}`, told);
  if (dice < 0.28) return void world.run(chatId, [{ type: "archive" }], told);
  if (dice < 0.36) return void world.run(chatId, [{ type: "unarchive" }], told);
  if (dice < 0.46) return world.read(chatId, told);
  if (dice < 0.5) return void world.run(chatId, [{ type: "interrupt" }], told);
  switch (world.show(chatId).status) {
    case "pending":
      return void world.acquire(chatId, told);
    case "running":
      return void world.finish(chatId, told);
    default:
      return void world.send(chatId, told);
  }
}

async function idle(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
}
