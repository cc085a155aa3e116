// Reconciling workspaces with their desired state, although replicas die. Real database, a scripted provisioner.
import { afterEach, beforeEach, expect, test } from "vitest";
import { WorkspaceLifecycle } from "../../src/services/workspaces/workspace-lifecycle.js";
import { createWorkspaceCommands } from "../../src/commands/workspaces/workspace-commands.js";
import type { Viewer } from "../../src/domain/users/viewer.js";
import { MemoryBus } from "../../src/events/bus/memory-bus.js";
import { createLog } from "../../src/lib/log.js";
import { Database } from "../../src/store/common/database.js";
import { claimWork } from "../../src/store/workspaces/managed-workspaces.js";
import { readWorkspace, touchWorkspaces } from "../../src/store/workspaces/workspaces.js";
import { ProvisionerError, type Provisioner } from "../../src/workspaces/provisioners/provisioner.js";
import { createTestDatabase, type TestDatabase } from "../support/database/database.js";

import { insertChat, insertViewer } from "../support/database/rows.js";
import { ShiftingClock } from "../support/shifting-clock.js";
import { insertSomeTemplate } from "../support/database/workspace-rows.js";
import { eventually } from "../support/eventually.js";

const HOUR_MS = 3_600_000;

let own: TestDatabase;
let db: Database;
let owner: Viewer;
let clock: ShiftingClock;
let bus: MemoryBus;
let lifecycles: WorkspaceLifecycle[];
beforeEach(async () => {
  own = await createTestDatabase();
  db = new Database(own.dataSource);
  owner = await insertViewer(db);
  clock = new ShiftingClock();
  bus = new MemoryBus(createLog("silent"));
  lifecycles = [];
});
afterEach(async () => {
  await Promise.all(lifecycles.map((lifecycle) => lifecycle.close()));
  await own.drop();
});

/** A provisioner that succeeds at once and records its calls; `script` runs before each. */
function scripted(script: Partial<Provisioner> = {}): { provisioner: Provisioner; asked: string[] } {
  const asked: string[] = [];
  const plain: Provisioner = {
    create: () => Promise.resolve(),
    start: () => Promise.resolve("ready"),
    stop: () => Promise.resolve(),
    remove: () => Promise.resolve(),
    status: () => Promise.resolve({ kind: "running" }),
  };
  const provisioner = new Proxy(
    { ...plain, ...script },
    {
      get(target, name: keyof Provisioner) {
        asked.push(name);
        return target[name];
      },
    },
  );
  return { provisioner, asked };
}

/** One replica's. */
function live(provisioner: Provisioner, deploymentTtlMs: number | null = null): WorkspaceLifecycle {
  const all = { local: provisioner, external: provisioner, docker: provisioner, kubernetes: provisioner };
  const lifecycle = new WorkspaceLifecycle(
    {
      ...{ database: db, bus, provisioners: all, clock, log: createLog("silent") },
      local: { startedIds: [], stopAgent: () => Promise.resolve() },
      deploymentTtlMs: () => Promise.resolve(deploymentTtlMs),
      onLeft: () => undefined,
    },
    true,
  );
  lifecycles.push(lifecycle);
  lifecycle.start();
  return lifecycle;
}

const commands = () =>
  createWorkspaceCommands({
    ...{ database: db, clock, validateSpec: () => [] },
    applyMcpPermissions: () => undefined,
    announceWorkspaces: () => bus.publishConfigChange("workspaces"),
  });

async function makeOne(
  overrides: Parameters<typeof insertSomeTemplate>[1] = {},
  more: object = {},
): Promise<string> {
  const { id: templateId } = await insertSomeTemplate(db, overrides);
  const result = await commands().createWorkspace(owner, { templateId, parameters: [], ...more });
  if (!result.ok) throw new Error(result.refusal.message);
  return result.workspaceId;
}

const statusOf = async (id: string) => {
  const found = await readWorkspace(db, id);
  return found && [found.status, found.failure];
};
const untilStatus = (id: string, expected: unknown) =>
  eventually(async () => expect(await statusOf(id)).toEqual(expected));

test("a workspace is created, stopped, started and deleted, each by one call of its provisioner", async () => {
  const { provisioner, asked } = scripted();
  // Two replicas are awake, and one executes it.
  for (let replicas = 0; replicas < 2; replicas++) live(provisioner);
  const id = await makeOne();
  await untilStatus(id, ["running", null]);
  for (const [action, expected] of [
    ["stop", ["stopped", null]],
    ["start", ["running", null]],
    ["delete", null],
  ] as const) {
    expect(await commands().setDesiredState(owner, { workspaceId: id, action })).toEqual({
      ok: true,
      workspaceId: id,
    });
    await untilStatus(id, expected);
  }
  expect(asked).toEqual(["create", "start", "stop", "create", "start", "remove"]);
});

