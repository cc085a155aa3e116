import { describe, expect, test } from "vitest";
import { parseSkillText } from "./skill-text.js";

describe("a skill's text", () => {
  test("has a name, a description on one line, and its instructions", () => {
    const text = [
      "\uFEFF---",
      "name: release-notes",
      "description: >",
      "  Writes the notes",
      "  of a release.",
      "license: MIT",
      "metadata: { author: ada }",
      "---",
      "",
      "# Steps",
      "<!-- nobody reads this -->",
      "---",
      "1. Look.",
      "",
    ];
    const skill = {
      name: "release-notes",
      description: "Writes the notes of a release.",
      body: "# Steps\n\n---\n1. Look.",
    };
    expect(parseSkillText(text.join("\n"))).toEqual(skill);
    expect(parseSkillText(text.join("\r\n"))).toEqual(skill);
  });

  test("needs no description and no body", () => {
    const nothing = { name: "a", description: "", body: "" };
    expect(parseSkillText("---\nname: a\n---")).toEqual(nothing);
    expect(parseSkillText("---\nname: 'a'\ndescription: [not, text]\n---\n")).toEqual(nothing);
  });

  test("has at most 1024 bytes of description", () => {
    const text = `---\nname: a\ndescription: ${"é".repeat(2_000)}\n---\n`;
    expect(parseSkillText(text)?.description).toBe("é".repeat(512));
  });

  test.each([
    ["without front matter", "# Just a document"],
    ["with front matter that never ends", "---\nname: a\n"],
    ["with something before the front matter", "\n---\nname: a\n---\n"],
    ["with front matter that is no YAML", "---\nname: [a\n---\n"],
    ["with front matter that is no mapping", "---\na\n---\n"],
    ["with empty front matter", "---\n---\n"],
    ["without a name", "---\ndescription: x\n---\n"],
    ["with a number for a name", "---\nname: 12\n---\n"],
    ["with a name in capitals", "---\nname: Release\n---\n"],
    ["with a name that is a path", "---\nname: ../secrets\n---\n"],
    ["with hyphens out of place", "---\nname: a--b\n---\n"],
    ["with a name that is too long", `---\nname: ${"a".repeat(65)}\n---\n`],
    ["with front matter that is nested without end", `---\nname: a\nx: ${"[".repeat(8_000)}\n---\n`],
    ["with front matter that is too long", `---\nname: a\nx: ${"x".repeat(8 * 1024)}\n---\n`],
    [
      "with front matter that grows when it is read",
      `---\nname: a\na: &a [x,x,x,x,x,x,x,x,x]\n${"bcdefghi"
        .split("")
        .map((key, index) => `${key}: &${key} [${Array(9).fill(`*${"abcdefgh"[index]}`).join(",")}]`)
        .join("\n")}\n---\n`,
    ],
  ])("%s is none", (_, text) => {
    expect(parseSkillText(text)).toBeUndefined();
  });
});
