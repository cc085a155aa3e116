import { expect, test } from "vitest";
import { describeUnknownTool, nearestName } from "./unknown-tool.js";

const NAMES = ["edit_files", "execute", "process_list", "process_output", "read_file", "write_file"];

test.each([
  ["readFile", "read_file"],
  ["functions.read_file", "read_file"],
  ["Read-File", "read_file"],
  ["write_fiel", "write_file"],
  ["process_outputs", "process_output"],
  ["exec", undefined],
  ["excute", "execute"],
  ["bash", undefined],
  ["", undefined],
  ["😀", undefined],
])("a model that calls %j probably means %s", (called, meant) => {
  expect(nearestName(called, NAMES)).toBe(meant);
});

test("a model that calls an unknown tool reads the list of tools", () => {
  expect(describeUnknownTool("readfile", ["execute", "read_file"])).toBe(
    'There is no tool named "readfile". Did you mean read_file? The tools are: execute, read_file.',
  );
  expect(describeUnknownTool("x", [])).toBe('There is no tool named "x". This chat has no tools.');
});

test("neither a long name nor many tools make a long error", () => {
  const names = Array.from({ length: 5_000 }, (_, index) => `${"t".repeat(500)}_${index}`);
  const text = describeUnknownTool("n".repeat(1_000_000), names);
  expect(text.length).toBeLessThan(15_000);
  expect(text).toMatch(/ and 4900 more\.$/);
});
