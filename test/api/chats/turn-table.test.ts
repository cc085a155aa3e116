// Every way a turn can go: each phase of a turn combined with each event, through the public API, with a simulated
// vendor and a real database. PARLEY_PRINT_TABLE=1 prints the table.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  onScene,
  playAtServer,
  playCrash,
  playInterrupting,
  playLostAgent,
  playLostLease,
  playPending,
  playShutdown,
} from "./turn-table/batches.js";
import type { Results } from "./turn-table/batches.js";
import {
  CRASH,
  LOST_LEASE,
  USER_EVENTS,
  SHUTDOWN,
  TOOL_EVENTS,
  AGENT_DIES,
  VENDOR_EVENTS,
  type Event,
} from "./turn-table/events.js";
import { phase, PHASES } from "./turn-table/phases.js";
import { Table } from "./turn-table/table.js";
import type { Outcome, Phase } from "./turn-table/words.js";

/** The cells of a batch run concurrently, and one batch includes the expiry of a lease. */
const BATCH_TIMEOUT_MS = 90_000;

const SERVER_EVENTS: { event: Event; play: () => Promise<Results> }[] = [
  { event: SHUTDOWN, play: playShutdown },
  { event: CRASH, play: playCrash },
  { event: LOST_LEASE, play: playLostLease },
  { event: AGENT_DIES, play: () => playLostAgent(AGENT_DIES) },
];
const AT_ONE_SERVER = [...USER_EVENTS, ...VENDOR_EVENTS, ...TOOL_EVENTS];
const EVENTS = [...USER_EVENTS, SHUTDOWN, CRASH, LOST_LEASE, ...VENDOR_EVENTS, ...TOOL_EVENTS, AGENT_DIES];

const table = new Table();
const outcomes = new Map<Event, Results>();

beforeAll(async () => {
  await Promise.all([playUsersAndVendors(), playServers()]);
}, 2 * BATCH_TIMEOUT_MS);

afterAll(() => {
  if (process.env["PARLEY_PRINT_TABLE"] !== "1") return;
  const rows = PHASES.map(({ name }) => name);
  process.stdout.write(
    `\n${table.print(
      rows,
      EVENTS.map(({ name }) => name),
    )}\n`,
  );
});

async function playUsersAndVendors(): Promise<void> {
  await onScene(async (scene) => {
    const server = await scene.environment.start(scene.model.settings);
    for (const event of AT_ONE_SERVER) outcomes.set(event, await playAtServer(event, scene, server.api));
  });
  note("pending", await playPending(meeting("pending")));
  note("interrupting", await playInterrupting(meeting("interrupting")));
}

/** The user and vendor events that can occur in the phase. */
function meeting(name: string): Event[] {
  return AT_ONE_SERVER.filter((event) => !("notHere" in event.expect(phase(name))));
}

function note(name: string, results: Map<Event, Promise<Outcome>>): void {
  for (const [event, outcome] of results) outcomes.get(event)?.set(phase(name), outcome);
}

async function playServers(): Promise<void> {
  for (const { event, play } of SERVER_EVENTS) outcomes.set(event, await play());
}

describe.each(EVENTS)("$name", (event) => {
  const here = PHASES.filter((met) => isHere(event, met));
  test.each(here)("$name", async (met) => {
    const { name } = met;
    table.set(name, event.name, "✗");
    const outcome: Outcome | undefined = await outcomes.get(event)?.get(met);
    expect(outcome).toEqual({ ...event.expect(met), breaches: [] });
    table.set(name, event.name, "✓");
  });
});

/** Records the reason if the combination is not possible. */
function isHere(event: Event, met: Phase): boolean {
  const verdict = event.expect(met);
  if (!("notHere" in verdict)) return true;
  table.set(met.name, event.name, verdict);
  return false;
}
