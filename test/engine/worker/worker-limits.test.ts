// Limits of running chats: which chats wait, which run next, and commands on waiting chats.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { connectedTo, isAtRest, World, type Replica } from "../world.js";

let world: World;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());
beforeEach(() => {
  world.answer = ({ turns }) =>
    JSON.stringify(turns).includes("slowly") ? { text: ["wait", "ing"], delayMs: 1_000 } : { text: "Done." };
});
afterEach(() => world.closeReplicas());

async function start(limits: { chats: number; chatsPerUser: number }): Promise<Replica> {
  const replica = world.replica({ bus: connectedTo(world.bus), settings: { limits } });
  await replica.worker.start();
  return replica;
}

/** A chat whose model sends its second word when the model's clock is advanced. */
async function slowChat(replica: Replica): Promise<string> {
  const paused = world.modelClock.nextTimer(1_000);
  const chatId = await world.createChat(replica, "Answer slowly");
  await paused;
  return chatId;
}

test("a chat waits until another one is idle, and then starts without a tick, on any replica", async () => {
  const [first, second] = [
    await start({ chats: 1, chatsPerUser: 0 }),
    await start({ chats: 1, chatsPerUser: 0 }),
  ];
  const slow = await slowChat(first);
  const waiting = await world.createChat(second, "Hello");
  second.worker.wake();
  expect((await world.state(waiting)).status).toBe("pending");
  world.modelClock.advance(1_000);
  await world.until(slow, isAtRest);
  await world.until(waiting, isAtRest);
  expect(await world.historyLines(waiting)).toEqual(["user: Hello", "assistant: Done."]);
});

test("a chat that waits for a free slot can be interrupted, and never starts", async () => {
  const replica = await start({ chats: 0, chatsPerUser: 1 });
  const slow = await slowChat(replica);
  const waiting = await world.createChat(replica, "Hello");
  expect(await replica.commands.interruptChat(world.viewer, waiting)).toMatchObject({ ok: true });
  world.modelClock.advance(1_000);
  await world.until(slow, isAtRest);
  const last = await world.createChat(replica, "And now?");
  await world.until(last, isAtRest);
  expect([(await world.state(waiting)).status, await world.historyLines(waiting)]).toEqual([
    "waiting",
    ["user: Hello"],
  ]);
});

test("a queue continues in its own chat although others wait", async () => {
  const replica = await start({ chats: 1, chatsPerUser: 1 });
  const slow = await slowChat(replica);
  await world.send(replica, slow, "More");
  const waiting = await world.createChat(replica, "Hello");
  world.answer = () => ({ text: "Done." });
  world.modelClock.advance(1_000);
  await world.until(waiting, isAtRest);
  expect(await world.historyLines(slow)).toEqual([
    "user: Answer slowly",
    "assistant: waiting",
    "user: More",
    "assistant: Done.",
  ]);
});

test("many chats under a small limit all become idle", async () => {
  const limits = { chats: 3, chatsPerUser: 2 };
  const replicas = [await start(limits), await start(limits), await start(limits)];
  const chats: string[] = [];
  for (let index = 0; index < 24; index += 1) {
    const replica = replicas[index % 3];
    if (replica) chats.push(await world.createChat(replica, `Chat ${index}`));
  }
  const rested = await Promise.all(chats.map((chatId) => world.until(chatId, isAtRest)));
  expect(rested.map(({ status }) => status)).toEqual(chats.map(() => "waiting"));
});
