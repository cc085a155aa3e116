// Everything at once: users who send, stop, edit, promote and archive in random order, models that fail, stall or call
// tools, workers that shut down and die, events that are lost or duplicated. In the end every chat is idle, and nothing
// was lost or duplicated.
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ScriptStep } from "../../../src/demo-model/answer.js";
import type { Tool } from "../../../src/engine/tools/tool.js";
import type { Bus } from "../../../src/events/bus/bus.js";
import { readChat } from "../../../src/store/chats/chat-source.js";
import { connectedTo, HEARTBEAT_MS, isAtRest, World, type Replica } from "../world.js";
import { eventually } from "../../support/eventually.js";

const CHATS = 5;
const STEPS = 150;

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

/** Numbers in [0, 1) that are the same for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const quick: Tool = {
  name: "quick",
  description: "Answers at once.",
  inputSchema: { type: "object" },
  run: () => Promise.resolve({ result: "done", isError: false }),
};
/** Ends when it is stopped, or by its own error. */
const stubborn: Tool = {
  name: "stubborn",
  description: "Ends only when it is stopped.",
  inputSchema: { type: "object" },
  run: (_args, { signal }) =>
    new Promise((_resolve, reject) => {
      if (signal.aborted) reject(signal.reason as Error);
      signal.addEventListener("abort", () => reject(signal.reason as Error));
    }),
};

/** A third of the events is lost and a third duplicated; the same applies to wake-ups. */
function unreliable(bus: Bus, random: () => number): Bus {
  const deliver = (publish: () => void) => {
    for (let times = Math.floor(random() * 3); times > 0; times -= 1) publish();
  };
  return {
    ...connectedTo(bus),
    subscribeChat: (chatId, listener) =>
      bus.subscribeChat(chatId, { ...listener, saved: (change) => deliver(() => listener.saved(change)) }),
    onWake: (listener) => bus.onWake(() => deliver(listener)),
    onConfigChange: (listener) => bus.onConfigChange((topic) => deliver(() => listener(topic))),
  };
}

let calls = 0;
function callOf(name: string) {
  calls += 1;
  return { id: `call_${calls}`, name, arguments: {} };
}

class Chaos {
  readonly #random: () => number;
  replicas: Replica[] = [];
  readonly chats: string[] = [];
  readonly sentTexts = new Map<string, string[]>();
  readonly taken = new Set<string>();
  readonly rewritten = new Set<string>();
  #texts = 0;

  constructor(seed: number) {
    this.#random = randomFrom(seed);
    world.answer = () => this.#answer();
  }

  pick<T>(things: readonly T[]): T {
    const found = things[Math.floor(this.#random() * things.length)];
    if (found === undefined) throw new Error("There is nothing to pick from.");
    return found;
  }

  #answer(): ScriptStep {
    return this.pick<() => ScriptStep>([
      () => ({ text: "A short answer." }),
      () => ({ text: "A short answer." }),
      () => ({ text: ["Never ", "ends"], hang: 1 }),
      () => ({ hang: "before-events" }),
      () => ({ text: ["Cut ", "short"], cutAfterDeltas: 1 }),
      () => ({ error: { status: 529 } }),
      () => ({ error: { status: 400 } }),
      () => ({ text: "Tools.", toolCalls: [callOf("quick"), callOf("quick")] }),
      () => ({ toolCalls: [callOf("quick"), callOf("stubborn")] }),
      () => ({ toolCalls: [callOf("ask")] }),
    ])();
  }

  async startReplica(): Promise<void> {
    const replica = world.replica({ tools: [quick, stubborn], bus: unreliable(world.bus, this.#random) });
    this.replicas.push(replica);
    await replica.worker.start();
  }

  text(): string {
    this.#texts += 1;
    return `text ${this.#texts}`;
  }

  async create(): Promise<void> {
    const text = this.text();
    const clientTools = [{ name: "ask", description: "Asks.", inputSchema: { type: "object" } }];
    const { workspaceId } = world;
    const chatId = await world.createChat(this.pick(this.replicas), text, { workspaceId, clientTools });
    this.chats.push(chatId);
    this.sentTexts.set(chatId, [text]);
  }

  async step(): Promise<void> {
    const chatId = this.pick(this.chats);
    const replica = this.pick(this.replicas);
    const { commands } = replica;
    const actions: (() => Promise<unknown>)[] = [
      () => this.#send(replica, chatId),
      () => this.#send(replica, chatId),
      () => commands.interruptChat(world.viewer, chatId),
      () => this.#edit(replica, chatId),
      () => this.#changeQueue(replica, chatId),
      () => commands.archiveChat(world.viewer, chatId),
      () => commands.unarchiveChat(world.viewer, chatId),
      () => commands.unarchiveChat(world.viewer, chatId),
      () => Promise.resolve(this.tick()),
      () => Promise.resolve(this.tick()),
      () => this.#kill(replica),
      () => this.#replace(replica),
    ];
    await this.pick(actions)();
  }

  tick(): void {
    for (const { clock } of this.replicas) clock.advance(this.pick([15, 1_000, 2_000, HEARTBEAT_MS]));
  }

  async #send({ commands }: Replica, chatId: string): Promise<void> {
    const text = this.text();
    const parts = [{ type: "text" as const, text }];
    const whenBusy = this.pick(["queue", "interrupt"] as const);
    const sent = await commands.sendMessage(world.viewer, { chatId, parts, whenBusy });
    if (sent.ok) this.sentTexts.get(chatId)?.push(text);
  }

  async #edit({ commands }: Replica, chatId: string): Promise<void> {
    const users = (await world.history(chatId)).filter(({ role }) => role === "user");
    if (users.length === 0) return;
    const text = this.text();
    const edited = await commands.editMessage(world.viewer, {
      messageId: this.pick(users).id,
      parts: [{ type: "text", text }],
    });
    if (!edited.ok) return;
    this.sentTexts.get(chatId)?.push(text);
    this.rewritten.add(chatId);
  }

  async #changeQueue({ commands }: Replica, chatId: string): Promise<void> {
    const queue = (await readChat(world.database, chatId))?.queue ?? [];
    if (queue.length === 0) return;
    const { id, parts } = this.pick(queue);
    if (this.pick([true, false])) return void (await commands.promoteQueuedMessage(world.viewer, id));
    const deleted = await commands.deleteQueuedMessage(world.viewer, id);
    if (deleted.ok) for (const part of parts) this.taken.add(part.type === "text" ? part.text : "");
  }

  /** Its chats may be taken over while it is alive; it learns that from an event. */
  async #kill(replica: Replica): Promise<void> {
    await world.killLease(replica);
    this.pick(this.replicas).clock.advance(HEARTBEAT_MS);
  }

