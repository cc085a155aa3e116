/**
 * Columns of entities for hand-written SQL. Names, types and conversions come from the entities' decorators, so that a
 * column is described in one place only.
 */
import { getMetadataArgsStorage, type ValueTransformer } from "typeorm";
import { fromJsonb, toJsonb } from "./jsonb-text.js";

type EntityClass<Entity> = (abstract new () => Entity) & { prototype: Entity };
type PropertyOf<Entity> = keyof Entity & string;

type EntityColumn = { name: string; type: string; transformer: ValueTransformer | undefined };

/** By property, of the class and those that it extends. */
function columnsOf<Entity extends object>(entity: EntityClass<Entity>): ReadonlyMap<string, EntityColumn> {
  const known = columnsOfClass.get(entity);
  if (known) return known;
  const columns = new Map<string, EntityColumn>();
  for (const { target, propertyName, options } of getMetadataArgsStorage().columns) {
    if (typeof target !== "function" || !(entity.prototype instanceof target || entity === target)) continue;
    const { name = propertyName, type, enumName, array, transformer } = options;
    const scalar = type === "enum" ? enumName : type;
    if (typeof scalar !== "string" || Array.isArray(transformer)) {
      throw new Error(`${entity.name}.${propertyName} must name its type, and have one transformer at most.`);
    }
    columns.set(propertyName, { name, type: array ? `${scalar}[]` : scalar, transformer });
  }
  columnsOfClass.set(entity, columns);
  return columns;
}

const columnsOfClass = new WeakMap<object, ReadonlyMap<string, EntityColumn>>();

function columnOf<Entity extends object>(
  entity: EntityClass<Entity>,
  property: PropertyOf<Entity>,
): EntityColumn {
  const column = columnsOf(entity).get(property);
  if (!column) throw new Error(`${entity.name}.${property} is not a column.`);
  return column;
}

/** What pg returns for a selection: the entity's properties, before their conversion. */
export type Selected<Row> = { [Property in keyof Row]: unknown };

/** A list of columns for `SELECT` and `RETURNING`, and the reader of its rows. */
export type Selection<Row> = {
  /** The columns, each named like its property. */
  columns: string;
  /** Converts as the entity's transformers say; other columns of the row are left out. */
  read(row: Selected<Row>): Row;
  /** A reader whose result also has these properties, each computed from the row. */
  readWith<Computed extends object, DbRow extends Selected<Row>>(computed: {
    [Property in keyof Computed]: (row: DbRow) => Computed[Property];
  }): (row: DbRow) => Row & Computed;
};

/** `alias`: of the table in the statement; empty = the columns are not qualified. */
export function selectionOf<Entity extends object, const Property extends PropertyOf<Entity>>(
  entity: EntityClass<Entity>,
  alias: string,
  properties: readonly Property[],
): Selection<Pick<Entity, Property>> {
  const fields = properties.map((property) => ({ property, ...columnOf(entity, property) }));
  const prefix = alias === "" ? "" : `${alias}.`;
  const columns = fields.map(({ name, property }) =>
    name === property ? `${prefix}${name}` : `${prefix}${name} AS "${property}"`,
  );
  const readers = fields.map(({ property, transformer }): PropertyReader => {
    const read = (row: Record<string, unknown>) =>
      transformer ? (transformer.from(row[property]) as unknown) : row[property];
    return [property, read];
  });
  // Each property is read from its own column.
  return {
    columns: columns.join(", "),
    read: rowReader(readers) as Selection<Pick<Entity, Property>>["read"],
    readWith: (computed) =>
      rowReader([...readers, ...(Object.entries(computed) as PropertyReader[])]) as never,
  };
}

type PropertyReader = [property: string, read: (row: Record<string, unknown>) => unknown];

/**
 * Makes all objects of one reader alike for the engine, which reads them several times faster: an object that grows
 * property by property, or by a spread with properties after it, gets a layout of its own; `{ added, ...read }` does not.
 * A chat's history is walked in every turn.
 */
