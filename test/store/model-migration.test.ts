// Deployments from before models could be administered: what they have comes through the migration, there and back.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../support/database/database.js";

let place: TestDatabase;
beforeAll(async () => {
  place = await createTestDatabase();
});
afterAll(() => place.drop());

const NAME = "ModelAdministration1763700000012";

async function undoTo(name: string): Promise<void> {
  const last = async () => {
    const [row] = await place.dataSource.query<{ name: string }[]>(
      "SELECT name FROM migrations ORDER BY id DESC LIMIT 1",
    );
    return row?.name ?? "";
  };
  for (let undone = ""; undone !== name;) {
    undone = await last();
    if (undone === "") throw new Error(`${name} was never run.`);
    await place.dataSource.undoLastMigration();
  }
}

test("names become unique, the default becomes enabled, and deleted models are removed on the way back", async () => {
  const { dataSource } = place;
  await undoTo(NAME);
  await dataSource.query(`
    INSERT INTO model_providers (id, kind, display_name, created_at) VALUES
      ('00000000-0000-4000-8000-000000000001', 'openai', 'One', '2026-01-01'),
      ('00000000-0000-4000-8000-000000000002', 'openai', 'One', '2026-01-02');
    INSERT INTO model_configs (id, provider_id, model, display_name, is_default, is_enabled, created_at) VALUES
      ('00000000-0000-4000-8000-000000000003', '00000000-0000-4000-8000-000000000001', 'a', 'A', true, false, '2026-01-01'),
      ('00000000-0000-4000-8000-000000000004', '00000000-0000-4000-8000-000000000001', 'b', 'A', false, true, '2026-01-02')`);
  await dataSource.runMigrations();
  const shown = async () => ({
    providers: await dataSource.query<object[]>(
      "SELECT display_name AS name FROM model_providers ORDER BY id",
    ),
    models: await dataSource.query<object[]>(
      "SELECT display_name AS name, is_enabled AS enabled FROM model_configs ORDER BY id",
    ),
  });
  expect(await shown()).toEqual({
    providers: [{ name: "One" }, { name: "One (2)" }],
    models: [
      { name: "A", enabled: true },
      { name: "A (2)", enabled: true },
    ],
  });
  await dataSource.query("UPDATE model_configs SET deleted_at = now() WHERE NOT is_default");
  await dataSource.query("UPDATE model_providers SET deleted_at = now() WHERE display_name = 'One (2)'");
  await undoTo(NAME);
  expect(await shown()).toEqual({ providers: [{ name: "One" }], models: [{ name: "A", enabled: true }] });
});