  async #replace(replica: Replica): Promise<void> {
    await this.startReplica();
    this.replicas = this.replicas.filter((other) => other !== replica);
    const closing = replica.worker.close();
    // Tools of its runners may have to be waited for.
    await eventually(async () => {
      replica.clock.advance(2_000);
      await Promise.race([closing, Promise.reject(new Error("not yet"))]);
    });
  }

  /** Interrupts everything and advances the clocks until all chats are idle. */
  async settle(): Promise<void> {
    const isQuiet = async () => {
      const states = await Promise.all(this.chats.map((chatId) => world.state(chatId)));
      return states.every(
        (state) => isAtRest(state) && state.runnerId === null && state.queuedIds.length === 0,
      );
    };
    await eventually(async () => {
      for (const chatId of this.chats) {
        const { commands } = this.pick(this.replicas);
        await commands.unarchiveChat(world.viewer, chatId);
        const chat = await readChat(world.database, chatId);
        const [head] = chat?.queue ?? [];
        if (chat && isAtRest(chat.state) && head) await commands.promoteQueuedMessage(world.viewer, head.id);
        else await commands.interruptChat(world.viewer, chatId);
      }
      this.tick();
      expect(await isQuiet()).toBe(true);
    });
  }
}

/** Every call of history has exactly one result, in the message after it. */
async function unansweredCalls(chatId: string): Promise<unknown[]> {
  const open: unknown[] = [];
  let waiting: string[] = [];
  for (const { role, parts } of await world.history(chatId)) {
    if (role === "tool") {
      const ids = parts.map((part) => (part.type === "tool-result" ? part.toolCallId : ""));
      const strangers = ids.filter((id) => !waiting.includes(id));
      if (strangers.length > 0) open.push({ strangers });
      waiting = waiting.filter((id) => !ids.includes(id));
    } else {
      if (waiting.length > 0) open.push({ waiting });
      waiting = parts.filter((part) => part.type === "tool-call").map((part) => part.toolCallId);
    }
  }
  return open;
}

test.each([1, 2, 3])("a day of chaos (seed %i) ends in peace", async (seed) => {
  const chaos = new Chaos(seed);
  await chaos.startReplica();
  await chaos.startReplica();
  for (let index = 0; index < CHATS; index += 1) await chaos.create();
  for (let index = 0; index < STEPS; index += 1) await chaos.step();
  await chaos.settle();
  for (const chatId of chaos.chats) {
    const rows = await world.run(
      "SELECT content->0->>'text' AS text FROM chat_messages WHERE chat_id = $1 AND role = 'user' ORDER BY id",
      [chatId],
    );
    const stored = rows.map(({ text }) => String(text));
    const sentTexts = chaos.sentTexts.get(chatId) ?? [];
    // An edit empties the queue, so of a rewritten chat messages may be missing.
    const isWhole = !chaos.rewritten.has(chatId);
    expect({
      doubled: stored.filter((text, index) => stored.indexOf(text) !== index),
      unknown: stored.filter((text) => !sentTexts.includes(text)),
      lost: sentTexts.filter((text) => isWhole && !stored.includes(text) && !chaos.taken.has(text)),
      open: await unansweredCalls(chatId),
    }).toEqual({ doubled: [], unknown: [], lost: [], open: [] });
  }
});
