import { expect, test } from "vitest";
import { exitFields, outputFields, shortenOutput } from "./model-output.js";

test("output within the limit is unchanged", () => {
  const output = "x".repeat(32 * 1024);
  expect(shortenOutput(output)).toBe(output);
});

test("longer output keeps its beginning and its end, cut between characters", () => {
  const shown = shortenOutput(`begin${"€".repeat(20_000)}end`);
  expect([shown.slice(0, 6), shown.slice(-4), shown.includes("\uFFFD")]).toEqual(["begin€", "€end", false]);
  expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(32 * 1024 + 256);
});

test("omitted output is reported in the fields of the result", () => {
  const truncation = { originalBytes: 10, retainedBytes: 4, omittedBytes: 6, strategy: "head_tail" as const };
  expect(outputFields({ output: "", truncation, running: true })).toEqual({
    truncated: { original_bytes: 10, retained_bytes: 4, omitted_bytes: 6, strategy: "head_tail" },
  });
});

test("a process that a signal ended did not succeed", () => {
  expect(exitFields({ output: "bye", running: false, exitCode: -1, signal: "SIGKILL" })).toEqual({
    success: false,
    output: "bye",
    exit_code: -1,
    error: "ended by SIGKILL",
  });
});
