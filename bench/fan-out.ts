/**
 * `npm run bench:fan-out`: the cost of publishing to many subscribers, with and without shared execution of events,
 * against the project's goals. See --help.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  type FanOut,
  measureChorus,
  measureCrowd,
  measureStall,
  openFollowers,
  type Size,
  startChats,
  STREAMED,
} from "./fan-out-measurements.js";
import { fanOutSections, HEADINGS } from "./fan-out-report.js";
import { describeMachine } from "./machine.js";
import { Stage } from "./subjects.js";
import { renderTable } from "./table.js";

const HELP = `Usage: npm run bench:fan-out -- [--quick] [--save] [--profile FOLDER]

Many subscribers on one chat, and many chats with one subscriber each, over graphql-ws; turns of 50 deltas, one each
20 ms, from a scripted model over the vendor's SDK. Load, model and database run on the same machine. Everything is
measured twice: as users have it, and with each subscriber's events executed for it alone.

  --quick           100 subscribers, chats and fewer turns: a look, no measurement
  --save            also writes the table to bench/results/fan-out.txt
  --profile FOLDER  writes a CPU profile of the servers
`;

const FULL: Size = { subscribers: 1_000, turns: 10, atOnce: 240, rounds: 3 };
const QUICK: Size = { subscribers: 100, turns: 2, atOnce: 24, rounds: 1 };
/** Turns that are not counted, enough for the compiler to have seen the hot paths. */
const WARM_UP_TURNS = 2;
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
    const size = values.quick ? QUICK : FULL;
    const shared = await measure(stage, size, true);
    const alone = await measure(stage, size, false);
    const text = `${machine}\n\n${renderTable(fanOutSections(size, { shared, alone }), HEADINGS)}\n`;
    process.stdout.write(text);
    if (!values.save) return;
    await mkdir(RESULTS, { recursive: true });
    await writeFile(join(RESULTS, "fan-out.txt"), text);
  } finally {
    await stage.close();
  }
}

async function measure(stage: Stage, size: Size, isShared: boolean): Promise<FanOut> {
  const name = isShared ? "shared" : "each for itself";
  const parley = await stage.startWatchedParley(isShared);
  try {
    say(`${size.subscribers} subscribers of one chat, ${name} …`);
    const chatIds = await startChats(parley.address, 1);
    const crowd = await openFollowers(
      parley,
      Array.from({ length: size.subscribers }, () => chatIds[0] ?? ""),
    );
    const audience = { chatId: chatIds[0] ?? "", followers: crowd.followers };
    await measureCrowd(parley, { message: STREAMED, turns: WARM_UP_TURNS }, audience);
    const oneChat = await measureCrowd(parley, { message: STREAMED, turns: size.turns }, audience);
    for (const follower of crowd.followers) await follower.close();
    say(`${size.subscribers} chats with a subscriber each, ${size.atOnce} talking at once, ${name} …`);
    const many = await startChats(parley.address, size.subscribers);
    const each = await openFollowers(parley, many);
    const chorus = each.followers
      .slice(0, size.atOnce)
      .map((follower, index) => ({ follower, chatId: many[index] ?? "" }));
    await measureChorus(parley, { message: STREAMED, turns: 1 }, chorus);
    const manyChats = await measureChorus(parley, { message: STREAMED, turns: size.rounds }, chorus);
    for (const follower of each.followers) await follower.close();
    say(`A reader that stalls, ${name} …`);
    const stall = await measureStall(parley);
    return {
      oneChat: { idle: crowd.cost, delivery: oneChat },
      manyChats: { idle: each.cost, delivery: manyChats },
      stall,
    };
  } finally {
    await parley.program.stop();
  }
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

await main();
