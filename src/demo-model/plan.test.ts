import { describe, expect, test } from "vitest";
import type { JsonObject } from "../domain/common/json.js";
import type { ScriptStep } from "./answer.js";
import { DEMO_INTRODUCTION, makeTitle, planAnswer } from "./plan.js";
import { readTasks } from "./plan-tasks.js";
import type { DemoRequest, DemoTurn } from "./request.js";

const TOOL_NAMES = ["execute", "read_file", "write_file", "edit_files"];

function request(turns: DemoTurn[], more: Partial<DemoRequest> = {}): DemoRequest {
  return {
    wire: "anthropic",
    model: "demo",
    isStreaming: true,
    wantsUsage: true,
    system: "",
    tools: TOOL_NAMES.map((name) => ({ name, inputSchema: {} })),
    turns,
    headers: {},
    body: {},
    sizeCharacters: 0,
    ...more,
  };
}

const userTurn = (text: string): DemoTurn => ({ role: "user", text });
const called = (id: string, name: string): DemoTurn => ({
  role: "assistant",
  text: "",
  calls: [{ id, name, arguments: {} }],
});
const answered = (id: string, text: string, isError = false): DemoTurn => ({
  role: "results",
  results: [{ id, text, isError }],
});
const run = (command: string) => ({ kind: "run", toolName: "execute", arguments: { command } });
const call = (toolName: string, args: JsonObject) => ({ kind: "call", toolName, arguments: args });
const read = (path: string) => ({ kind: "read", toolName: "read_file", arguments: { path } });
const write = (path: string, content: string) => ({
  kind: "write",
  toolName: "write_file",
  arguments: { path, content },
});
const replace = (path: string, old_text: string, new_text: string) => ({
  kind: "replace",
  toolName: "edit_files",
  arguments: { path, old_text, new_text },
});

describe("readTasks", () => {
  const cases: [string, unknown[]][] = [
    ["run `ls -la`", [run("ls -la")]],
    ["Please run ls -la.", [run("ls -la")]],
    ["run ls .", [run("ls .")]],
    ["Could you run `npm test` for me?", [run("npm test")]],
    ['run echo "hi then there"', [run('echo "hi then there"')]],
    ["run the command `git status`, then read package.json", [run("git status"), read("package.json")]],
    ["read the file src/a.ts and then run `x`", [read("src/a.ts"), run("x")]],
    ["read a.txt and run make", [read("a.txt"), run("make")]],
    ["1. read a.txt\n2. run make\n- list the files", [read("a.txt"), run("make"), run("ls -la")]],
    ["Hello! Please read README.md. Then list files", [read("README.md"), run("ls -la")]],
    ["replace `foo bar` with `baz` in src/a.ts", [replace("src/a.ts", "foo bar", "baz")]],
    ['replace "a" with "" in "my file.txt"', [replace("my file.txt", "a", "")]],
    ["replace one with two in x.txt.", [replace("x.txt", "one", "two")]],
    ["write `hello\nthen world` to notes.txt", [write("notes.txt", "hello\nthen world")]],
    [
      "write hello world to notes.txt, then read notes.txt",
      [write("notes.txt", "hello world"), read("notes.txt")],
    ],
    ["write ```js\nlet a = 1;\n``` to a.js", [write("a.js", "let a = 1;\n")]],
    ["run `ls` [[demo: delay=20]]", [run("ls")]],
    [
      'call `memory__search_nodes` with {"query": "a then b"}, then call files__list and call the_tool with `{"a": [1]}`.',
      [
        call("memory__search_nodes", { query: "a then b" }),
        call("files__list", {}),
        call("the_tool", { a: [1] }),
      ],
    ],
    ["call me maybe", []],
    ["I don't know what to do", []],
    ["Then what?", []],
    ["the runner reads files", []],
    ["", []],
  ];
  test.each(cases)("%j", (message, expected) => {
    expect(readTasks(message)).toEqual(expected);
  });

  test("a megabyte of nonsense is read in no time and without harm", () => {
    expect(readTasks("run ".repeat(250_000))).toHaveLength(1);
    expect(readTasks("replace a with ".repeat(70_000))).toEqual([]);
    expect(readTasks("`\"'".repeat(300_000))).toEqual([]);
  });
});

