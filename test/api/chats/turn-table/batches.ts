// Runs the cells of the table: all phases of one event concurrently, since killing a server is expensive.
import { expect } from "vitest";
import type { ApiClient } from "../../../support/clients/api-client.js";
import { eventually } from "../../../support/eventually.js";
import { createTestEnvironment, type Settings } from "../../../support/parley.js";
import { startStagedModel } from "../../../support/models/staged-model.js";
import { bringInto, moveTo, outcomeOf, processEnd } from "./cell.js";
import { CRASH, killNoted, LOST_LEASE, SHUTDOWN, type Event } from "./events.js";
import { phase, PHASES } from "./phases.js";
import { within } from "./within.js";
import type { Cell, Outcome, Phase, Scene } from "./words.js";

/** The outcome of each phase, or a rejection if it had none. */
export type Results = Map<Phase, Promise<Outcome>>;

/** For a server that is going to be killed. */
const SHORT_LEASE = { PARLEY_LEASE_MS: "3000", PARLEY_HEARTBEAT_MS: "1000" };
/** For a server that checks often for expired leases, with a lease too long to expire on a slow machine. */
const WATCHFUL = { PARLEY_LEASE_MS: "120000", PARLEY_HEARTBEAT_MS: "1000" };

/** For a server that never polls: it neither notices the loss of its lease nor that of others. */
const DEAF = { PARLEY_LEASE_MS: "3600000", PARLEY_HEARTBEAT_MS: "1200000" };

/** Runs `play` in a new environment with its own model, and removes both afterwards. */
export async function onScene<T>(play: (scene: Scene) => Promise<T>): Promise<T> {
  // Agents that end with their server or are killed, and leave this process to the hundreds of chats.
  const options = { startsAgents: true };
  const [environment, model] = await Promise.all([createTestEnvironment(options), startStagedModel()]);
  try {
    let apiServer: Promise<ApiClient> | undefined;
    const open = async () => (await environment.start({ ...model.settings, PARLEY_ROLE: "api" })).api;
    return await play({ environment, model, apiServer: () => (apiServer ??= open()) });
  } finally {
    await environment.remove();
    await model.close();
  }
}

/** The phases in which an event can occur. */
export function phasesOf(event: Event): Phase[] {
  return PHASES.filter((candidate) => !("notHere" in event.expect(candidate)));
}

/** Runs a user's or a vendor's event in every phase that needs no scene of its own, on one server. */
export async function playAtServer(event: Event, scene: Scene, api: ApiClient): Promise<Results> {
  const results: Results = new Map();
  for (const one of phasesOf(event).filter(({ isApart }) => !isApart)) {
    results.set(
      one,
      bringInto(one, scene, api, one.asked === "not begun" ? event.answer : undefined)
        .then((cell) => act(event, cell))
        .then(endOf),
    );
  }
  await Promise.allSettled(results.values());
  return results;
}

async function act(event: Event, cell: Cell): Promise<Cell> {
  await event.prepare?.(cell);
  const acting = () => event.act?.(cell) ?? Promise.resolve();
  await within(cell.phase.around?.(cell, acting) ?? acting(), () => "the event itself");
  return cell;
}

async function endOf(cell: Cell): Promise<Outcome> {
  const outcome = await outcomeOf(cell);
  await processEnd(cell);
  return outcome;
}

/** Runs user events on chats that no worker has started, because another chat occupies the only slot. */
export function playPending(events: readonly Event[]): Promise<Map<Event, Promise<Outcome>>> {
  return onScene(async (scene) => {
    const server = await scene.environment.start({ ...scene.model.settings, PARLEY_MAX_RUNNING_CHATS: "1" });
    const blocking = await bringInto(phase("mid-text"), scene, server.api);
    const acted = await Promise.all(
      events.map(async (event) => {
        const cell = await bringInto(phase("pending"), scene, server.api);
        return [event, await act(event, cell)] as const;
      }),
    );
    (await blocking.staged.reached(1))("go-on");
    const results = new Map(acted.map(([event, cell]) => [event, outcomeOf(cell)]));
    await Promise.allSettled([...results.values(), blocking.follower.untilStatus("WAITING")]);
    await blocking.follower.close();
    return results;
  });
}

/** Runs events on chats that were interrupted through another server, before their own server has noticed. */
export function playInterrupting(events: readonly Event[]): Promise<Map<Event, Promise<Outcome>>> {
  return onScene(async (scene) => {
    const server = await scene.environment.start({ ...scene.model.settings, ...DEAF });
    const play = async (event: Event): Promise<Outcome> => {
      const cell = await bringInto(phase("interrupting"), scene, server.api);
      cell.api = await scene.apiServer();
      await act(event, cell);
      (await cell.staged.reached(1))("go-on");
      return outcomeOf(cell);
    };
    const results = new Map(events.map((event) => [event, play(event)]));
    await Promise.allSettled(results.values());
    return results;
  });
}

// ── lost servers ─────────────────────────────────────────────────────────────

