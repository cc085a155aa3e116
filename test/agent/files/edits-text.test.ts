// Where an edit matches and what it writes, byte for byte, on a real agent. Each case is a file, the old and new text of
// an edit, and the resulting file.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestAgent, type TestAgent } from "../support.js";

let agent: TestAgent;
let count = 0;

beforeAll(async () => {
  agent = await startTestAgent();
});
afterAll(() => agent.close());

type Case = [
  name: string,
  before: string,
  oldText: string,
  newText: string,
  after: string,
  options?: { replaceAll?: boolean; replacements?: number },
];

async function check(...[, before, oldText, newText, after, options = {}]: Case): Promise<void> {
  const { replaceAll, replacements = 1 } = options;
  count += 1;
  const path = join(agent.folder, `case-${count}`);
  await writeFile(path, before);
  const edits = [{ oldText, newText, replaceAll }];
  expect(await agent.connection.editFiles({ files: [{ path, edits }] })).toEqual({
    files: [{ path, replacements }],
  });
  expect(await readFile(path, "utf8")).toBe(after);
}

describe("a text that is in the file as it is", () => {
  const cases: Case[] = [
    ["[E12] within a line", "let a = 1;\n", "= 1", "= 2", "let a = 2;\n"],
    ["[E10] [E12] comes before lines that only resemble it", "a \nxa\n", "a\n", "b\n", "a \nxb\n"],
    [
      "[E11] [E12] replaced everywhere, from the beginning, without overlap",
      "aaaaa",
      "aa",
      "b",
      "bba",
      { replaceAll: true, replacements: 2 },
    ],
    ["[E12] does not read $ patterns", "price", "price", "$& $1 $$", "$& $1 $$"],
    ["[E12] a newline begins no place inside of CRLF", "a\r\nb", "\nb", "c", "ac"],
    ["[E17] white space alone", "a\t\tb\n\n", "\t\t", "\t", "a\tb\n\n"],
    ["[E18] [E20] new lines get the file's CRLF", "a\r\nb\r\n", "b", "b\nc\nd", "a\r\nb\r\nc\r\nd\r\n"],
    ["[E18] new lines get the file's LF", "a\nb\n", "b", "b\r\nc", "a\nb\nc\n"],
    ["[E18] as many CRLF as LF are not more", "a\r\nb\nc", "c", "c\r\nd", "a\r\nb\nc\nd"],
    ["[E18] a file of one line takes the endings as they are", "a", "a", "b\r\nc", "b\r\nc"],
    ["[E18] mixed endings of the new text stay", "a\r\nb\r\n", "b", "c\nd\r\ne", "a\r\nc\nd\r\ne\r\n"],
    [
      "[E19] line endings are changed on demand",
      "a\r\nb\r\n",
      "\r\n",
      "\n",
      "a\nb\n",
      { replaceAll: true, replacements: 2 },
    ],
    [
      "[E12] [E19] and only those that are not yet so",
      "a\r\nb\nc\n",
      "\n",
      "\r\n",
      "a\r\nb\r\nc\r\n",
      { replaceAll: true, replacements: 2 },
    ],
    ["[E20] an ending that the new text lacks is gone", "a\nb\n", "a\n", "c", "cb\n"],
  ];
  test.each(cases)("%s", (...input) => check(...input));
});

describe("a text that has other line endings than the file", () => {
  const cases: Case[] = [
    [
      "[E13] is found within lines, and the new text gets the file's",
      "f(a,\r\n  b)\r\n",
      "a,\n  b",
      "b,\n  a",
      "f(b,\r\n  a)\r\n",
    ],
    ["[E13] also the other way around", "a\nb\nc\n", "a\r\nb\r\n", "x\r\ny\r\n", "x\ny\nc\n"],
    ["[E13] a byte order mark stays", "\uFEFFa\r\nb\r\n", "a\nb\n", "c\n", "\uFEFFc\r\n"],
    [
      "[E11] [E13] everywhere",
      "a\r\nb\r\na\r\nb\r\n",
      "a\nb\n",
      "c\n",
      "c\r\nc\r\n",
      { replaceAll: true, replacements: 2 },
    ],
  ];
  test.each(cases)("%s", (...input) => check(...input));
});

