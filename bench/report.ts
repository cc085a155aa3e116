/** Renders measurements as a report. Pure. The goals are the project's, from its issue about budgets. */
import type { ReplicaReads } from "./replica-reads.js";
import type { Counted, Lengths, PeriodicJob } from "./measurements.js";
import type { Round } from "./load.js";
import { paired, percentile, spreadOf } from "./statistics.js";
import { showNumber, showSpread, type Row, type Section } from "./table.js";

const MAX_STATEMENTS = 8;
const MAX_TRANSACTIONS = 4;
/** A read for each subscriber would be 1; the rest is the worker's clock, which ticks in one count and not in another. */
const NO_READS = 0.05;
/** The idle server's part is known from a rate, so what is left is not a whole number. */
const ROUNDING = 0.02;
const MAX_ADDED_MS = 2;
/** A tick of the worker may fall into one of the windows; a statement more in every turn is 1. */
const HALF_A_STATEMENT = 0.5;
const MAX_CPU_RATIO = 2;
/** Parley's own share of a turn may differ this much between a young and an old chat before it counts as growth. */
const MAX_GROWTH = 1.25;

/** The floor's two inserts, each a transaction of its own. */
const FLOOR_STATEMENTS = 2;

const totalMs = (round: Round) => round.serverMs + round.databaseMs;

/** `hasDatabaseCpu` is false when the database's processes could not be seen. */
export function roundsSection(
  title: string,
  { parley, floor }: PeriodicJob,
  hasDatabaseCpu: boolean,
): Section {
  const compare = (label: string, pick: (round: Round) => number): Row & { ratioMedian: number } => {
    const [ours, theirs] = [parley.map(pick), floor.map(pick)];
    const ratios = spreadOf(paired(ours, theirs, (a, b) => a / b));
    return {
      label,
      parley: showSpread(spreadOf(ours)),
      floor: showSpread(spreadOf(theirs)),
      ratio: showSpread(ratios),
      ratioMedian: ratios.median,
    };
  };
  const delay = (percent: number) => (round: Round) => percentile(round.delaysMicros, percent) / 1_000;
  const total = compare("CPU of both per turn, ms", totalMs);
  const cpuGoal = { text: `<= ${MAX_CPU_RATIO} times the floor`, isMet: total.ratioMedian <= MAX_CPU_RATIO };
  const added = spreadOf(paired(parley.map(delay(50)), floor.map(delay(50)), (a, b) => a - b));
  const isPrompt = added.median < MAX_ADDED_MS;
  return {
    title,
    rows: [
      compare("CPU of the server per turn, ms", (round) => round.serverMs),
      ...(hasDatabaseCpu
        ? [
            compare("CPU of the database per turn, ms", (round) => round.databaseMs),
            { ...total, goal: cpuGoal },
          ]
        : [{ label: "CPU of the database per turn, ms", parley: "not on this machine" }]),
      compare("model's delta to subscriber's socket, p50 ms", delay(50)),
      compare("model's delta to subscriber's socket, p99 ms", delay(99)),
      {
        label: "p50 over the floor's, ms",
        parley: showSpread(added),
        goal: { text: `< ${MAX_ADDED_MS} ms`, isMet: isPrompt },
      },
      compare("frames with deltas per turn", (round) => round.deltaFrames),
      compare("all frames per turn", (round) => round.frames),
    ],
  };
}

export function replicaReadsSection(reads: ReplicaReads | null): Section {
  const title = "Statements of another replica, where subscribers are";
  if (!reads) return { title, rows: [{ label: "not counted: there is no redis-server", parley: "" }] };
  const { followers, turns, perFollowerAndTurn, byName } = reads;
  return {
    title: `${title} (${turns} turns, ${followers} followers)`,
    rows: [
      {
        label: "statements per follower per turn, beyond an idle replica's",
        parley: showNumber(perFollowerAndTurn, 3),
        goal: { text: "0", isMet: Math.abs(perFollowerAndTurn) < NO_READS },
      },
      ...Object.entries(byName).map(([name, count]) => ({
        label: `  ${name}, in all turns`,
        parley: `${count}`,
      })),
    ],
  };
}

