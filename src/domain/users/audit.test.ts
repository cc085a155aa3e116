// Recorded changes of the audit log.
import { describe, expect, test } from "vitest";
import { auditChanges, MAX_AUDIT_VALUE_CHARACTERS, readAuditChanges } from "./audit.js";

describe("the changes of a record", () => {
  test.each([
    ["a field that became different", { a: 1, b: 2 }, { a: 1, b: 3 }, { b: { before: 2, after: 3 } }],
    [
      "everything of a new record that is something",
      null,
      { a: "x", b: null },
      { a: { before: null, after: "x" } },
    ],
    ["everything of a record that is gone", { a: ["x"] }, null, { a: { before: ["x"], after: null } }],
    ["nothing when all is as it was", { a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, {}],
    ["a field that is absent as one that is null", { a: 1 }, {}, { a: { before: 1, after: null } }],
    [
      "instants as they are written",
      { at: new Date(0) },
      {},
      { at: { before: "1970-01-01T00:00:00.000Z", after: null } },
    ],
  ])("record %s", (_what, before, after, changes) => {
    expect(auditChanges(before, after)).toEqual(changes);
  });

  test.each([
    ["that was given", null, { key: "hunter2" }, { key: { set: true } }],
    ["that was replaced", { key: "hunter1" }, { key: "hunter2" }, { key: { set: true } }],
    ["that was taken away", { key: "hunter2" }, { key: null }, { key: { cleared: true } }],
    ["that stayed", { key: "hunter2" }, { key: "hunter2" }, {}],
    ["with structure", null, { key: { Authorization: "hunter2" } }, { key: { set: true } }],
  ])("record of a secret %s no more than that", (_what, before, after, changes) => {
    expect(auditChanges(before, after, ["key"])).toEqual(changes);
  });

  test("hide sealed values even in fields that are not named as secret", () => {
    expect(auditChanges({ note: "v1.2026.abc_-.def" }, { note: "words" })).toEqual({ note: { set: true } });
    expect(auditChanges({}, { note: "v1.2026.abc_-.def" })).toEqual({ note: { set: true } });
  });

  test("keep the beginning of long values only, and not more fields than records have", () => {
    const { text, list } = auditChanges(null, {
      text: "x".repeat(10_000_000),
      list: Array.from({ length: 10_000 }, () => "y"),
    });
    const sizes = [text, list].map((change) => JSON.stringify(change).length);
    expect(sizes.every((size) => size < 2.5 * MAX_AUDIT_VALUE_CHARACTERS)).toBe(true);
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`f${index}`, index]));
    expect(Object.keys(auditChanges(null, many))).toHaveLength(100);
  });
});

test("stored changes are read back by field, with secrets as set or not", () => {
  const changes = auditChanges({ url: "a", old: "s" }, { url: "b", key: "s" }, ["key", "old"]);
  expect(readAuditChanges(changes)).toEqual([
    { field: "key", before: null, after: null, isSecret: true, isSet: true },
    { field: "old", before: null, after: null, isSecret: true, isSet: false },
    { field: "url", before: "a", after: "b", isSecret: false, isSet: null },
  ]);
});
