import { describe, expect, test } from "vitest";
import { closestName } from "./closest-name.js";
import { parseConfigFile } from "./config-file.js";

const NAMES = ["PARLEY_PORT", "PARLEY_MODEL", "PARLEY_TITLES", "PARLEY_ALLOWED_ORIGINS", "DATABASE_URL"];
const parse = (text: string) => parseConfigFile(text, "/data/parley.config.yaml", NAMES);

describe("a configuration file", () => {
  test.each<[what: string, text: string, values: Record<string, string>]>([
    ["empty", "# nothing yet\n", {}],
    [
      "with numbers and texts",
      'PARLEY_PORT: 8080\nPARLEY_MODEL: "x"\n',
      { PARLEY_PORT: "8080", PARLEY_MODEL: "x" },
    ],
    ["with a switch", "PARLEY_TITLES: off", { PARLEY_TITLES: "off" }],
    ["with a boolean", "PARLEY_TITLES: true", { PARLEY_TITLES: "on" }],
    [
      "with a list",
      "PARLEY_ALLOWED_ORIGINS: [https://a.example, https://b.example]",
      {
        PARLEY_ALLOWED_ORIGINS: "https://a.example,https://b.example",
      },
    ],
    ["with an empty setting", "PARLEY_MODEL:\nPARLEY_PORT: 1", { PARLEY_PORT: "1" }],
  ])("%s is read", (_what, text, values) => {
    expect(parse(text)).toEqual({ values, problems: [] });
  });

  test.each<[what: string, text: string, problem: RegExp]>([
    [
      "a misspelled name",
      "PARLEY_PROT: 1",
      /PARLEY_PROT in .*yaml is not a setting. Did you mean PARLEY_PORT\?/,
    ],
    ["a name without its prefix", "port: 1", /port in .* is not a setting. Did you mean PARLEY_PORT\?/],
    ["a name like no other", "colour: 1", /^colour in .* is not a setting\.$/],
    ["a nested value", "PARLEY_PORT: { a: 1 }", /^PARLEY_PORT in .* must be a text, a number/],
    ["a list of nothing known", "- PARLEY_PORT", /must have one setting on each line/],
    ["broken YAML", "PARLEY_PORT: [1", /is not valid YAML: /],
    ["a name given twice", "PARLEY_PORT: 1\nPARLEY_PORT: 2", /is not valid YAML: .*unique/],
  ])("with %s is refused", (_what, text, problem) => {
    expect(parse(text)).toEqual({ values: {}, problems: [expect.stringMatching(problem)] });
  });
});

test.each([
  ["gti", ["git", "push"], "git"],
  ["models", ["model"], "model"],
  ["something", ["git", "push"], null],
  ["git", [], null],
])("the closest name to %s", (wrong, names, closest) => {
  expect(closestName(wrong, names)).toBe(closest);
});
