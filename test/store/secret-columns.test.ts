// Every column with sealed values is listed once, so that none is forgotten when keys are rotated.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sealedColumns } from "../../src/store/common/sealed-column.js";
import { SECRET_COLUMNS } from "../../src/store/common/secret-columns.js";
import { createTestDatabase, type TestDatabase } from "../support/database/database.js";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test("the columns that entities mark as sealed are those that are listed", () => {
  const listed = SECRET_COLUMNS.map(({ table, column }) => `${table}.${column}`);
  expect([...sealedColumns].sort()).toEqual([...listed].sort());
});

test("an entity that says that a column is sealed marks it so", () => {
  const folder = join(import.meta.dirname, "../../src/store");
  const unmarked = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".entity.ts"))
    .flatMap((name) => {
      const text = readFileSync(join(folder, name), "utf8");
      // A comment about sealing, and the decorator that follows it.
      const said = text.matchAll(/\/\*\*[^/]*?\bsealed\b[^/]*?\*\/\s*@(\w+)/gi);
      return [...said]
        .filter(([, decorator]) => decorator !== "SealedColumn")
        .map(([found]) => [name, found]);
    });
  expect(unmarked).toEqual([]);
});

test("a migration that says that a column is sealed has it in the list", () => {
  const folder = join(import.meta.dirname, "../../migrations");
  const listed = new Set<string>(SECRET_COLUMNS.map(({ column }) => column));
  const missing = readdirSync(folder).flatMap((name) => {
    const text = readFileSync(join(folder, name), "utf8");
    const said = text.matchAll(/-- Sealed\b[^\n]*\n\s*(?:ALTER TABLE \w+ )?(?:ADD COLUMN )?(\w+)/g);
    return [...said].flatMap(([, column = ""]) => (listed.has(column) ? [] : [`${name}: ${column}`]));
  });
  expect(missing).toEqual([]);
});

test("every listed column exists, and its rows have a uuid of their own", async () => {
  const found = await database.dataSource.query<{ name: string }[]>(`
    SELECT c.table_name || '.' || c.column_name || ' by ' || i.column_name AS name
    FROM information_schema.columns c
    JOIN information_schema.columns i ON i.table_name = c.table_name AND i.data_type = 'uuid' AND i.is_nullable = 'NO'
    WHERE c.data_type = 'text' AND EXISTS (
      SELECT 1 FROM pg_index x WHERE x.indrelid = c.table_name::regclass AND x.indisunique AND x.indnatts = 1
        AND x.indkey[0] = i.ordinal_position)
      AND c.table_schema = 'public' AND i.table_schema = 'public'`);
  const names = new Set(found.map(({ name }) => name));
  const listed = SECRET_COLUMNS.map(({ table, column, id }) => `${table}.${column} by ${id}`);
  expect(listed.filter((name) => !names.has(name))).toEqual([]);
});
