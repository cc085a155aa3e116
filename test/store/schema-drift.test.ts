// The hand-written migrations and the entity classes must describe the same tables.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestDatabase, createTestDatabase } from "../support/database/database.js";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** The statements that TypeORM would run to make the tables equal the entities. */
async function difference(): Promise<string[]> {
  const log = await database.dataSource.driver.createSchemaBuilder().log();
  return log.upQueries.map((statement) => statement.query);
}

test("a migrated database equals the entities", async () => {
  expect(await difference()).toEqual([]);
});

test("a column without an entity property is reported", async () => {
  await database.dataSource.query("ALTER TABLE users ADD COLUMN shoe_size integer");
  expect(await difference()).toEqual(['ALTER TABLE "users" DROP COLUMN "shoe_size"']);
});