export function countsSection(title: string, counted: Counted): Section {
  const { statementsPerTurn, transactionsPerTurn, readsPerSubscriber, idleStatementsPerSecond } = counted;
  const against = (label: string, value: number, most: number): Row => {
    // Each statement of an idle server is a transaction as well.
    const own = value - counted.idleStatementsPerTurn;
    return {
      label,
      parley: `${showNumber(value)} (${showNumber(own)} without the idle server's)`,
      floor: showNumber(FLOOR_STATEMENTS),
      ratio: showNumber(value / FLOOR_STATEMENTS),
      goal: { text: `<= ${most}`, isMet: own <= most + ROUNDING },
    };
  };
  return {
    title,
    rows: [
      against("SQL statements per turn", statementsPerTurn, MAX_STATEMENTS),
      against("transactions per turn", transactionsPerTurn, MAX_TRANSACTIONS),
      {
        label: "reads per further subscriber per turn",
        parley: showNumber(readsPerSubscriber),
        floor: showNumber(0),
        goal: { text: "0", isMet: Math.abs(readsPerSubscriber) < NO_READS },
      },
      {
        label: "SQL statements / transactions per step with a tool",
        parley: `${showNumber(counted.perToolStep.statements)} / ${showNumber(counted.perToolStep.transactions)}`,
      },
      { label: "statements per second of an idle server", parley: showNumber(idleStatementsPerSecond) },
      {
        label: "all transactions, counted here / by PostgreSQL",
        parley: `${counted.transactions.here} / ${counted.transactions.postgres}`,
      },
      ...counted.byName
        .filter(([, perTurn]) => perTurn >= SHOWN_PER_TURN)
        .map(([name, perTurn]): Row => ({ label: `  ${name}`, parley: showNumber(perTurn) })),
    ],
  };
}

/** What each step with a tool costs besides the model's and the tool's own work. */
export function toolStepsSection(title: string, addedMs: readonly number[]): Section {
  const label = "CPU of server and database per step, ms";
  return { title, rows: [{ label, parley: showSpread(spreadOf([...addedMs])) }] };
}

/** Statements that are rarer than this belong to no turn. */
const SHOWN_PER_TURN = 0.005;

export function lengthsSection(title: string, lengths: Lengths): Section {
  const { promptCharacters, statementsPerTurn, parley, floor } = lengths;
  const own = (age: "young" | "old") =>
    spreadOf(paired(parley[age].map(totalMs), floor[age].map(totalMs), (a, b) => a - b));
  const growth = own("old").median / own("young").median;
  const cpu = (label: string, age: "young" | "old"): Row => ({
    label,
    parley: showSpread(spreadOf(parley[age].map(totalMs))),
    floor: showSpread(spreadOf(floor[age].map(totalMs))),
    ratio: showSpread(spreadOf(paired(parley[age].map(totalMs), floor[age].map(totalMs), (a, b) => a / b))),
  });
  const { young, old } = statementsPerTurn;
  return {
    title,
    rows: [
      {
        label: "statements per turn, turn 5 / turn 200",
        parley: `${showNumber(young)} / ${showNumber(old)}`,
        goal: { text: "the same", isMet: old < young + HALF_A_STATEMENT },
      },
      {
        label: "prompt, kB",
        parley: `${kilobytes(promptCharacters.young)} / ${kilobytes(promptCharacters.old)}`,
      },
      cpu("CPU of server and database at turn 5, ms", "young"),
      cpu("CPU of server and database at turn 200, ms", "old"),
      {
        label: "the same over the floor's (its prompt is as long), ms",
        parley: `${showSpread(own("young"))} / ${showSpread(own("old"))}`,
        ratio: showNumber(growth),
        goal: { text: `<= ${MAX_GROWTH} times`, isMet: growth <= MAX_GROWTH },
      },
    ],
  };
}

function kilobytes(characters: number): string {
  return showNumber(characters / 1_000, 1);
}
