import { describe, expect, test } from "vitest";
import { parseConfig } from "./config-text.js";
import { expandBraced, expandVariables } from "./expand.js";

const environment = { NAME: "ada", EMPTY: "", TOKEN: "t0" };

describe("variables", () => {
  test.each([
    ["$NAME", "ada"],
    ["${NAME}s", "adas"],
    ["<$NOBODY${NOBODY}$EMPTY>", "<>"],
    ["${NOBODY:-a b}${EMPTY:-}${NAME:-x}", "a bada"],
    ["$NAME-$TOKEN_$", "ada-$"],
    ["5$ $1 ${} ${1} ${NAME", "5$ $1 ${} ${1} ${NAME"],
    ["$toString $__proto__", " "],
  ])("in %j", (text, expanded) => {
    expect(expandVariables(text, environment)).toBe(expanded);
  });

  test("without braces are left alone elsewhere: a `$` is not rare in addresses", () => {
    expect(expandBraced("$NAME ${NAME} ${NOBODY:-x}", environment)).toBe("$NAME ada x");
  });
});

describe("a file", () => {
  /** Without what the configurations were made from. */
  const parse = (value: unknown) => {
    const parsed = parseConfig(JSON.stringify(value), environment);
    if (parsed.kind === "unreadable") return parsed;
    const entries = parsed.entries.map((entry) => {
      if (!("config" in entry)) return entry;
      const { source: _source, ...config } = entry.config;
      return { name: entry.name, config };
    });
    return { ...parsed, entries };
  };

  test("names servers of all kinds, sorted", () => {
    const mcpServers = {
      web: { url: "https://x/${NAME}", headers: { Authorization: "Bearer ${TOKEN}" } },
      stream: { type: "sse", url: "http://x", command: "ignored" },
      both: {
        command: "run-${NAME}",
        args: ["--as", "${NAME}", "$NAME"],
        env: { B: "$NAME", A: 1 },
        url: "http://x",
      },
    };
    expect(parse({ mcpServers })).toEqual({
      kind: "entries",
      entries: [
        {
          name: "both",
          config: {
            transport: "stdio",
            command: "run-ada",
            args: ["--as", "ada", "$NAME"],
            env: { A: "1", B: "ada" },
          },
        },
        { name: "stream", config: { transport: "sse", url: "http://x", headers: {} } },
        {
          name: "web",
          config: { transport: "http", url: "https://x/ada", headers: { Authorization: "Bearer t0" } },
        },
      ],
    });
  });

  test.each([
    ["{", /^It is not JSON: /],
    ["[]", /^It has another shape: /],
    ['{"mcpServers": []}', /^It has another shape: mcpServers: /],
  ])("that is %s names none", (text, problem) => {
    expect(parseConfig(text, environment)).toEqual({
      kind: "unreadable",
      problem: expect.stringMatching(problem) as string,
    });
  });

  test("may begin with the mark that some editors write, and need not name servers", () => {
    expect(parseConfig('\uFEFF{"other": 1}', environment)).toEqual({ kind: "entries", entries: [] });
  });
});
