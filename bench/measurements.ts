/** The three measurements of a run: what a turn costs, how often it asks the database, and whether long chats cost more. */
import { setTimeout } from "node:timers/promises";
import type { BenchChat, Message } from "./chat.js";
import type { StatementCounts } from "./counted-parley.js";
import { measureRound, runTurns, type Load, type Round } from "./load.js";
import { nowMicros } from "./machine.js";
import type { CountedParley, LastPrompt, Stage, Subject } from "./subjects.js";

/** Alternating rounds of both programs, so that fluctuations of the machine affect both. */
export type PeriodicJob = { parley: Round[]; floor: Round[] };

export type Counted = {
  statementsPerTurn: number;
  transactionsPerTurn: number;
  /** What the server would have sent in the time of a turn without any: its worker looks for lost work each second. */
  idleStatementsPerTurn: number;
  byName: [string, number][];
  readsPerSubscriber: number;
  /** What each step with a tool adds to a turn. */
  perToolStep: { statements: number; transactions: number };
  idleStatementsPerSecond: number;
  /** All transactions of the counted server's life, as counted here and as counted by PostgreSQL. */
  transactions: { here: number; postgres: number };
};

export type Lengths = {
  /** Of the whole request to the model. */
  promptCharacters: { young: number; old: number };
  statementsPerTurn: { young: number; old: number };
  parley: { young: Round[]; old: Round[] };
  floor: { young: Round[]; old: Round[] };
};

const SHORT: Message = { deltas: 10, delayMs: 0 };
const SUBSCRIBERS = 5;
const TOOL_STEPS = 5;
const IDLE_MS = 3_000;

export async function measureRounds(
  subjects: { parley: Subject; floor: Subject },
  { load, chats, rounds }: { load: Load; chats: number; rounds: number },
): Promise<PeriodicJob> {
  const result: PeriodicJob = { parley: [], floor: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const name of ["parley", "floor"] as const) {
      const { server, database, openChats } = subjects[name];
      const opened = await openChats(chats, SHORT);
      result[name].push(await measureRound({ chats: opened, server, database }, load));
      await closeAll(opened);
    }
  }
  return result;
}

/** CPU of server and database that a step with a tool adds to a turn, in milliseconds, one number for each round. */
export async function measureToolSteps(
  { server, database, openChats }: Subject,
  { load, chats, rounds }: { load: Load; chats: number; rounds: number },
): Promise<number[]> {
  const added: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const [plain, stepped] = [await cpuOf(0), await cpuOf(TOOL_STEPS)];
    added.push((stepped - plain) / TOOL_STEPS);
  }
  return added;

  async function cpuOf(toolSteps: number): Promise<number> {
    const opened = await openChats(chats, SHORT);
    const message = { ...load.message, toolSteps };
    const { serverMs, databaseMs } = await measureRound(
      { chats: opened, server, database },
      { ...load, message },
    );
    await closeAll(opened);
    return serverMs + databaseMs;
  }
}

/** Chats run one after the other, so that no two turns share a statement. */
export async function countStatements(stage: Stage, chats: number, load: Load): Promise<Counted> {
  const counted = await stage.startCountedParley();
  const one = await countWith(counted, { chats, load, subscribers: 1 });
  const many = await countWith(counted, { chats, load, subscribers: SUBSCRIBERS });
  const message = { ...load.message, toolSteps: TOOL_STEPS };
  const stepped = await countWith(counted, { chats, load: { ...load, message }, subscribers: 1 });
  const watched = await counted.openChats(chats, SHORT, 1);
  const idle = await difference(counted, () => setTimeout(IDLE_MS));
  await closeAll(watched);
  const idlePerSecond = idle.statements / (IDLE_MS / 1_000);
  const turns = chats * load.turnsPerChat;
  const atEnd = (await counted.program.stop()) as StatementCounts;
  return {
    statementsPerTurn: one.statements / turns,
    transactionsPerTurn: one.transactions / turns,
    byName: Object.entries(one.byName)
      .map(([name, count]): [string, number] => [name, count / turns])
      .sort((a, b) => b[1] - a[1]),
    perToolStep: {
      statements: (stepped.statements - one.statements) / turns / TOOL_STEPS,
      transactions: (stepped.transactions - one.transactions) / turns / TOOL_STEPS,
    },
    readsPerSubscriber: (many.statements - one.statements) / (SUBSCRIBERS - 1) / turns,
    idleStatementsPerSecond: idlePerSecond,
    idleStatementsPerTurn: (idlePerSecond * one.seconds) / turns,
    transactions: {
      here: atEnd.transactions,
      postgres: await stage.databases.transactionsOf(counted.databaseName),
    },
  };
}

