// The MCP servers of turns: selection, number of reads, and visibility of changes.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { ServerCatalog } from "../../src/services/mcp/catalog.js";
import { MemoryBus } from "../../src/events/bus/memory-bus.js";
import { RedisBus } from "../../src/events/bus/redis-bus.js";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { Database } from "../../src/store/common/database.js";
import { updateMcpServer } from "../../src/store/mcp/mcp-servers.js";
import { ManualClock } from "../agent/manual-clock.js";
import { ChaosBus, seeded } from "../events/chaos-bus.js";
import { createTestDatabase, type TestDatabase } from "../support/database/database.js";
import { hasRedis, startRedis } from "../support/network/redis.js";
import { insertServer } from "../support/mcp/mcp-server-rows.js";
import { eventually } from "../support/eventually.js";

let testDatabase: TestDatabase;
let database: Database;
const clock = new ManualClock();
const bus = new MemoryBus(createLog("silent"));
let catalog: ServerCatalog;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = new Database(testDatabase.dataSource);
});
afterAll(() => testDatabase.drop());
beforeEach(async () => {
  await database.dataSource.query("DELETE FROM mcp_servers");
  catalog = new ServerCatalog({ database, clock, bus });
});

const slugs = async (selected: string[] = []) => (await catalog.ofTurn(selected)).map(({ slug }) => slug);

async function statementsOf(work: () => Promise<unknown>): Promise<number> {
  const before = database.counters.statements;
  await work();
  return database.counters.statements - before;
}

test("a turn has the enabled servers that are forced on or selected, by slug, and other ids are ignored", async () => {
  const off = await insertServer(database, { slug: "off" });
  const on = await insertServer(database, { slug: "on", availability: "default_on" });
  await insertServer(database, { slug: "forced", availability: "force_on" });
  const [disabled, disabledForced] = [
    await insertServer(database, { slug: "disabled", isEnabled: false }),
    await insertServer(database, { slug: "disabled-forced", isEnabled: false, availability: "force_on" }),
  ];
  await insertServer(database, { slug: "disabled-on", isEnabled: false, availability: "default_on" });
  const unknownId = "00000000-0000-4000-8000-000000000000";
  expect([
    await slugs(),
    await slugs([on.id, off.id, off.id]),
    await slugs([disabled.id, disabledForced.id, unknownId]),
    await catalog.preselectedIds(),
  ]).toEqual([["forced"], ["forced", "off", "on"], ["forced"], [on.id]]);
});

test("servers are read once in ten seconds, however many turns need them", async () => {
  const ask = () => Promise.all([catalog.ofTurn([]), catalog.ofTurn([]), catalog.preselectedIds()]);
  const counts = [await statementsOf(ask), await statementsOf(ask)];
  clock.advance(9_999);
  counts.push(await statementsOf(ask));
  clock.advance(1);
  counts.push(await statementsOf(ask));
  expect(counts).toEqual([1, 0, 0, 1]);
});

test("an announced change is visible at once, other announcements are ignored, and after closing none is received", async () => {
  await slugs();
  await insertServer(database, { slug: "forced", availability: "force_on" });
  bus.publishConfigChange("models");
  const seen = [await slugs()];
  bus.publishConfigChange("mcp-servers");
  seen.push(await slugs());
  catalog.close();
  await database.dataSource.query("DELETE FROM mcp_servers");
  bus.publishConfigChange("mcp-servers");
  seen.push(await slugs());
  expect(seen).toEqual([[], ["forced"], ["forced"]]);
});

test("a caller after a change does not get a read that started before it", async () => {
  const early = catalog.ofTurn([]);
  await insertServer(database, { slug: "forced", availability: "force_on" });
  bus.publishConfigChange("mcp-servers");
  const late = await slugs();
  await early;
  expect([late, await slugs()]).toEqual([["forced"], ["forced"]]);
});

test.each([1, 2, 3])(
  "lost, duplicated and late announcements are corrected within ten seconds (seed %i)",
  async (seed) => {
    const chaos = new ChaosBus(bus, seeded(seed));
    catalog = new ServerCatalog({ database, clock, bus: chaos });
    const server = await insertServer(database, { slug: "forced", availability: "force_on" });
    for (let round = 0; round < 30; round += 1) {
      const displayName = `Round ${round}`;
      await updateMcpServer(database, { ...server, displayName }, null);
      chaos.publishConfigChange("mcp-servers");
      await catalog.ofTurn([]);
      clock.advance(10_000);
      expect((await catalog.ofTurn([])).map((found) => found.displayName)).toEqual([displayName]);
    }
  },
);

test.skipIf(!hasRedis)(
  "every replica is notified of a change through Redis, its own replica at once",
  async () => {
    const redis = await startRedis();
    const replicas = await Promise.all(
      [1, 2].map(async () => {
        const own = await RedisBus.connect({ url: redis.url, log: createLog("silent"), clock: systemClock });
        return { bus: own, catalog: new ServerCatalog({ database, clock, bus: own }) };
      }),
    );
    const [here, there] = replicas as [(typeof replicas)[0], (typeof replicas)[0]];
    const seenBy = async ({ catalog: theirs }: typeof here) =>
      (await theirs.ofTurn([])).map(({ slug }) => slug);
    expect([await seenBy(here), await seenBy(there)]).toEqual([[], []]);
    await insertServer(database, { slug: "forced", availability: "force_on" });
    here.bus.publishConfigChange("mcp-servers");
    expect(await seenBy(here)).toEqual(["forced"]);
    // The clock stands still: only the announcement can have caused it.
    await eventually(async () => expect(await seenBy(there)).toEqual(["forced"]));
    await Promise.all(replicas.map(({ bus: own }) => own.close()));
    await redis.stop();
  },
);

test("a failing read rejects its callers, and the next one tries again", async () => {
  let isBroken = true;
  const flaky = {
    query: ((statement, values) =>
      isBroken
        ? Promise.reject(new Error("no connection"))
        : database.query(statement, values)) as Database["query"],
  };
  catalog = new ServerCatalog({ database: flaky, clock, bus });
  await expect(catalog.ofTurn([])).rejects.toThrow("no connection");
  isBroken = false;
  expect(await slugs()).toEqual([]);
});
