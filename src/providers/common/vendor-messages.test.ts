import { expect, test } from "vitest";
import { sanitizeVendorMessage } from "./vendor-messages.js";

const OURS = "my-own-key";

test.each([
  ["The model `gpt-4o-2024-08-06` does not exist.", "The model `gpt-4o-2024-08-06` does not exist."],
  ["Two\n  lines.", "Two lines."],
  ["<!doctype html><p>Sign in", ""],
  [`Bad key ${OURS}.`, "Bad key [key]."],
  ["Incorrect API key provided: sk-proj-abcd1234efgh.", "Incorrect API key provided: [key]."],
  ["Incorrect API key provided: sk-pr*****************efgh.", "Incorrect API key provided: [key]."],
  ["Key abc*****xyz is wrong", "Key [key] is wrong"],
  ["API key AIzaSyA1234567890abcdefghij expired", "API key [key] expired"],
  ["The token AKIAIOSFODNN7EXAMPLE is invalid", "The token [key] is invalid"],
  ["header Authorization: Bearer abc.def-123456", "header Authorization: Bearer [key]"],
  [`token ${"a1b2".repeat(12)} refused`, "token [key] refused"],
  ["at https://user:secret@host/x?token=secret now", "at https://host/x now"],
  [
    "[{'type': 'missing', 'loc': ('body', 'model'), 'msg': 'Field required', 'input': {'messages': 'my secret'}}]",
    "[{'type': 'missing', 'loc': ('body', 'model'), 'msg': 'Field required'",
  ],
  ['{"msg":"Odd","input":"my secret"}', '{"msg":"Odd"'],
  [
    "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-20250514-v1:0",
    "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-20250514-v1:0",
  ],
  ["half \ud83d of a pair", "half \uFFFD of a pair"],
])("%j is shown as %j", (words, shown) => {
  expect(sanitizeVendorMessage(words, OURS)).toBe(shown);
});

test("long words are cut between two characters", () => {
  const shown = sanitizeVendorMessage("é".repeat(1_000), OURS);
  expect([shown.endsWith("é…"), Buffer.byteLength(shown) <= 500]).toEqual([true, true]);
});
