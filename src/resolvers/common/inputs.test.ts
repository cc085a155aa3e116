import { expect, test } from "vitest";
import {
  readClientTools,
  readIdempotencyKey,
  readLabels,
  readParts,
  readTitle,
  readToolResults,
} from "./inputs.js";
import type { UserErrorObject } from "./user-errors.js";

/** The parsed value of an input, or the paths of its problems. */
function reading<T>(read: (problems: UserErrorObject[]) => T): { value: T; problems: string[] } {
  const problems: UserErrorObject[] = [];
  const value = read(problems);
  return { value, problems: problems.map((problem) => `${problem.code} ${problem.path?.join(".")}`) };
}

const reference = { path: "a.ts", startLine: 2, endLine: 3, content: "x\ny" };

test("parts are stored as they were written", () => {
  const inputs = [{ text: { text: "  hello\n" } }, { fileReference: reference }];
  expect(reading((problems) => readParts(inputs, problems))).toEqual({
    value: [
      { type: "text", text: "  hello\n" },
      { type: "file-reference", ...reference },
    ],
    problems: [],
  });
});

test("every fault of a message is named with its place", () => {
  const inputs = [
    { text: { text: " \n\t" } },
    { fileReference: { path: " ", startLine: 0, endLine: -1, content: "" } },
  ];
  expect(reading((problems) => readParts(inputs, problems)).problems).toEqual([
    "INVALID parts.0.text.text",
    "INVALID parts.1.fileReference.path",
    "INVALID parts.1.fileReference.startLine",
    "INVALID parts.1.fileReference.endLine",
  ]);
});

test.each([
  ["nothing", [], ["INVALID parts"]],
  ["too many parts", Array.from({ length: 101 }, () => ({ text: { text: "a" } })), ["INVALID parts"]],
  ["a million characters", [{ text: { text: "a".repeat(1_000_000) } }], []],
  ["one more", [{ text: { text: "a".repeat(1_000_000) } }, { text: { text: "b" } }], ["INVALID parts"]],
])("a message of %s is judged as a whole", (_name, inputs, problems) => {
  expect(reading((noted) => readParts(inputs, noted)).problems).toEqual(problems);
});

test("a title is trimmed, neither blank nor too long, and may be absent", () => {
  const titles = [" My\u0000 chat ", "  ", "a".repeat(201), null, undefined];
  expect(titles.map((title) => reading((problems) => readTitle(title, problems)))).toEqual([
    { value: "My chat", problems: [] },
    { value: "", problems: ["INVALID title"] },
    { value: "a".repeat(201), problems: ["INVALID title"] },
    { value: undefined, problems: [] },
    { value: undefined, problems: [] },
  ]);
});

test("labels are short, named, and named once", () => {
  const inputs = [
    { key: "team", value: "" },
    { key: "team", value: "b" },
    { key: "", value: "c".repeat(257) },
  ];
  expect(reading((problems) => readLabels(inputs, problems)).problems).toEqual([
    "INVALID labels.1.key",
    "INVALID labels.2.key",
    "INVALID labels.2.value",
  ]);
});

test("a client's tools have names that every vendor takes, and schemas of objects", () => {
  const good = { name: "pick-file_2", description: "", inputSchema: { type: "object" } };
  const odd: unknown = JSON.parse('["not","a","schema"]');
  const inputs = [
    good,
    { ...good, description: "again" },
    { ...good, name: "a b", inputSchema: { type: "array" } },
    { ...good, name: "c", inputSchema: odd as typeof good.inputSchema },
    { ...good, name: "endless", timeoutMs: 0 },
    { ...good, name: "hasty", timeoutMs: 999 },
    { ...good, name: "usual", timeoutMs: null },
  ];
  expect(reading((problems) => readClientTools(inputs, problems)).problems).toEqual([
    "INVALID clientTools.1.name",
    "INVALID clientTools.2.name",
    "INVALID clientTools.2.inputSchema",
    "INVALID clientTools.3.inputSchema",
    "INVALID clientTools.5.timeoutMs",
  ]);
});

test("an idempotency key has 1 to 200 characters", () => {
  const keys = ["k", "", "k".repeat(201), "a\u0000b", null];
  expect(keys.map((key) => reading((problems) => readIdempotencyKey(key, problems)).problems)).toEqual([
    [],
    ["INVALID idempotencyKey"],
    ["INVALID idempotencyKey"],
    ["INVALID idempotencyKey"],
    [],
  ]);
});

test("a call can be answered only once, and success is the default", () => {
  const inputs = [
    { toolCallId: "a", result: { done: true } },
    { toolCallId: "a", result: null, isError: true },
  ];
  expect(reading((problems) => readToolResults(inputs, problems))).toEqual({
    value: [
      { toolCallId: "a", result: { done: true }, isError: false },
      { toolCallId: "a", result: null, isError: true },
    ],
    problems: ["INVALID results.1.toolCallId"],
  });
});
