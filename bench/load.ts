/** Load of concurrent chats, and its CPU cost for the programs that run them. */
import type { BenchChat, Message, Turn } from "./chat.js";
import type { CpuMeter } from "./machine.js";

export type Load = {
  message: Message;
  turnsPerChat: number;
  /** Chats that talk at the same time; each says all it has to say before the next one begins. */
  atOnce: number;
};

export async function runTurns(chats: readonly BenchChat[], load: Load): Promise<Turn[]> {
  const waiting = [...chats];
  const turns: Turn[] = [];
  const talk = async () => {
    for (let chat = waiting.shift(); chat; chat = waiting.shift()) {
      for (let turn = 0; turn < load.turnsPerChat; turn += 1) turns.push(await chat.say(load.message));
    }
  };
  await Promise.all(Array.from({ length: Math.min(load.atOnce, chats.length) }, talk));
  return turns;
}

/** Chats with one program, and the CPU meters of it and of its database. */
export type Talking = { chats: readonly BenchChat[]; server: CpuMeter; database: CpuMeter };

/** Results of a round. CPU times are in milliseconds per turn. */
export type Round = {
  serverMs: number;
  databaseMs: number;
  delaysMicros: number[];
  deltaFrames: number;
  frames: number;
};

/** Pooled database connections are given up after 10 s without work; what they used is read before. */
const SAMPLE_INTERVAL_MS = 3_000;

export async function measureRound({ chats, server, database }: Talking, load: Load): Promise<Round> {
  const serverBefore = await server.read();
  const databaseBefore = await database.read();
  let looking: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    // A look that fails is repeated by the one at the end, whose failure counts.
    looking = database.read().catch(() => undefined);
  }, SAMPLE_INTERVAL_MS);
  try {
    const turns = await runTurns(chats, load);
    await looking;
    const mean = (pick: (turn: Turn) => number) =>
      turns.reduce((sum, turn) => sum + pick(turn), 0) / turns.length;
    return {
      serverMs: ((await server.read()) - serverBefore) / turns.length,
      databaseMs: ((await database.read()) - databaseBefore) / turns.length,
      delaysMicros: turns.flatMap((turn) => turn.delaysMicros),
      deltaFrames: mean((turn) => turn.deltaFrames),
      frames: mean((turn) => turn.frames),
    };
  } finally {
    clearInterval(timer);
  }
}
