/** Columns whose texts the secret box sealed. */
import { Column } from "typeorm";
import type { SecretColumnOf, SecretTable } from "./secret-columns.js";

/** Columns that entities have marked, as `table.column`. */
export const sealedColumns = new Set<string>();

/** A text column that is in the list of secret columns; anything else does not compile. */
export function SealedColumn<Table extends SecretTable>(
  table: Table,
  column: SecretColumnOf<Table>,
  options: { nullable?: boolean } = {},
): PropertyDecorator {
  sealedColumns.add(`${table}.${column}`);
  return Column("text", { name: column, ...options });
}
