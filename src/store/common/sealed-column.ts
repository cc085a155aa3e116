/** Decorator of columns whose texts the secret box seals. */
import { Column } from "typeorm";
import type { SecretColumnOf, SecretTable } from "./secret-columns.js";

/** All decorated columns, as `table.column`. */
export const sealedColumns = new Set<string>();

/** A text column; it must be in `SECRET_COLUMNS`, or it does not compile. */
export function SealedColumn<Table extends SecretTable>(
  table: Table,
  column: SecretColumnOf<Table>,
  options: { nullable?: boolean } = {},
): PropertyDecorator {
  sealedColumns.add(`${table}.${column}`);
  return Column("text", { name: column, ...options });
}