test("a failure is retried, and a lasting one is shown with its reason until the next start", async () => {
  const failures = [
    new ProvisionerError("The engine is away.", { isPermanent: false }),
    new ProvisionerError("There is no such image.", { isPermanent: true }),
  ];
  const { provisioner, asked } = scripted({
    start: () => {
      const failure = failures.shift();
      return failure ? Promise.reject(failure) : Promise.resolve("ready");
    },
  });
  live(provisioner);
  const id = await makeOne();
  await eventually(() => expect(asked).toContain("start"));
  await eventually(async () => {
    clock.shift(2_000);
    expect(await statusOf(id)).toEqual(["failed", "There is no such image."]);
  });
  await commands().setDesiredState(owner, { workspaceId: id, action: "start" });
  await untilStatus(id, ["running", null]);
});

test("another replica takes over a dead one's step when its claim has expired", async () => {
  const id = await makeOne();
  const claim = { claim: crypto.randomUUID(), now: clock.now(), leaseMs: 30_000, limit: 10 };
  expect((await claimWork(db, claim)).map(({ workspace }) => workspace.id)).toEqual([id]);
  const { provisioner, asked } = scripted();
  live(provisioner);
  clock.shift(20_000);
  await eventually(async () => expect(await claimWork(db, { ...claim, now: clock.now() })).toEqual([]));
  expect([asked, await statusOf(id)]).toEqual([[], ["creating", null]]);
  clock.shift(11_000);
  await untilStatus(id, ["running", null]);
});

test("stopping a workspace that is starting waits for the end of that step", async () => {
  let release = () => {};
  const gate = new Promise<void>((resolve) => (release = resolve));
  const { provisioner, asked } = scripted({ start: () => gate.then(() => "ready" as const) });
  live(provisioner);
  live(provisioner);
  const id = await makeOne();
  await eventually(() => expect(asked).toContain("start"));
  await commands().setDesiredState(owner, { workspaceId: id, action: "stop" });
  expect([asked, await statusOf(id)]).toEqual([
    ["create", "start"],
    ["stopping", null],
  ]);
  release();
  await untilStatus(id, ["stopped", null]);
  expect(asked).toEqual(["create", "start", "stop"]);
});

test("an idle workspace is stopped; its use delays that, and a running turn prevents it", async () => {
  const { provisioner } = scripted();
  live(provisioner, 2 * HOUR_MS);
  const overridden = await makeOne({ defaultTtlMs: HOUR_MS });
  const fixed = await makeOne({ defaultTtlMs: HOUR_MS, allowTtlOverride: false });
  const busy = await makeOne({ defaultTtlMs: HOUR_MS, allowTtlOverride: false });
  const chatId = await insertChat(db, { ownerId: owner.userId, workspaceId: busy });
  await own.dataSource.query(
    "UPDATE chats SET status = 'running', worker_id = gen_random_uuid(), runner_id = gen_random_uuid() WHERE id = $1",
    [chatId],
  );
  const all = [overridden, fixed, busy];
  const statuses = () => Promise.all(all.map(async (id) => (await readWorkspace(db, id))?.status));
  for (const id of all) await untilStatus(id, ["running", null]);
  clock.shift(HOUR_MS - 60_000);
  await touchWorkspaces(db, [fixed], clock.now());
  clock.shift(120_000);
  await eventually(async () => expect(await claimWork(db, NOTHING)).toEqual([]));
  expect(await statuses()).toEqual(["running", "running", "running"]);
  clock.shift(HOUR_MS);
  await untilStatus(fixed, ["stopped", null]);
  await untilStatus(overridden, ["stopped", null]);
  expect(await statuses()).toEqual(["stopped", "stopped", "running"]);
});
const NOTHING = { claim: crypto.randomUUID(), now: 0, leaseMs: 1, limit: 0 };

test("a repeated request finds the first one's workspace, and names are unique", async () => {
  const first = await makeOne({}, { creationKey: "chat:message:call" });
  const again = await makeOne({}, { creationKey: "chat:message:call" });
  const named = await makeOne({}, { name: "mine" });
  expect(again).toBe(first);
  await expect(makeOne({}, { name: "mine" })).rejects.toThrow("Another workspace has this name.");
  expect(named).not.toBe(first);
});