async function countWith(
  counted: CountedParley,
  { chats, load, subscribers }: { chats: number; load: Load; subscribers: number },
): Promise<StatementCounts & { seconds: number }> {
  const opened = await counted.openChats(chats, SHORT, subscribers);
  const startedAt = nowMicros();
  const counts = await difference(counted, () => runTurns(opened, load));
  const seconds = (nowMicros() - startedAt) / 1e6;
  await closeAll(opened);
  return { ...counts, seconds };
}

/** What a program's database was asked while `work` went on. */
export async function difference(
  { program }: Pick<CountedParley, "program">,
  work: () => Promise<unknown>,
): Promise<StatementCounts> {
  const before = (await program.ask()) as StatementCounts;
  await work();
  const after = (await program.ask()) as StatementCounts;
  const byName = Object.entries(after.byName).map(([name, count]) => [
    name,
    count - (before.byName[name] ?? 0),
  ]);
  return {
    statements: after.statements - before.statements,
    transactions: after.transactions - before.transactions,
    byName: Object.fromEntries(byName) as Record<string, number>,
  };
}

/** Turns before the first window of an old and of a young chat; the windows begin at turns 196 and 3. */
const OLD_TURNS = 195;
const YOUNG_TURNS = 2;
const WINDOW_TURNS = 5;

/** The same programs keep young and old chats at the same time, so nothing but the chats' length differs. */
export async function compareLengths(
  stage: Stage,
  subjects: { parley: Subject; floor: Subject },
  { chats, windows }: { chats: number; windows: number },
): Promise<Lengths> {
  const load: Load = { message: SHORT, turnsPerChat: WINDOW_TURNS, atOnce: chats };
  const result: Lengths = {
    promptCharacters: { young: 0, old: 0 },
    statementsPerTurn: await countByLength(stage),
    parley: { young: [], old: [] },
    floor: { young: [], old: [] },
  };
  const open: Record<"parley" | "floor", Record<"young" | "old", BenchChat[]>> = {
    parley: await openByAge(subjects.parley, chats),
    floor: await openByAge(subjects.floor, chats),
  };
  for (let window = 0; window < windows; window += 1) {
    for (const name of ["parley", "floor"] as const) {
      for (const age of ["young", "old"] as const) {
        const round = await measureRound({ ...subjects[name], chats: open[name][age] }, load);
        result[name][age].push(round);
        if (window === 0 && name === "parley") {
          const { characters }: LastPrompt = await stage.lastPrompt();
          result.promptCharacters[age] = characters;
        }
      }
    }
  }
  for (const { young, old } of Object.values(open)) await closeAll([...young, ...old]);
  return result;
}

async function openByAge(subject: Subject, chats: number): Promise<Record<"young" | "old", BenchChat[]>> {
  // A chat has had its first turn when it is open.
  const aged = async (turns: number) => {
    const opened = await subject.openChats(chats, SHORT);
    await runTurns(opened, { message: SHORT, turnsPerChat: turns - 1, atOnce: chats });
    return opened;
  };
  return { old: await aged(OLD_TURNS), young: await aged(YOUNG_TURNS) };
}

async function countByLength(stage: Stage): Promise<{ young: number; old: number }> {
  const counted = await stage.startCountedParley();
  const [chat] = await counted.openChats(1, SHORT, 1);
  const talk = (turns: number) =>
    runTurns(chat ? [chat] : [], { message: SHORT, turnsPerChat: turns, atOnce: 1 });
  await talk(YOUNG_TURNS - 1);
  const young = await difference(counted, () => talk(WINDOW_TURNS));
  await talk(OLD_TURNS - YOUNG_TURNS - WINDOW_TURNS);
  const old = await difference(counted, () => talk(WINDOW_TURNS));
  if (chat) await chat.close();
  await counted.program.stop();
  return { young: young.statements / WINDOW_TURNS, old: old.statements / WINDOW_TURNS };
}

async function closeAll(chats: readonly BenchChat[]): Promise<void> {
  for (const chat of chats) await chat.close();
}
