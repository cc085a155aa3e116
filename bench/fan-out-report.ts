/** Results of `bench/fan-out.ts` as a table against the project's goals. */
import type { Delivery, FanOut, IdleCost, Size } from "./fan-out-measurements.js";
import { percentile } from "./statistics.js";
import { type Goal, type Row, type Section, showNumber } from "./table.js";

export const HEADINGS = ["", "shared", "each for itself", "ratio", "aim"];

/** A turn has reached its last follower so soon after its end. */
const MAX_AFTER_END_MS = 150;
/** One delta reaches its follower so soon while many turns run. */
const MAX_P99_MS = 250;
const MAX_IDLE_KB = 20;
/** A reader's queue may hold 2 MB; its socket and what the objects cost come on top. */
const MAX_STALLED_MB = 4;

type Both = { shared: FanOut; alone: FanOut };

export function fanOutSections(size: Size, both: Both): Section[] {
  const { subscribers, turns, atOnce, rounds } = size;
  const one = pair(both, ({ oneChat }) => oneChat);
  const many = pair(both, ({ manyChats }) => manyChats);
  const afterEnd = (it: { delivery: Delivery }) => Math.max(...it.delivery.afterEndMs);
  const p99 = (it: { delivery: Delivery }) => percentile(it.delivery.delaysMicros, 99) / 1_000;
  return [
    {
      title: `${subscribers} subscribers of one chat (${turns} turns of 50 deltas, one each 20 ms)`,
      rows: [
        compare("last follower sees the turn's end, ms after the last delta, worst turn", one, afterEnd, {
          text: `<= ${MAX_AFTER_END_MS} ms`,
          isMet: afterEnd(one.shared) <= MAX_AFTER_END_MS,
        }),
        compare("the same, median turn", one, (it) => percentile(it.delivery.afterEndMs, 50)),
        ...deliveryRows(one),
        ...idleRows(one),
      ],
    },
    {
      title: `${subscribers} chats with one subscriber each (${atOnce} talk all the time, ${rounds} turns each)`,
      rows: [
        compare("delta to follower's socket, p99 ms", many, p99, {
          text: `< ${MAX_P99_MS} ms`,
          isMet: p99(many.shared) < MAX_P99_MS,
        }),
        compare("turns per second", many, (it) => it.delivery.turnsPerSecond),
        ...deliveryRows(many),
        ...idleRows(many),
      ],
    },
    { title: "A reader that stops reading", rows: stallRows(both) },
  ];
}

type Pair<T> = { shared: T; alone: T };

function pair<T>({ shared, alone }: Both, pick: (from: FanOut) => T): Pair<T> {
  return { shared: pick(shared), alone: pick(alone) };
}

function compare<T>(label: string, { shared, alone }: Pair<T>, pick: (from: T) => number, goal?: Goal): Row {
  const [a, b] = [pick(shared), pick(alone)];
  return { label, parley: showNumber(a, 1), floor: showNumber(b, 1), ratio: showNumber(a / b), goal };
}

function deliveryRows(both: Pair<{ delivery: Delivery }>): Row[] {
  return [
    compare("events per second", both, (it) => it.delivery.eventsPerSecond),
    compare("CPU of the server per delivered event, µs", both, (it) => it.delivery.cpuPerEventMicros),
    compare(
      "delta to follower's socket, p50 ms",
      both,
      (it) => percentile(it.delivery.delaysMicros, 50) / 1_000,
    ),
    compare("events with deltas per turn", both, (it) => it.delivery.deltaFramesPerTurn),
  ];
}

function idleRows(both: Pair<{ idle: IdleCost }>): Row[] {
  const used = (it: { idle: IdleCost }) => it.idle.usedBytes / 1_024;
  return [
    compare("memory per idle subscriber, kB of the heap and buffers", both, used, {
      text: `<= ${MAX_IDLE_KB} kB`,
      isMet: used(both.shared) <= MAX_IDLE_KB,
    }),
    compare("the same, kB of the process", both, (it) => it.idle.residentBytes / 1_024),
  ];
}

function stallRows(both: Both): Row[] {
  const stall = pair(both, (it) => it.stall);
  const retainedMb = (it: FanOut["stall"]) => it.retainedBytes / 1_048_576;
  return [
    compare("sent to the chat meanwhile, MB", stall, (it) => it.sentBytes / 1_048_576),
    compare("memory that the server holds until then, MB", stall, retainedMb, {
      text: `<= ${MAX_STALLED_MB} MB`,
      isMet: retainedMb(stall.shared) <= MAX_STALLED_MB,
    }),
    compare("refreshes that it got when it went on", stall, (it) => it.refreshes, {
      text: "1",
      isMet: stall.shared.refreshes === 1,
    }),
  ];
}