describe("lines with other trailing white space", () => {
  const cases: Case[] = [
    [
      "[E14] [E22] keep theirs where it was not to change",
      "a  \nb\t\nc\n",
      "a\nb\nc\n",
      "a\nx\nc\n",
      "a  \nx\t\nc\n",
    ],
    ["[E22] lose it where it was to go", "a   \nb\n", "a \nb", "a\nc", "a\nc\n"],
    ["[E14] [E18] [E28] in a file with CRLF", "a \r\nb\r\n", "a\nb", "a\nc\nd", "a \r\nc\r\nd\r\n"],
    ["[E17] blank lines count, whatever is in them", "a\n\t\nb\n", "a\n\nb\n", "a\nb\n", "a\nb\n"],
    [
      "[E22] blank lines are written as they are in the new text",
      "a \n\t\nb\n",
      "a\n\nb",
      "a\n\nc",
      "a \n\nc\n",
    ],
    [
      "[E23] indentation that the model knows is taken as it is",
      "  if a: \n    b\n",
      "  if a:\n    b\n",
      "  if a:\n      b\n",
      "  if a: \n      b\n",
    ],
    ["[E28] nothing is glued to the last line", "a \nb\nc\n", "a\nb\n", "x\ny", "x \ny\nc\n"],
    ["[E28] a file without a final newline stays so", "a\nb ", "a\nb\n", "a\nc\nd\n", "a\nc \nd"],
    [
      "[E28] endings that the new text mixes are the file's where it keeps them",
      "a \r\nb\nc\n",
      "a\r\nb\nc",
      "a\r\nx\nb\r\nc",
      "a \r\nx\nb\r\nc\n",
    ],
    ["[E29] removed, they leave no empty line", "a\nb \nc\n", "b\t", "", "a\nc\n"],
    ["[E21] more old lines than new ones are used up", "a \nb\nc\nd\n", "a\nb\nc\n", "x\n", "x \nd\n"],
    [
      "[E30] everywhere, each with its own",
      "a \nb\na\t\n",
      "a\n",
      "c\n",
      "c \nb\nc\t\n",
      { replaceAll: true, replacements: 2 },
    ],
  ];
  test.each(cases)("%s", (...input) => check(...input));
});

