import { Column, Entity, PrimaryColumn } from "typeorm";
import { expect, test } from "vitest";
import {
  EncodedJson,
  int8AsNumber,
  jsonbText,
  Parameters,
  selectionOf,
  timestampAsMs,
  writtenColumn,
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

test("a property that is no column is a mistake that shows when the module is loaded", () => {
  expect(() => selectionOf(Sample, "s", ["notStored"])).toThrow("Sample.notStored is not a column.");
});
