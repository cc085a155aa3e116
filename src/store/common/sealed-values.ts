/** Key rotation of all sealed columns: counts values by key and rewraps them, without reading a plain value. */
import { type AuditActor, auditChanges } from "../../domain/users/audit.js";
import { recordAudit } from "../users/audit-log.js";
import type { Database, Queryable, Statement } from "./database.js";
import { SEALED_KEY_ID, type SecretBox, type SecretFailure } from "./secret-box.js";
import { SECRET_COLUMNS, type SecretColumn, type SecretColumnOf, columnReference } from "./secret-columns.js";

/** Rows that are locked together while they are rewrapped; some milliseconds. */
const BATCH_ROWS = 200;
/** Servers that still seal with an old key cause another round; after so many the operator has to act. */
const MAX_ROUNDS = 5;

/** The number of a column's values that a key has sealed; a null key id stands for values that are not sealed. */
export type KeyCount = { table: string; column: string; keyId: string | null; count: number };

/** Scans each table once. */
const COUNT: Statement = {
  name: "sealed-values.count",
  text: SECRET_COLUMNS.map(
    ({ table, column }) => `
      SELECT '${table}' AS "table", '${column}' AS "column", substring(${column} FROM '${SEALED_KEY_ID}') AS "keyId",
        count(*)::integer AS count
      FROM ${table} WHERE ${column} IS NOT NULL GROUP BY 3`,
  ).join(" UNION ALL "),
};

/** By column in the list's order, then by key. */
export async function countKeys(db: Queryable): Promise<KeyCount[]> {
  const order = SECRET_COLUMNS.map(({ table, column }) => `${table}.${column}`);
  const positionOf = ({ table, column }: KeyCount) => order.indexOf(`${table}.${column}`);
  const found = await db.query<KeyCount>(COUNT, []);
  return found.sort(
    (one, other) => positionOf(one) - positionOf(other) || ((one.keyId ?? "") < (other.keyId ?? "") ? -1 : 1),
  );
}

/** A value that could not be rewrapped, without the value itself. */
export type UnreadableValue = { table: string; column: string; rowId: string; failure: SecretFailure };

/** `isDone`: all readable values are sealed with the present key. */
export type Rotation = {
  columns: { table: string; column: string; rewrapped: number; current: number; unreadable: number }[];
  unreadable: UnreadableValue[];
  isDone: boolean;
};

/**
 * Rewraps all values with the box's first key while servers run: a value that changes meanwhile is read again in the next
 * round. Can be stopped and restarted at any time. The first change writes the audit log entry.
 */
export async function rotateSecrets(
  database: Database,
  box: SecretBox,
  actor: AuditActor,
): Promise<Rotation> {
  const rewrapped = new Map<SecretColumn, number>();
  for (let round = 1; ; round += 1) {
    const columns: Rotation["columns"] = [];
    const unreadable: UnreadableValue[] = [];
    let missed = 0;
    for (const listed of SECRET_COLUMNS) {
      const { table, column } = listed;
      const isFirst = () => [...rewrapped.values()].every((count) => count === 0);
      const pass = await rotateColumn(database, box, { listed, actor, isFirst });
      rewrapped.set(listed, (rewrapped.get(listed) ?? 0) + pass.rewrapped);
      missed += pass.rewrapped + pass.lost;
      unreadable.push(...pass.unreadable);
      const done = rewrapped.get(listed) ?? 0;
      // Values that earlier rounds rewrapped are current by now, and are counted once.
      const current = Math.max(0, pass.current + pass.rewrapped - done);
      columns.push({ table, column, rewrapped: done, current, unreadable: pass.unreadable.length });
    }
    // A round without changes has seen every row with the new key.
    if (missed === 0 || round === MAX_ROUNDS) return { columns, unreadable, isDone: missed === 0 };
  }
}

type Pass = { rewrapped: number; current: number; lost: number; unreadable: UnreadableValue[] };
type Work = { listed: SecretColumn; actor: AuditActor; isFirst: () => boolean };
type SealedRow = { id: string; sealed: string };

/** One pass over a column. `lost`: values that were changed by others meanwhile. */
async function rotateColumn(
  database: Database,
  box: SecretBox,
  { listed, actor, isFirst }: Work,
): Promise<Pass> {
  const pass: Pass = { rewrapped: 0, current: 0, lost: 0, unreadable: [] };
  let rows = await readBatch(database, listed, null);
  while (rows.length > 0) {
    const { renewed, current, unreadable } = rewrapAll(box, listed, rows);
    pass.current += current;
    pass.unreadable.push(...unreadable);
    if (renewed.length > 0) {
      const written = await database.transaction(async (transaction) => {
        const count = await replace(transaction, listed, renewed);
        if (count > 0 && pass.rewrapped === 0 && isFirst()) await recordRotation(transaction, box, actor);
        return count;
      });
      pass.rewrapped += written;
      pass.lost += renewed.length - written;
    }
    rows = await readBatch(database, listed, rows.at(-1)?.id ?? null);
  }
  return pass;
}

type Renewed = { id: string; before: string; after: string };

function rewrapAll(box: SecretBox, { table, column }: SecretColumn, rows: SealedRow[]) {
  const renewed: Renewed[] = [];
  const unreadable: UnreadableValue[] = [];
  for (const { id, sealed } of rows) {
    // The list pairs each table with its own columns; taken apart the compiler no longer sees that.
    const result = box.rewrap(sealed, columnReference(table, column as SecretColumnOf<typeof table>, id));
    if (result.kind === "rewrapped") renewed.push({ id, before: sealed, after: result.sealed });
    else if (result.kind !== "current") unreadable.push({ table, column, rowId: id, failure: result });
  }
  return { renewed, unreadable, current: rows.length - renewed.length - unreadable.length };
}

function recordRotation(transaction: Queryable, box: SecretBox, actor: AuditActor): Promise<void> {
  const changes = auditChanges(null, { keyId: box.keyIds[0] });
  const entry = { action: "secrets_rotated", targetId: null, targetName: null, changes } as const;
  return recordAudit(transaction, actor, entry);
}

/** By the index of the table's own id. */
function readBatch(db: Queryable, { table, column, id }: SecretColumn, after: string | null) {
  const statement = {
    name: `sealed-values.batch.${table}.${column}`,
    text: `SELECT ${id} AS id, ${column} AS sealed FROM ${table}
      WHERE ${column} IS NOT NULL AND ${id} > coalesce($1::uuid, '00000000-0000-0000-0000-000000000000')
      ORDER BY ${id} LIMIT ${BATCH_ROWS}`,
  };
  return db.query<SealedRow>(statement, [after]);
}

/** How many were still what they were. */
async function replace(db: Queryable, { table, column, id }: SecretColumn, rows: Renewed[]): Promise<number> {
  const statement = {
    name: `sealed-values.replace.${table}.${column}`,
    text: `UPDATE ${table} AS t SET ${column} = n.after
      FROM unnest($1::uuid[], $2::text[], $3::text[]) AS n (id, before, after)
      WHERE t.${id} = n.id AND t.${column} = n.before RETURNING t.${id}`,
  };
  const values = [rows.map((row) => row.id), rows.map((row) => row.before), rows.map((row) => row.after)];
  return (await db.query(statement, values)).length;
}
