// Cache of the deployment's settings for turns and workers.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  UNSET_DEPLOYMENT,
  type DeploymentSettings as Settings,
} from "../../src/domain/common/deployment-rules.js";
import { DeploymentSettings } from "../../src/services/common/deployment-settings.js";
import { MemoryBus } from "../../src/events/bus/memory-bus.js";
import { createLog } from "../../src/lib/log.js";
import { Database } from "../../src/store/common/database.js";
import {
  readDeploymentSettings,
  writeDeploymentSettings,
} from "../../src/store/common/deployment-settings.js";
import { ManualClock } from "../agent/manual-clock.js";
import { createTestDatabase, type TestDatabase } from "../support/database/database.js";
import { insertViewer } from "../support/database/rows.js";

let own: TestDatabase;
let database: Database;
let adminId: string;
let clock: ManualClock;
let bus: MemoryBus;
let settings: DeploymentSettings;
beforeAll(async () => {
  own = await createTestDatabase();
  database = new Database(own.dataSource);
  adminId = (await insertViewer(database, "admin")).userId;
});
afterAll(() => own.drop());
beforeEach(async () => {
  await write({});
  clock = new ManualClock();
  bus = new MemoryBus(createLog("silent"));
  settings = new DeploymentSettings({ database, clock, bus, environment: { acquireBatchSize: 10 } });
});

const write = (change: Partial<Settings>) =>
  writeDeploymentSettings(database, { ...UNSET_DEPLOYMENT, ...change }, adminId);
const read = async () => [
  await settings.systemPrompt(),
  await settings.isDesktopEnabled(),
  await settings.acquireBatchSize(),
];

test("nothing is set at first, and the environment's values apply", async () => {
  expect(await read()).toEqual(["", false, 10]);
});

test("a change applies as soon as any replica announces it, and after ten seconds without an announcement", async () => {
  const seen = [await read()];
  await write({ systemPrompt: "Be kind.", isDesktopEnabled: true, acquireBatchSize: 3 });
  bus.publishConfigChange("models");
  seen.push(await read());
  bus.publishConfigChange("settings");
  seen.push(await read());
  await write({ systemPrompt: "Be brief." });
  clock.advance(9_999);
  seen.push(await read());
  clock.advance(1);
  seen.push(await read());
  expect(seen).toEqual([
    ["", false, 10],
    ["", false, 10],
    ["Be kind.", true, 3],
    ["Be kind.", true, 3],
    ["Be brief.", false, 10],
  ]);
});

test("the stored settings are read completely, with the user who changed them", async () => {
  const all = {
    systemPrompt: "a\u200Bb",
    workspaceTtlMs: 86_400_000,
    isDesktopEnabled: true,
    acquireBatchSize: 1,
  };
  await write(all);
  expect(await readDeploymentSettings(database)).toEqual({
    ...all,
    updatedAt: expect.any(Date) as Date,
    updatedBy: adminId,
  });
});
