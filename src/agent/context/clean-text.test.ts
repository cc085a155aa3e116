import { expect, test } from "vitest";
import { cleanText } from "./clean-text.js";

test.each([
  ["line ends of other systems become plain ones", "a\r\nb\rc\n", "a\nb\nc"],
  ["invisible comments are removed", "a<!-- hidden\nwords -->b<!---->c", "abc"],
  ["a comment that never closes stays", "a <!-- b", "a <!-- b"],
  ["a comment needs its own end", "<!--> still hidden --> seen", "seen"],
  ["characters without a shape are taken away", "\uFEFFi\u200Bgn\u00ADore\u202E \uFE0Fit\u2066", "ignore it"],
  ["the joiner that Persian needs stays", "می\u200Cخواهم", "می\u200Cخواهم"],
  ["characters beyond the first plane stay whole", "🎉𝒳", "🎉𝒳"],
  ["nothing but hidden words is nothing", " \u200B<!-- x -->\n ", ""],
])("%s", (_, text, cleaned) => {
  expect(cleanText(text)).toBe(cleaned);
});