describe("lines with other indentation", () => {
  const cases: Case[] = [
    [
      "[E15] [E22] keep theirs",
      "class A:\n        a()\n        b()\n",
      "a()\nb()",
      "a()\nc()",
      "class A:\n        a()\n        c()\n",
    ],
    [
      "[E24] [E26] spaces of the model become tabs of the file, level for level",
      "func f() {\n\tif x {\n\t\ty()\n\t}\n}\n",
      "    if x {\n        y()\n    }",
      "    if x {\n        y()\n        if z {\n            w()\n        }\n    }",
      "func f() {\n\tif x {\n\t\ty()\n\t\tif z {\n\t\t\tw()\n\t\t}\n\t}\n}\n",
    ],
    [
      "[E24] tabs of the model become spaces of the file",
      "  if x:\n    y()\n",
      "\tif x:\n\t\ty()",
      "\tif x:\n\t\ty()\n\t\tz()\n\telse:\n\t\tw()",
      "  if x:\n    y()\n    z()\n  else:\n    w()\n",
    ],
    [
      "[E24] two spaces become four",
      "def f():\n    if x:\n        y()\n",
      "  if x:\n    y()",
      "  if x:\n    y()\n    while z:\n      w()",
      "def f():\n    if x:\n        y()\n        while z:\n            w()\n",
    ],
    [
      "[E24] lines that the model dedented are wrapped at their own depth, by the step of the file",
      "class A:\n    def f():\n        a()\n        b()\n",
      "a()\nb()",
      "if x:\n    a()\n    b()",
      "class A:\n    def f():\n        if x:\n            a()\n            b()\n",
    ],
    [
      "[E24] nothing of the place is indented: the unit is the model's",
      "f()\nend\n",
      "  f()\n  end",
      "  if x\n    f()\n  end",
      "if x\n  f()\nend\n",
    ],
    [
      "[E24] removing a level",
      "\tif x {\n\t\ty()\n\t}\n",
      "    if x {\n        y()\n    }\n",
      "    y()\n",
      "\ty()\n",
    ],
    [
      "[E25] mixed tabs and spaces cannot be counted: an inserted line is indented as its pattern",
      "\ta()\n    b()\n",
      "a()\nb()",
      "a()\nb()\n  c()",
      "\ta()\n    b()\n    c()\n",
    ],
    [
      "[E25] less than no level: a changed line is indented as the new text says",
      "a()\n\tb()\n",
      "        a()\n    b()",
      "    a()\n    b()",
      "    a()\n\tb()\n",
    ],
    [
      "[E26] an insertion at the end of the block follows what is before it when that is indented alike",
      "\tif x {\n\t\ty()\n\t}\n",
      "  if x {\n    y()\n  }",
      "  if x {\n    y()\n    z()\n  }",
      "\tif x {\n\t\ty()\n\t\tz()\n\t}\n",
    ],
    [
      "[E30] everywhere, at every depth",
      "a();\n\ta();\n\t\ta();\n",
      " a();\n",
      " b();\n",
      "b();\n\tb();\n\t\tb();\n",
      { replaceAll: true, replacements: 3 },
    ],
    [
      "[E15] [E18] [E28] in a file with CRLF and no final newline",
      "{\r\n\ta\r\n\tb",
      "  a\n  b\n",
      "  a\n  c\n  d\n",
      "{\r\n\ta\r\n\tc\r\n\td",
    ],
  ];
  test.each(cases)("%s", (...input) => check(...input));
});

describe("lines with typographic punctuation", () => {
  const cases: Case[] = [
    ["[E16] [E27] dashes", "a – b — c\n", "a - b - c", "a - x - c", "a – x — c\n"],
    [
      "[E16] [E27] quotes",
      "say “hi” to ‘us’\n",
      "say \"hi\" to 'us'",
      "say \"ho\" to 'us'",
      "say “ho” to ‘us’\n",
    ],
    [
      "[E16] odd spaces, also as indentation",
      "\u00a0\u00a0a\u2009b\n",
      "  a b",
      "  a c",
      "\u00a0\u00a0a\u2009c\n",
    ],
    [
      "[E16] a model may write what the file has in ASCII",
      "it's - fine\n",
      "it’s – fine",
      "it’s – good",
      "it's - good\n",
    ],
    ["[E27] what the new text changes is as it says", "a – b\n", "a - b\n", "a -> b\n", "a –> b\n"],
    ["[E10] a place that needs no tolerance comes first", "a – b\na - b\n", "a - b", "c", "a – b\nc\n"],
  ];
  test.each(cases)("%s", (...input) => check(...input));
});

describe("an edit that must not find its place", () => {
  const cases: [string, string, string, string][] = [
    [
      "[E10] [E11] lines alike but for trailing white space, when more tolerance would not help",
      "a \na\t\n  a  \n",
      "a\n",
      "b\n",
    ],
    ["[E17] white space alone, when there is only a blank line", "a\n\nb\n", "\t\t", "c"],
    ["[E17] fewer blank lines than it has", "a \n\nb\n", "a\n\n\nb\n", "c"],
    ["[E19] a change of line endings where the file has others", "a\nb\n", "a\r\nb\r\n", "a\nb\n"],
    ["[E16] letters that only look alike", "а\n", "a", "b"],
  ];
  test.each(cases)("%s", async (_, before, oldText, newText) => {
    const path = join(agent.folder, "unmatched");
    await writeFile(path, before);
    const outcome = agent.connection.editFiles({ files: [{ path, edits: [{ oldText, newText }] }] });
    await expect(outcome).rejects.toMatchObject({ status: 400 });
    expect(await readFile(path, "utf8")).toBe(before);
  });
});
