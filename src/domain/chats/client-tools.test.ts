import { expect, test } from "vitest";
import { clientToolTimeout } from "./client-tools.js";

const TOOLS = [
  { name: "plain" },
  { name: "quick", timeoutMs: 1_000 },
  { name: "slow", timeoutMs: 9_000 },
  { name: "endless", timeoutMs: 0 },
];

test.each<[string, string[], number, number | null]>([
  ["the deployment's where a tool has none", ["plain"], 5_000, 5_000],
  ["none where the deployment has none", ["plain"], 0, null],
  ["a tool's own before the deployment's", ["quick"], 5_000, 1_000],
  ["also where the deployment has none", ["quick"], 0, 1_000],
  ["a tool's own none", ["endless"], 5_000, null],
  ["the longest, as all are answered together", ["quick", "slow", "plain"], 5_000, 9_000],
  ["and none is the longest", ["quick", "endless"], 5_000, null],
  ["a tool that the chat does not know any more", ["gone"], 5_000, 5_000],
])("%s", (_, names, defaultMs, expected) => {
  const calls = names.map((toolName) => ({ toolCallId: toolName, toolName, isClient: true }));
  expect(clientToolTimeout(calls, TOOLS, defaultMs)).toBe(expected);
});
