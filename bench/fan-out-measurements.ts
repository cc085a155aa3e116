/** The measurements of a run of `bench/fan-out.ts`, each over one server. */
import { setTimeout } from "node:timers/promises";
import type { Message } from "./chat.js";
import { Follower, type Followed } from "./follower.js";
import { type ParleyAddress, sayInParley, startParleyChat } from "./parley-chat.js";
import { within } from "./programs.js";
import type { WatchedParley } from "./subjects.js";
import type { WatchedState } from "./watched-parley.js";

/** 50 deltas of a fast model. */
export const STREAMED: Message = { deltas: 50, delayMs: 20 };
const SHORT: Message = { deltas: 5, delayMs: 0 };
/** Chats started or sockets opened side by side. */
const OPENED_AT_ONCE = 25;
/** Far above any turn of this bench. */
const TURN_LIMIT_MS = 120_000;
const US_PER_SECOND = 1e6;
const US_PER_MS = 1_000;

/** What a subscription costs while nothing happens, in bytes. */
export type IdleCost = { usedBytes: number; residentBytes: number };

/** Latencies and costs with this many followers. */
export type Delivery = {
  eventsPerSecond: number;
  turnsPerSecond: number;
  /** Of the server, in microseconds. */
  cpuPerEventMicros: number;
  /** Deltas' way from the model's sending to a follower's socket. */
  delaysMicros: number[];
  /** From the model's last delta to the last follower's end of the turn, for each turn. */
  afterEndMs: number[];
  deltaFramesPerTurn: number;
};

/** Cost of a reader that stopped reading, and what it received when it resumed. */
export type Stall = { retainedBytes: number; sentBytes: number; refreshes: number };

/** Results of one server. */
export type FanOut = {
  oneChat: { idle: IdleCost; delivery: Delivery };
  manyChats: { idle: IdleCost; delivery: Delivery };
  stall: Stall;
};

/** Size of the measurements. */
export type Size = { subscribers: number; turns: number; atOnce: number; rounds: number };

/** Chats, started with a short turn. */
export async function startChats(address: ParleyAddress, count: number): Promise<string[]> {
  return inBatches(count, () => startParleyChat(address, SHORT));
}

/** Opens one follower for each of the given chats, spread over the users, and measures their memory. */
export async function openFollowers(
  parley: WatchedParley,
  chatIds: readonly string[],
): Promise<{ followers: Follower[]; cost: IdleCost }> {
  const before = await readMemory(parley);
  const { url } = parley.address;
  const followers = await inBatches(chatIds.length, (index) => {
    const token = before.tokens[index % before.tokens.length] ?? "";
    return Follower.open({ url, token }, chatIds[index] ?? "");
  });
  const after = await readMemory(parley);
  const cost = {
    usedBytes: (after.usedBytes - before.usedBytes) / chatIds.length,
    residentBytes: (after.residentBytes - before.residentBytes) / chatIds.length,
  };
  return { followers, cost };
}

export type Talk = { turns: number; message: Message };

/** One chat runs `turns` turns; all `followers` subscribe to it. */
export async function measureCrowd(
  parley: WatchedParley,
  { turns, message }: Talk,
  { chatId, followers }: { chatId: string; followers: readonly Follower[] },
): Promise<Delivery> {
  return measure(parley, async () => {
    const all: Followed[][] = [];
    for (let turn = 0; turn < turns; turn += 1)
      all.push(await takeTurn(parley.address, message, { chatId, followers }));
    return all;
  });
}

/**
 * All of `chats` run turns at once, each with its own follower and `turns` times without a pause; their starts are spread
 * over the time of a turn, as with real users.
 */
export async function measureChorus(
  parley: WatchedParley,
  { turns, message }: Talk,
  chats: readonly { chatId: string; follower: Follower }[],
): Promise<Delivery> {
  const turnMs = message.deltas * message.delayMs;
  return measure(parley, async () => {
    const talking = chats.map(async ({ chatId, follower }, index) => {
      await setTimeout((index / chats.length) * turnMs);
      const own: Followed[][] = [];
      for (let turn = 0; turn < turns; turn += 1)
        own.push(await takeTurn(parley.address, message, { chatId, followers: [follower] }));
      return own;
    });
    return (await Promise.all(talking)).flat();
  });
}

