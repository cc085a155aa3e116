import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { compileLinePattern } from "../../../src/agent/search/line-pattern.js";
import { toRipgrepPattern } from "../../../src/agent/search/ripgrep-pattern.js";
import { has } from "../../support/requirements.js";

const lines = [
  "",
  "function foo() {",
  "const size = items[0].length; // 12 €",
  "interface{}",
  "a&&b a--b a~~b [x] {y} <z> 1,2",
  "größe Größe GRÖSSE",
  "٣ arabic three, \u000b vertical tab, \u00a0 odd space",
  "a.b*c+d?e|f^g$h(i)j\\k/l-m_n",
  "\tindented --flag=value",
  "x2 y_z 3.14 0x1F",
  "K (Kelvin sign)",
];

const patterns = [
  "foo\\(\\) {",
  "interface{}",
  "\\d",
  "^\\D*$",
  "\\w+ = \\w+",
  "^\\W",
  "\\s\\S",
  "\\bgr",
  "e\\b",
  "\\B\\d",
  "[a&&b]&&",
  "[^\\w\\s]{2}",
  "[\\d.]+",
  "[]x]",
  "[^]x]",
  "[^^]x]",
  "[[]",
  "[\\[\\]]",
  "[{}]",
  "[a{1}]",
  "[~#-]",
  "a{2,}|x{1}",
  "--flag",
  "[a-]-b",
  "\\<z\\>",
  "j\\\\k\\/l\\-m\\_n",
  "\\x41|\\x{42}|\\t",
  "\\p{Greek}|\\pL{4}",
  "[[:digit:]][[:^alpha:]]",
  "gr(?:ö|o)(?P<s>ß|ss)e",
  "(?i)GRÖßE",
  "^$",
  "€$",
  "k",
  ".",
  "\\.|\\*",
  "\\Qa.b*\\E",
  "(?U)a.+b",
];

test
  .skipIf(!has("ripgrep"))
  .each(patterns.flatMap((pattern) => [false, true].map((i) => [pattern, i] as const)))(
  "ripgrep finds the same lines for %s (ignoring case: %s)",
  (pattern, ignoreCase) => {
    const compiled = compileLinePattern(pattern, ignoreCase);
    if (compiled.kind === "refused") throw new Error(compiled.message);
    const expected = lines.filter((line) => compiled.value(line) >= 0);
    const translated = toRipgrepPattern(pattern);
    if (translated === undefined) return expect(pattern).toContain("\\Q");
    const options = ["--no-config", "--crlf", "-N", ignoreCase ? "-i" : "-s", `--regexp=${translated}`, "-"];
    const { stdout } = spawnSync("rg", options, { input: lines.map((line) => `${line}\n`).join("") });
    expect(stdout.toString("utf8").split("\n").slice(0, -1)).toEqual(expected);
  },
);

test.each([
  ["\\Qa\\E", "quotes"],
  ["[a--b]", "takes sets apart"],
  ["\\012", "is an octal number"],
  ["[:a:]", "looks like a class"],
])("%s is left to RE2, because there it %s", (pattern) => {
  expect(toRipgrepPattern(pattern)).toBeUndefined();
});

test.each([
  ["(", "missing closing ): `(`"],
  ["(?=a)", "invalid or unsupported Perl syntax: `(?=`"],
  ["(a)\\1", "invalid escape sequence: `\\1`"],
  ["a**", "invalid nested repetition operator: `**`"],
  ["\\Afoo", "\\A and \\z have no meaning here, use ^ and $"],
])("the pattern %s is refused with the reason", (pattern, reason) => {
  expect(compileLinePattern(pattern, false)).toEqual({
    kind: "refused",
    status: 400,
    field: "pattern",
    message:
      `The pattern is not valid: ${reason}. It is a regular expression in the syntax of RE2, without look-around and ` +
      "backreferences; put a backslash before . * + ? ( ) [ ] { } | ^ $ \\ to mean the character itself.",
  });
});

test("a backslash before an A is no anchor", () => {
  const compiled = compileLinePattern("\\\\A", false);
  expect(compiled.kind === "done" && compiled.value("x\\A")).toBe(1);
});

test("a pattern that is slow elsewhere is not slow here", () => {
  const compiled = compileLinePattern("(a+)+$", false);
  expect(compiled.kind === "done" && compiled.value(`${"a".repeat(100_000)}b`)).toBe(-1);
});