function rowReader(readers: readonly PropertyReader[]): (row: Record<string, unknown>) => unknown {
  const grown = Object.fromEntries(readers.map(([property]) => [property, null]));
  // A copy of a copy: the first copy of an object that has grown still has a layout of its own.
  const empty: Record<string, unknown> = { ...{ ...grown } };
  return (row) => {
    const read = { ...empty };
    for (const [property, readProperty] of readers) read[property] = readProperty(row);
    return read;
  };
}

/** A column in a statement that writes: `value` takes it from what is written. */
export type WrittenColumn<Source> = { name: string; type: string; value(source: Source): unknown };

/** Converts as the entity's transformer says; jsonb is encoded here, unless `value` gives its text. */
export function writtenColumn<Entity extends object, Property extends PropertyOf<Entity>, Source>(
  entity: EntityClass<Entity>,
  property: Property,
  value: (source: Source) => Entity[Property] | EncodedJson,
): WrittenColumn<Source> {
  const { name, type, transformer } = columnOf(entity, property);
  return {
    name,
    type,
    value(source) {
      const given = value(source);
      if (given === null || given === undefined) return null;
      if (given instanceof EncodedJson) return given.text;
      if (type === "jsonb") return toJsonb(given);
      return transformer ? (transformer.to(given) as unknown) : given;
    },
  };
}

/** Columns whose values the source has as properties of the same names. */
export function writtenColumns<Entity extends object, const Property extends PropertyOf<Entity>>(
  entity: EntityClass<Entity>,
  properties: readonly Property[],
): WrittenColumn<Pick<Entity, Property>>[] {
  return properties.map((property) =>
    writtenColumn(entity, property, (source: Pick<Entity, Property>) => source[property]),
  );
}

/** The text of a jsonb value that has been encoded already. */
export class EncodedJson {
  constructor(readonly text: string) {}
}

/** The parameters of one statement, numbered in the order in which they are added. */
export class Parameters<Source> {
  readonly #values: ((source: Source) => unknown)[] = [];

  /** Returns the parameter's text with its type, such as `$3::uuid`. */
  add({ type, value }: Pick<WrittenColumn<Source>, "type" | "value">): string {
    this.#values.push((source) => value(source));
    return `$${this.#values.length}::${type}`;
  }

  /** Adds one parameter per column; returns what follows the table in an `INSERT` of one row. */
  row(columns: readonly WrittenColumn<Source>[]): string {
    return `(${columns.map(({ name }) => name).join(", ")})
    VALUES (${columns.map((column) => this.add(column)).join(", ")})`;
  }

  /** Adds one parameter per column; returns the assignments of an `UPDATE`. */
  assignments(columns: readonly WrittenColumn<Source>[]): string {
    return columns.map((column) => `${column.name} = ${this.add(column)}`).join(", ");
  }

  /** The values in the order of their parameters. */
  valuesOf(source: Source): unknown[] {
    return this.#values.map((value) => value(source));
  }
}

/** int8 as a number: of counters that never come near 2^53. */
export const int8AsNumber: ValueTransformer = {
  from: (stored: string | null) => (stored === null ? null : Number(stored)),
  to: (value: number | null) => value,
};

/** int8 as a bigint: of amounts. */
export const int8AsBigint: ValueTransformer = {
  from: (stored: string | null) => (stored === null ? null : BigInt(stored)),
  to: (value: bigint | null) => value?.toString() ?? null,
};

/** timestamptz as milliseconds since the epoch. */
export const timestampAsMs: ValueTransformer = {
  from: (stored: Date | null) => stored?.getTime() ?? null,
  to: (value: number | null) => (value === null ? null : new Date(value)),
};

/** jsonb whose strings may hold U+0000. */
export const jsonbText: ValueTransformer = {
  from: (stored: unknown) => fromJsonb(stored),
  to: (value: unknown) => (value === undefined ? undefined : (JSON.parse(toJsonb(value)) as unknown)),
};