async function takeTurn(
  address: ParleyAddress,
  message: Message,
  { chatId, followers }: { chatId: string; followers: readonly Follower[] },
): Promise<Followed[]> {
  const followed = followers.map((follower) => follower.followTurn());
  await sayInParley(address, chatId, message);
  const seen = await within(TURN_LIMIT_MS, "A follower did not see the turn's end", Promise.all(followed));
  const lost = seen.find(({ delaysMicros }) => delaysMicros.length !== message.deltas);
  if (lost) throw new Error(`A turn of ${message.deltas} deltas arrived with ${lost.delaysMicros.length}`);
  return seen;
}

/** `talk` resolves to what was seen of each turn. */
async function measure({ server }: WatchedParley, talk: () => Promise<Followed[][]>): Promise<Delivery> {
  const cpuBefore = await server.read();
  const startedMs = performance.now();
  const turns = await talk();
  const seconds = (performance.now() - startedMs) / 1_000;
  const cpuMs = (await server.read()) - cpuBefore;
  const all = turns.flat();
  const frames = all.reduce((sum, it) => sum + it.frames, 0);
  return {
    eventsPerSecond: frames / seconds,
    cpuPerEventMicros: (cpuMs * (US_PER_SECOND / 1_000)) / frames,
    delaysMicros: all.flatMap((it) => it.delaysMicros),
    turnsPerSecond: turns.length / seconds,
    afterEndMs: turns.map((seen) =>
      Math.max(...seen.map((it) => (it.restedMicros - it.lastSentMicros) / US_PER_MS)),
    ),
    deltaFramesPerTurn: all.reduce((sum, it) => sum + it.deltaFrames, 0) / all.length,
  };
}

/** Long answers, until far more was sent than the kernel's buffers and the reader's own queue can hold. */
const STALL: { message: Message; turns: number } = { message: { deltas: 20_000, delayMs: 0 }, turns: 30 };
const BYTES_PER_DELTA = 9;

/** One follower stops reading, another one goes on; then the first reads again. */
export async function measureStall(parley: WatchedParley): Promise<Stall> {
  const { message, turns } = STALL;
  const [chatId = ""] = await startChats(parley.address, 1);
  const { followers } = await openFollowers(parley, [chatId, chatId]);
  const [stalled, reading] = followers;
  if (!stalled || !reading) throw new Error("There must be two followers");
  // The first turn makes what stays: prepared statements, compiled code, the chat's history.
  const say = async () => {
    const followed = reading.followTurn();
    await sayInParley(parley.address, chatId, message);
    await within(TURN_LIMIT_MS, "The long turn did not end", followed);
  };
  await say();
  stalled.pause();
  for (let turn = 1; turn < turns; turn += 1) await say();
  const stalling = await readMemory(parley);
  const caughtUp = stalled.untilCaughtUp();
  stalled.resume();
  await within(TURN_LIMIT_MS, "The reader did not catch up", caughtUp);
  const reads = await readMemory(parley);
  for (const follower of followers) await follower.close();
  return {
    retainedBytes: stalling.usedBytes - reads.usedBytes,
    // Deltas and message.
    sentBytes: 2 * BYTES_PER_DELTA * message.deltas * (turns - 1),
    refreshes: stalled.fellBehind,
  };
}

async function readMemory({ program }: WatchedParley): Promise<WatchedState> {
  return (await program.ask()) as WatchedState;
}

async function inBatches<T>(count: number, open: (index: number) => Promise<T>): Promise<T[]> {
  const opened: T[] = [];
  while (opened.length < count) {
    const start = opened.length;
    const size = Math.min(OPENED_AT_ONCE, count - start);
    opened.push(
      ...(await Promise.all(Array.from({ length: size }, (_unused, offset) => open(start + offset)))),
    );
  }
  return opened;
}
