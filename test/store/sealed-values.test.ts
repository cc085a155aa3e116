// Values that are rewrapped while others write them: the writer wins, and none of its values is lost.
import { randomBytes, randomUUID } from "node:crypto";
import type { PooledDataSource } from "../../src/store/pooled-data-source.js";
import { afterEach, beforeEach, expect, test } from "vitest";
import { OPERATOR } from "../../src/domain/users/audit.js";
import { createDataSource } from "../../src/store/data-source.js";
import { Database } from "../../src/store/common/database.js";
import { rotateSecrets } from "../../src/store/common/sealed-values.js";
import { SecretBox } from "../../src/store/common/secret-box.js";
import { columnReference } from "../../src/store/common/secret-columns.js";
import { type TestDatabase, createTestDatabase } from "../support/database/database.js";
import { insertViewer } from "../support/database/rows.js";
import { eventually } from "../support/eventually.js";

const old = { id: "old", bytes: randomBytes(32) };
const fresh = { id: "fresh", bytes: randomBytes(32) };
const oldBox = new SecretBox([old, fresh]);
const freshBox = new SecretBox([fresh, old]);

let own: TestDatabase;
let database: Database;
/** A concurrent writer. */
let writer: PooledDataSource;
beforeEach(async () => {
  own = await createTestDatabase();
  database = new Database(own.dataSource);
  writer = createDataSource(own.options);
  await writer.initialize();
});
afterEach(async () => {
  await writer.destroy();
  await own.drop();
});

const placeOf = (id: string) => columnReference("git_connections", "token", id);

/** A git token with the old key; its row's id. */
async function insertToken(userId: string, host: string): Promise<string> {
  const id = randomUUID();
  const values = [id, userId, host, oldBox.seal(`first of ${host}`, placeOf(id))];
  const text = "INSERT INTO git_connections (id, user_id, host, token) VALUES ($1, $2, $3, $4)";
  await own.dataSource.query(text, values);
  return id;
}

async function storedToken(id: string): Promise<string | undefined> {
  const rows = await own.dataSource.query<{ token: string }[]>(
    "SELECT token FROM git_connections WHERE id = $1",
    [id],
  );
  return rows[0]?.token;
}

/** One statement waits until another's transaction is over. */
async function untilBlocked(): Promise<void> {
  const text = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
    AND query LIKE 'UPDATE git_connections AS t%'`;
  const look = async () => expect(await writer.query(text)).toHaveLength(1);
  await eventually(look);
}

/**
 * A write that is not committed yet when the rotation has read the value, and is when the rotation wants to write:
 * the rotation's statement waits for the row until then.
 */
async function rotateAgainst(text: string, values: unknown[]) {
  const runner = writer.createQueryRunner();
  try {
    await runner.startTransaction();
    await runner.query(text, values);
    const rotation = rotateSecrets(database, freshBox, OPERATOR);
    await untilBlocked();
    await runner.commitTransaction();
    return await rotation;
  } finally {
    await runner.release();
  }
}

const UPDATE = "UPDATE git_connections SET token = $2 WHERE id = $1";
const open = (sealed: string | undefined, id: string) =>
  new SecretBox([fresh]).open(sealed ?? "", placeOf(id));

test.each([
  ["still seals with the old key: theirs is rewrapped", oldBox, { rewrapped: 2, current: 0 }],
  ["seals with the new key already: theirs is left as it is", freshBox, { rewrapped: 1, current: 1 }],
])("a writer wins who %s", async (_what, box, counts) => {
  const { userId } = await insertViewer(database);
  const [written, other] = [
    await insertToken(userId, "one.example"),
    await insertToken(userId, "two.example"),
  ];
  const theirs = box.seal("second of one.example", placeOf(written));
  const rotation = await rotateAgainst(UPDATE, [written, theirs]);
  expect(rotation).toMatchObject({ isDone: true, unreadable: [] });
  expect(rotation.columns[0]).toEqual({
    table: "git_connections",
    column: "token",
    unreadable: 0,
    ...counts,
  });
  expect(open(await storedToken(written), written)).toEqual({
    kind: "opened",
    text: "second of one.example",
  });
  expect(open(await storedToken(other), other)).toEqual({ kind: "opened", text: "first of two.example" });
  if (counts.current === 1) expect(await storedToken(written)).toBe(theirs);
});

test("a writer that removes the value wins", async () => {
  const { userId } = await insertViewer(database);
  const [gone, other] = [await insertToken(userId, "one.example"), await insertToken(userId, "two.example")];
  const rotation = await rotateAgainst("DELETE FROM git_connections WHERE id = $1", [gone]);
  expect(rotation).toMatchObject({ isDone: true, unreadable: [] });
  expect(rotation.columns[0]).toMatchObject({ rewrapped: 1, current: 0 });
  expect(await storedToken(gone)).toBeUndefined();
  expect(open(await storedToken(other), other)).toMatchObject({ kind: "opened" });
});

test("a server that keeps sealing with the old key is reported, not waited for", async () => {
  const { userId } = await insertViewer(database);
  const id = await insertToken(userId, "busy.example");
  // Whatever is written is at once replaced by what such a server would have written.
  const busy = oldBox.seal("busy", placeOf(id));
  await own.dataSource.query(`
    CREATE FUNCTION seal_again() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN NEW.token := '${busy}'; RETURN NEW; END $$`);
  await own.dataSource.query(
    "CREATE TRIGGER again BEFORE UPDATE ON git_connections FOR EACH ROW EXECUTE FUNCTION seal_again()",
  );
  expect(await rotateSecrets(database, freshBox, OPERATOR)).toMatchObject({ isDone: false, unreadable: [] });
});
