/**
 * `npm run bench`: what one text-only turn costs, from a user's message to the end of the turn, against the project's
 * budgets and beside the floor, a program that does nothing but what must be done. See --help.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { describeMachine } from "./machine.js";
import { compareLengths, countStatements, measureRounds, measureToolSteps } from "./measurements.js";
import {
  countsSection,
  lengthsSection,
  replicaReadsSection,
  roundsSection,
  toolStepsSection,
} from "./report.js";
import { countReplicaReads } from "./replica-reads.js";
import { Stage, type Subject } from "./subjects.js";
import { renderTable, type Section } from "./table.js";

const HELP = `Usage: npm run bench -- [--quick] [--save] [--profile FOLDER]

Measures text-only turns: a message over HTTP, 50 deltas from a scripted model over the vendor's SDK, a subscriber
over graphql-ws, PostgreSQL (DATABASE_URL, or an embedded one), events within the process. The floor does the same
turn with the same SDK and prompt: two commits, one socket frame for each delta, nothing else.

  --quick           50 turns instead of 500 and one round instead of three: a look, no measurement
  --save            also writes the table to bench/results/turn.txt
  --profile FOLDER  writes a CPU profile of the server and of the floor
`;

const DELTAS = 50;
/** A fast model's pause between two tokens. */
const DELAY_MS = 20;
const TURNS_PER_CHAT = 10;
/** With pauses a turn takes a second, mostly waiting; without, two chats keep a server busy. */
const CHATS_AT_ONCE = { paced: 25, burst: 2 };

/** 500 turns, three times; the lengths are compared over 120 turns each. */
const FULL = { chats: 50, rounds: 3, aged: { chats: 8, windows: 3 } };
const QUICK = { chats: 5, rounds: 1, aged: { chats: 2, windows: 1 } };

/** The usual exit code of a program that was interrupted. */
const INTERRUPTED = 130;

const RESULTS = join(import.meta.dirname, "results");

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      help: { type: "boolean" },
      quick: { type: "boolean" },
      save: { type: "boolean" },
      profile: { type: "string" },
    },
  });
  if (values.help) return void process.stdout.write(HELP);
  const stage = await Stage.open(values.profile);
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void stage.close().finally(() => process.exit(INTERRUPTED)));
  }
  try {
    const machine = describeMachine(stage.databases.description);
    const sections = await measure(stage, values.quick ? QUICK : FULL);
    const text = `${machine}\nMedian of the rounds (least–most).\n\n${renderTable(sections)}\n`;
    process.stdout.write(text);
    if (!values.save) return;
    await mkdir(RESULTS, { recursive: true });
    await writeFile(join(RESULTS, "turn.txt"), text);
  } finally {
    await stage.close();
  }
}

async function measure(stage: Stage, size: typeof FULL): Promise<Section[]> {
  const { chats, rounds } = size;
  const turns = chats * TURNS_PER_CHAT;
  const subjects = await start(stage);
  const round = (delayMs: number, atOnce: number) => {
    const load = { message: { deltas: DELTAS, delayMs }, turnsPerChat: TURNS_PER_CHAT, atOnce };
    return measureRounds(subjects, { load, chats, rounds });
  };
  say(`${turns} turns, deltas without a pause …`);
  const burst = await round(0, CHATS_AT_ONCE.burst);
  say(`${turns} turns, a delta each ${DELAY_MS} ms …`);
  const paced = await round(DELAY_MS, CHATS_AT_ONCE.paced);
  say(`${turns} turns, with tools …`);
  const short = { message: { deltas: 10, delayMs: 0 }, turnsPerChat: TURNS_PER_CHAT, atOnce: 2 };
  const toolSteps = await measureToolSteps(subjects.parley, { load: short, chats, rounds });
  say(`${turns} turns, counting statements …`);
  const load = { message: { deltas: DELTAS, delayMs: 0 }, turnsPerChat: TURNS_PER_CHAT, atOnce: 1 };
  const counted = await countStatements(stage, chats, load);
  say("followers on another replica …");
  const replicaReads = await countReplicaReads(stage);
  say("200 turns in each chat …");
  const lengths = await compareLengths(stage, subjects, size.aged);
  const { isLocal } = stage.databases;
  const rows = `${rounds} x ${turns} turns of ${DELTAS} deltas`;
  return [
    countsSection(`Statements (${turns} turns, one after the other)`, counted),
    replicaReadsSection(replicaReads),
    roundsSection(
      `A delta each ${DELAY_MS} ms (${rows}, ${CHATS_AT_ONCE.paced} chats at once)`,
      paced,
      isLocal,
    ),
    roundsSection(`Deltas without a pause (${rows}, ${CHATS_AT_ONCE.burst} chats at once)`, burst, isLocal),
    toolStepsSection(`A step with a tool (${rounds} x ${turns} turns of 5 such steps)`, toolSteps),
    lengthsSection(`Length of the chat (turns of 10 deltas, ${size.aged.chats} chats at once)`, lengths),
  ];
}

/** Parley first: the floor's prompt is taken from what Parley sent. */
async function start(stage: Stage): Promise<{ parley: Subject; floor: Subject }> {
  const parley = await stage.startParley();
  const warmUp = { deltas: DELTAS, delayMs: 0 };
  for (const chat of await parley.openChats(WARM_UP_CHATS, warmUp)) await chat.close();
  const floor = await stage.startFloor();
  for (const chat of await floor.openChats(WARM_UP_CHATS, warmUp)) await chat.close();
  return { parley, floor };
}

/** Turns that are not counted, enough for the compiler to have seen the hot paths. */
const WARM_UP_CHATS = 50;

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

await main();
