// How cells are played: all phases of one event side by side, since a server that dies is dear.
import type { ApiClient } from "../../../support/clients/api-client.js";
import { createTestEnvironment, type Settings } from "../../../support/parley.js";
import { startStagedModel } from "../../../support/models/staged-model.js";
import { bringInto, moveTo, outcomeOf, processEnd } from "./cell.js";
import { CRASH, killNoted, LOST_LEASE, SHUTDOWN, type Event } from "./events.js";
import { phase, PHASES } from "./phases.js";
import { within } from "./within.js";
import type { Cell, Outcome, Phase, Scene } from "./words.js";

/** What each phase came to, or why it never did. */
export type Results = Map<Phase, Promise<Outcome>>;

/** Of a server that is to die. */
const SHORT_LEASE = { PARLEY_LEASE_MS: "2000", PARLEY_HEARTBEAT_MS: "500" };
/** Of one that looks for the dead often, and must not be taken for one itself on a slow machine. */
const WATCHFUL = { PARLEY_LEASE_MS: "120000", PARLEY_HEARTBEAT_MS: "200" };

/** Of one that hears of nothing by itself: neither that it is forgotten, nor of anybody else. */
const DEAF = { PARLEY_LEASE_MS: "3600000", PARLEY_HEARTBEAT_MS: "1200000" };

/** Opens a place with a model of its own, plays, and takes everything away. */
export async function onScene<T>(play: (scene: Scene) => Promise<T>): Promise<T> {
  const [environment, model] = await Promise.all([createTestEnvironment(), startStagedModel()]);
  try {
    let apiServer: Promise<ApiClient> | undefined;
    const open = async () => (await environment.start({ ...model.settings, PARLEY_ROLE: "api" })).api;
    return await play({ environment, model, apiServer: () => (apiServer ??= open()) });
  } finally {
    await environment.remove();
    await model.close();
  }
}

/** The phases that an event meets. */
export function phasesOf(event: Event): Phase[] {
  return PHASES.filter((candidate) => !("notHere" in event.expect(candidate)));
}

/** A person's or a vendor's doing, in every phase that needs no scene of its own, at one server. */
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

/** People's doings to chats that nobody has begun, because another one takes the only place. */
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

/** Doings to chats whose interrupt the server that runs them has not heard of, since it was asked of another. */
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

// ── servers that go ──────────────────────────────────────────────────────────

/** As many as one server runs at once, so that the last chat waits; one that is interrupted has given up its place. */
function crowded(event: Event): Settings {
  const count = phasesOf(event).filter(({ isUnowned, afterServer }) => !isUnowned && !afterServer).length;
  return { PARLEY_MAX_RUNNING_CHATS: String(count), PARLEY_ACQUIRE_BATCH_SIZE: "50" };
}

/** One chat in each phase; the one that must wait comes last, when every place is taken. */
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

/** Where the client is waited for, it answers whoever is there now. */
async function answerClient(cell: Cell): Promise<Cell> {
  if (cell.phase.name !== "requires action") return cell;
  const results = [{ toolCallId: "call_where", result: "here" }];
  await cell.api.change("submitToolResults", { chatId: cell.chatId, results }, "chat { id }");
  return cell;
}

/** The server is closed in an orderly way while another one is there. */
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

/** The server's process is killed; another one starts and takes over when the lease has run out. */
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

/** The server lives and its models go on speaking, but its chats are another's: its late words are for nobody. */
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
    // Its commands are left for whoever runs the step again, and find their end with its own agent.
    await stale.close();
    await Promise.all(cells.map(processEnd));
    return results;
  });
}

/** The only holder's lease is deleted; resolves when the other worker has all its chats. */
async function takeAway({ environment }: Scene): Promise<void> {
  const { dataSource } = environment.database;
  const [{ worker_id: stale }] = await dataSource.query<[{ worker_id: string }]>(
    "SELECT DISTINCT worker_id FROM chats WHERE worker_id IS NOT NULL",
  );
  await dataSource.query("DELETE FROM worker_leases WHERE worker_id = $1", [stale]);
  const left = () => dataSource.query<unknown[]>("SELECT 1 FROM chats WHERE worker_id = $1", [stale]);
  const taking = async () => {
    while ((await left()).length > 0);
  };
  await within(taking(), () => "the other worker to take the chats");
}

/** A tool's agent dies: the chat has a server, and so an agent, to itself. Nobody is left to end its command. */
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