describe("planAnswer", () => {
  const twoSteps = userTurn("run `ls`, then read package.json");
  const cases: { name: string; input: DemoRequest; expected: ScriptStep }[] = [
    {
      name: "says what it is when it understands nothing",
      input: request([userTurn("What is the meaning of life?")]),
      expected: { text: DEMO_INTRODUCTION },
    },
    {
      name: "calls the first tool, with a word before it",
      input: request([twoSteps]),
      expected: { text: "I will run `ls`.", toolCalls: [{ name: "execute", arguments: { command: "ls" } }] },
    },
    {
      name: "calls the second tool when the first has answered",
      input: request([twoSteps, called("a", "execute"), answered("a", "package.json")]),
      expected: {
        text: "Next I will read `package.json`.",
        toolCalls: [{ name: "read_file", arguments: { path: "package.json" } }],
      },
    },
    {
      name: "quotes what the tools answered at the end",
      input: request([
        twoSteps,
        called("a", "execute"),
        answered("a", '{"success":false,"output":"a.txt","exit_code":3}'),
        called("b", "read_file"),
        answered("b", "```"),
      ]),
      expected: {
        text: "Done.\n\n1. `execute` (run `ls`) answered:\n\n```\na.txt\n(exit code 3)\n```\n\n2. `read_file` (read `package.json`) answered:\n\n````\n```\n````",
      },
    },
    {
      name: "stops at a failed call and says what is left",
      input: request([twoSteps, called("a", "execute"), answered("a", '{"error":"no workspace"}', true)]),
      expected: {
        text: "The last tool call failed, so I stop here.\n\n1. `execute` (run `ls`) answered:\n\n```\nno workspace\n```\n\nNot done: read `package.json`.",
      },
    },
    {
      name: "counts only the steps since the last user message",
      input: request([
        userTurn("run `a`"),
        called("a", "execute"),
        answered("a", "x"),
        userTurn("read b.txt"),
      ]),
      expected: {
        text: "I will read `b.txt`.",
        toolCalls: [{ name: "read_file", arguments: { path: "b.txt" } }],
      },
    },
    {
      name: "says so when the tool is not offered",
      input: request([userTurn("read b.txt")], { tools: [{ name: "execute", inputSchema: {} }] }),
      expected: { text: "I would read `b.txt`, but this chat offers me no tool named `read_file`." },
    },
    {
      name: "edits with one flat list",
      input: request([userTurn("replace `a` with `b` in c.txt")]),
      expected: {
        text: "I will replace `a` with `b` in `c.txt`.",
        toolCalls: [
          { name: "edit_files", arguments: { edits: [{ path: "c.txt", old_text: "a", new_text: "b" }] } },
        ],
      },
    },
    {
      name: "edits grouped by file where the tool's schema wants that",
      input: request([userTurn("replace `a` with `b` in c.txt")], {
        tools: [{ name: "edit_files", inputSchema: { type: "object", properties: { files: {} } } }],
      }),
      expected: {
        text: "I will replace `a` with `b` in `c.txt`.",
        toolCalls: [
          {
            name: "edit_files",
            arguments: { files: [{ path: "c.txt", edits: [{ old_text: "a", new_text: "b" }] }] },
          },
        ],
      },
    },
    {
      name: "proposes a title through the tool for it",
      input: request([userTurn("please fix the flaky login test on Windows")], {
        tools: [{ name: "propose_title", inputSchema: {} }],
      }),
      expected: {
        toolCalls: [{ name: "propose_title", arguments: { title: "Please fix the flaky login test" } }],
      },
    },
    {
      name: "names a quoted message by its own words",
      input: request([userTurn("Name it:\n\n<message>\nfix the login\n</message>")], {
        tools: [{ name: "propose_title", inputSchema: {} }],
      }),
      expected: { toolCalls: [{ name: "propose_title", arguments: { title: "Fix the login" } }] },
    },
    {
      name: "names a quoted talk by what was said first",
      input: request(
        [userTurn("Name it:\n\n<conversation>\n[user]: fix the login\n[assistant]: Done.\n</conversation>")],
        {
          tools: [{ name: "propose_title", inputSchema: {} }],
        },
      ),
      expected: { toolCalls: [{ name: "propose_title", arguments: { title: "Fix the login" } }] },
    },
    {
      name: "summarises by repeating what was said",
      input: request(
        [
          userTurn("run `a`"),
          called("x", "execute"),
          answered("x", "1"),
          userTurn("Summarise the conversation."),
        ],
        {
          tools: [],
        },
      ),
      expected: {
        text: "Summary by the demo model, which only repeats what was said:\n- user: run a\n- assistant: called execute\n(End of the summary.)",
      },
    },
  ];
  test.each(cases)("$name", ({ input, expected }) => {
    expect(planAnswer(input)).toEqual(expected);
  });

  test("cuts a long answer of a tool", () => {
    const { text } = planAnswer(
      request([userTurn("read a"), called("a", "read_file"), answered("a", "x".repeat(5_000))]),
    );
    expect(text).toContain(`${"x".repeat(2_000)}\n… (3000 more characters)`);
  });
});

test.each([
  ["", "New conversation"],
  ["[[demo: title]] hello", "About hello"],
  ["fix `src/a.ts`, please!", "Fix src/a ts please"],
  ["x".repeat(500), `About ${"x".repeat(54)}`],
])("the title of %j is %j", (text, title) => {
  expect(makeTitle(text)).toBe(title);
});

test("arguments of tools are plain JSON", () => {
  const { toolCalls } = planAnswer(request([userTurn("write `a` to b")]));
  const [first] = toolCalls ?? [];
  expect(first?.arguments satisfies JsonObject | string | undefined).toEqual({ path: "b", content: "a" });
});
