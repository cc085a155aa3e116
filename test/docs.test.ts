// Keeps the documentation true where a program can: links lead somewhere, the glossary's carriers exist, variables that
// are mentioned exist, and code in pages is that of a file which is compiled and run. Pure reading.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";
import { AGENT_USAGE } from "../src/agent/settings.js";
import { settingsTable } from "../src/config/config.js";

const root = resolve(import.meta.dirname, "..");
const FOLDERS = ["docs", "examples", "sdk", ".github"];

type Page = { path: string; text: string };

const pages: Page[] = [
  ...readdirSync(root).filter((name) => name.endsWith(".md")),
  ...FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md") && !name.includes("node_modules"))
      .map((name) => join(folder, name)),
  ),
].map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));

function withoutCode(text: string): string {
  return text.replace(/^```[\s\S]*?^```/gm, "");
}

/** GitHub's anchor of each heading. */
function anchorsOf(path: string): Set<string> {
  const headings = withoutCode(readFileSync(path, "utf8")).matchAll(/^#+ (.+)$/gm);
  return new Set(
    [...headings].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, "")
        .replaceAll(/\s/g, "-"),
    ),
  );
}

function brokenLinks({ path, text }: Page): string[] {
  const links = [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
  return links
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => {
      const [file = "", anchor] = target.split("#");
      const goal = file === "" ? join(root, path) : resolve(root, dirname(path), file);
      if (!existsSync(goal)) return true;
      return anchor !== undefined && goal.endsWith(".md") && !anchorsOf(goal).has(anchor);
    })
    .map((target) => `${path}: ${target}`);
}

test("links lead to files and headings that exist", () => {
  expect(pages.flatMap(brokenLinks)).toEqual([]);
});

test("paths of source files in pages exist", () => {
  const wrong = pages
    .filter(({ path }) => path !== "CHANGELOG.md" && !path.startsWith("docs/decisions/"))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/`((?:src|test|scripts|docs|examples|sdk)\/[\w./-]+\.(?:ts|md|graphql))`/g)]
        .map(([, file = ""]) => file)
        .filter((file) => !existsSync(join(root, file)))
        .map((file) => `${path}: ${file}`),
    );
  expect(wrong).toEqual([]);
});

test("every term of the glossary is carried by code that exists", () => {
  const glossary = readFileSync(join(root, "docs/glossary.md"), "utf8");
  const rows = [...glossary.matchAll(/^\| \*\*(.+?)\*\* .*\| (?:`(\w+)` in )?\[(\S+?)\]\(\S+\) *\|$/gm)];
  const wrong = rows.filter(([, , symbol, path = ""]) => {
    const file = join(root, path);
    return !existsSync(file) || (symbol && !new RegExp(`\\b${symbol}\\b`).test(readFileSync(file, "utf8")));
  });
  expect(wrong.map(([, term, symbol, path]) => `${term}: ${symbol} in ${path}`)).toEqual([]);
  expect(rows.length).toBe([...glossary.matchAll(/^\| \*\*/gm)].length);
  expect(rows.length).toBeGreaterThan(50);
});

test("environment variables in pages exist", () => {
  const known = new Set([
    ...Object.values(settingsTable).map(({ name }) => name),
    ...(AGENT_USAGE.match(/PARLEY_\w+/g) ?? []),
    // Of the tests and examples.
    ...["PARLEY_URL", "PARLEY_TOKEN"],
    // The agent sets these for commands.
    ...["PARLEY_AGENT_INSTANCE", "PARLEY_AGENT_ASKPASS_KEY", "PARLEY_CHAT_ID"],
  ]);
  const wrong = pages
    .filter(({ path }) => path !== "CHANGELOG.md")
    .flatMap(({ path, text }) =>
      (text.match(/\bPARLEY_[A-Z0-9_]*[A-Z0-9]\b/g) ?? [])
        .filter((name) => !known.has(name) && !/^PARLEY_(TEST|PRINT)_/.test(name))
        .map((name) => `${path}: ${name}`),
    );
  expect([...new Set(wrong)]).toEqual([]);
});

/** `<!-- from FILE -->` before a code block: the block is a part of that file, word for word. */
const SNIPPET = /<!-- from (\S+) -->\s*```\w*\n([\s\S]*?)```/g;

test("code in pages is that of the files it is taken from", () => {
  const snippets = pages.flatMap(({ path, text }) =>
    [...text.matchAll(SNIPPET)].map(([, file = "", code = ""]) => ({ path, file, code })),
  );
  const wrong = snippets.filter(({ file, code }) => !readFileSync(join(root, file), "utf8").includes(code));
  expect(wrong.map(({ path, file }) => `${path} and ${relative(root, join(root, file))} differ`)).toEqual([]);
  expect(snippets.length).toBeGreaterThan(1);
});

/** See test/language.test.ts. */
const DIALECT = /\b(?:somebody|anew|desks?|doors?|wish(?:es|ed)?|persons?|people|tool servers?|news)\b/i;

test("pages are plain English, in the field's terms", () => {
  const wrong = pages
    .filter(({ path }) => !path.startsWith("docs/agent/"))
    .flatMap(({ path, text }) =>
      text.split("\n").flatMap((line, index) => {
        const word = DIALECT.exec(line)?.[0];
        return word === undefined ? [] : [`${path}:${index + 1} says "${word}": ${line.trim()}`];
      }),
    );
  expect(wrong).toEqual([]);
});
