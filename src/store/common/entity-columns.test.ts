import { setFlagsFromString } from "node:v8";
import { runInThisContext } from "node:vm";
import { Column, Entity, PrimaryColumn } from "typeorm";
import { expect, test } from "vitest";
import {
  EncodedJson,
  int8AsBigint,
  int8AsNumber,
  jsonbText,
  Parameters,
  selectionOf,
  timestampAsMs,
  writtenColumn,
  writtenColumns,
} from "./entity-columns.js";

abstract class Timed {
  @Column("timestamptz", { name: "created_at", transformer: timestampAsMs })
  createdAt!: number | null;
}

@Entity("columns_test")
class Sample extends Timed {
  @PrimaryColumn("uuid", { name: "id" })
  id!: string;

  @Column("bigint", { name: "own_version", transformer: int8AsNumber })
  version!: number;

  @Column("enum", { name: "kinds", enum: ["a", "b"], enumName: "sample_kind", array: true })
  kinds!: string[];

  @Column("jsonb", { name: "facts", transformer: jsonbText })
  facts!: object | null;

  notStored!: string;
}

test("a selection names columns like their properties, converts them, and leaves out what it did not ask for", () => {
  const { columns, read } = selectionOf(Sample, "s", ["id", "version", "facts", "createdAt"]);
  expect(columns).toBe('s.id, s.own_version AS "version", s.facts, s.created_at AS "createdAt"');
  const row = {
    id: "1",
    version: "7",
    facts: { text: "\uE000\uE001" },
    createdAt: new Date(5),
    position: "3",
  };
  expect(read(row)).toEqual({ id: "1", version: 7, facts: { text: "\u0000" }, createdAt: 5 });
});

/** Whether the engine keeps both objects in one layout, which makes reading them fast. */
function haveSameLayout(a: object, b: object): boolean {
  setFlagsFromString("--allow-natives-syntax");
  const compare = runInThisContext("(a, b) => %HaveSameMap(a, b)") as (a: object, b: object) => boolean;
  const isSame = compare(a, b);
  setFlagsFromString("--no-allow-natives-syntax");
  return isSame;
}

test("objects of one reader share a layout, also when they are spread last", () => {
  const { read, readWith } = selectionOf(Sample, "s", ["id", "version", "facts", "createdAt"]);
  const readNamed = readWith({ name: ({ id }: { id: unknown }) => `named ${String(id)}` });
  const rows = Array.from({ length: 20 }, (_, index) => ({
    ...{ id: String(index), version: String(index) },
    ...{ facts: index % 2 ? null : {}, createdAt: index % 3 ? null : new Date(index) },
  }));
  for (const reader of [
    read,
    readNamed,
    (row: (typeof rows)[number]) => ({ isNew: true, rank: 1, ...read(row) }),
  ]) {
    const [first, ...others] = rows.map(reader).slice(10);
    expect(others.every((other) => first && haveSameLayout(first, other))).toBe(true);
  }
});

test("parameters are numbered and typed by their columns, and values follow them", () => {
  type Source = { at: number | null; version: number; kinds: string[]; facts: object | null };
  const parameters = new Parameters<Source>();
  const texts = [
    parameters.add(writtenColumn(Sample, "createdAt", ({ at }: Source) => at)),
    parameters.add(writtenColumn(Sample, "version", ({ version }: Source) => version)),
    parameters.add(writtenColumn(Sample, "kinds", ({ kinds }: Source) => kinds)),
    parameters.add(writtenColumn(Sample, "facts", ({ facts }: Source) => facts)),
    parameters.add(writtenColumn(Sample, "facts", () => new EncodedJson("[1]"))),
  ];
  expect(texts).toEqual(["$1::timestamptz", "$2::bigint", "$3::sample_kind[]", "$4::jsonb", "$5::jsonb"]);
  const facts = { text: "\u0000" };
  expect(parameters.valuesOf({ at: 5, version: 7, kinds: ["a"], facts })).toEqual([
    ...[new Date(5), 7, ["a"], '{"text":"\uE000\uE001"}', "[1]"],
  ]);
  expect(parameters.valuesOf({ at: null, version: 7, kinds: [], facts: null })).toEqual([
    ...[null, 7, [], null, "[1]"],
  ]);
});

test("columns of the same names as the source's properties are written as they are", () => {
  const columns = writtenColumns(Sample, ["id", "version"]);
  const parameters = new Parameters<Pick<Sample, "id" | "version">>();
  expect(parameters.row(columns)).toMatch(/^\(id, own_version\)\s+VALUES \(\$1::uuid, \$2::bigint\)$/);
  expect(parameters.valuesOf({ id: "1", version: 7 })).toEqual(["1", 7]);
});

test.each([null, 9_223_372_036_854_775_807n])("%s is an int8", (value) => {
  const stored: unknown = int8AsBigint.to(value);
  expect(stored).toBe(value === null ? null : "9223372036854775807");
  expect(int8AsBigint.from(stored)).toBe(value);
});

test("a property that is no column is a mistake that shows when the module is loaded", () => {
  expect(() => selectionOf(Sample, "s", ["notStored"])).toThrow("Sample.notStored is not a column.");
});
