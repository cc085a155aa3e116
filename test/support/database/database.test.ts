import { expect, test } from "vitest";
import { createDataSource } from "../../../src/store/data-source.js";
import { createTestDatabase } from "./database.js";
import { nameFor, startedAtOf } from "../test-server.js";

test("a test database is migrated, private, and gone when dropped", async () => {
  const [one, two] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  try {
    await one.dataSource.query("CREATE TABLE only_here (id int)");
    const query = "SELECT to_regclass('only_here') AS here, count(*)::int AS migrations FROM migrations";
    const [[first], [second]] = await Promise.all([one.dataSource.query(query), two.dataSource.query(query)]);
    expect({
      here: [first.here, second.here],
      migrated: first.migrations > 0 && second.migrations > 0,
    }).toEqual({
      here: ["only_here", null],
      migrated: true,
    });
  } finally {
    await Promise.all([one.drop(), two.drop()]);
  }
  await expect(createDataSource(one.options).initialize()).rejects.toThrow("does not exist");
});

test("the name of a test database tells when its run began", () => {
  expect([
    startedAtOf(`${nameFor(1_795_246_885_573, 42)}_template`),
    startedAtOf(`${nameFor(1_795_246_885_573, 42)}_99_1_2`),
    startedAtOf("parley"),
    startedAtOf("parley_test_"),
  ]).toEqual([1_795_246_885_573, 1_795_246_885_573, undefined, undefined]);
});