/** Exactly as many slots as running chats, so that the last one stays pending. Interrupted chats need no slot. */
function crowded(event: Event): Settings {
  const count = phasesOf(event).filter(({ isUnowned, afterServer }) => !isUnowned && !afterServer).length;
  return { PARLEY_MAX_RUNNING_CHATS: String(count), PARLEY_ACQUIRE_BATCH_SIZE: "50" };
}

/** One chat in each phase. The pending one comes last, when all slots are taken. */
async function bringAll(event: Event, scene: Scene, api: ApiClient): Promise<Cell[]> {
  const [waiting, others] = [
    phasesOf(event).filter(({ name }) => name === "pending"),
    phasesOf(event).filter(({ name }) => name !== "pending"),
  ];
  const cells = await Promise.all(others.map((one) => bringInto(one, scene, api)));
  return [...cells, ...(await Promise.all(waiting.map((one) => bringInto(one, scene, api))))];
}

async function finish(cells: Cell[]): Promise<Results> {
  const results: Results = new Map(cells.map((cell) => [cell.phase, answerClient(cell).then(endOf)]));
  await Promise.allSettled(results.values());
  return results;
}

/** Submits the client tool results that the phase waits for, to the current server. */
async function answerClient(cell: Cell): Promise<Cell> {
  if (cell.phase.name !== "requires action") return cell;
  const results = [{ toolCallId: "call_where", result: "here" }];
  await cell.api.change("submitToolResults", { chatId: cell.chatId, results }, "chat { id }");
  return cell;
}

/** The server is shut down gracefully while another one runs. */
export function playShutdown(): Promise<Results> {
  return onScene(async (scene) => {
    const settings = { ...scene.model.settings, ...crowded(SHUTDOWN) };
    const leaving = await scene.environment.start(settings);
    const cells = await bringAll(SHUTDOWN, scene, leaving.api);
    const staying = await scene.environment.start(settings);
    await leaving.close();
    await Promise.all(cells.map((cell) => moveTo(cell, staying.api)));
    return finish(cells);
  });
}

/** The server's process is killed; another one starts and takes over after the lease has expired. */
export function playCrash(): Promise<Results> {
  return onScene(async (scene) => {
    const { settings } = scene.model;
    const dying = await scene.environment.spawn({ ...settings, ...SHORT_LEASE, ...crowded(CRASH) });
    const cells = await bringAll(CRASH, scene, dying.api);
    await dying.end("SIGKILL");
    const next = await scene.environment.start({ ...settings, ...WATCHFUL });
    await Promise.all(cells.map((cell) => moveTo(cell, next.api)));
    return finish(cells);
  });
}

/** The server and its model streams keep running, but another one owns its chats: its late output is discarded. */
export function playLostLease(): Promise<Results> {
  return onScene(async (scene) => {
    const stale = await scene.environment.start({ ...scene.model.settings, ...DEAF });
    const cells = await bringAll(LOST_LEASE, scene, stale.api);
    await scene.environment.start({ ...scene.model.settings, ...WATCHFUL, PARLEY_ACQUIRE_BATCH_SIZE: "50" });
    await takeAway(scene);
    await Promise.all(
      cells
        .filter(({ phase: { asked } }) => asked !== "no")
        .map(async ({ staged, phase: { calls } }) => {
          (await staged.reached(calls))("go-on");
        }),
    );
    const results: Results = new Map(cells.map((cell) => [cell.phase, outcomeOf(cell)]));
    await Promise.allSettled(results.values());
    // Its commands are left to the server that repeats the step, and end with their own agent.
    await stale.close();
    await Promise.all(cells.map(processEnd));
    return results;
  });
}

/** Deletes the lease of the only worker with chats; resolves when the other worker has claimed them all. */
async function takeAway({ environment }: Scene): Promise<void> {
  const { dataSource } = environment.database;
  const [{ worker_id: stale }] = await dataSource.query<[{ worker_id: string }]>(
    "SELECT DISTINCT worker_id FROM chats WHERE worker_id IS NOT NULL",
  );
  await dataSource.query("DELETE FROM worker_leases WHERE worker_id = $1", [stale]);
  const left = () => dataSource.query<unknown[]>("SELECT 1 FROM chats WHERE worker_id = $1", [stale]);
  const taking = eventually(async () => expect(await left()).toEqual([]));
  await within(taking, () => "the other worker to take the chats");
}

/** Kills a tool's agent. Each chat has its own server and so its own agent; the orphaned command is killed here. */
export function playLostAgent(event: Event): Promise<Results> {
  return onScene(async (scene) => {
    const server = await scene.environment.start(scene.model.settings);
    const results: Results = new Map();
    for (const one of phasesOf(event)) {
      const cell = await act(event, await bringInto(one, scene, server.api));
      results.set(one, outcomeOf(cell));
      await Promise.allSettled(results.values());
      await killNoted(cell, "process");
      await processEnd(cell);
    }
    return results;
  });
}
