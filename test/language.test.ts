// Keeps the words: names, the SDL and what operators and users read use the field's terms (docs/glossary.md). The words
// below are a dialect that this project once had; each stood for several things.
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "..");

/** No part of a name: `heldRun` has the parts `held` and `run`. */
const IDENTIFIERS = new Map([
  ["a claim, a run, a reservation, a connection", ["hold", "holds", "held", "holding"]],
  ["provisioning, provisioning tools", ["desk", "desks"]],
  ["an endpoint, a transport", ["door", "doors"]],
  ["publish, emit, notify, report; an event, a change", ["told", "tell", "tells", "telling", "news"]],
  ["the desired state, a request, a preference", ["wish", "wishes", "wished"]],
  ["a status", ["standing", "standings"]],
  ["stored, retained, cached, partial", ["kept"]],
  ["a delta, a chunk", ["piece", "pieces"]],
  ["a user, a viewer", ["person", "persons", "people", "somebody", "nobody", "whoever"]],
  ["a scan, a poll, a request", ["look", "looks", "looked"]],
  ["a position, a cursor, a location, a slot", ["place", "places"]],
  ["a layer, the space that is left", ["room", "rooms"]],
  ["a semaphore", ["turnstile", "turnstiles"]],
  ["again", ["anew"]],
]);

/** In texts that users, operators and models read, and in the SDL. */
const TEXTS =
  /\b(?:whoever|nobody|somebody|anew|desks?|doors?|wish(?:es|ed)?|persons?|people|tool servers?|is told|are told|news)\b/i;

/** In comments, where the other words are ordinary ones. */
const COMMENTS = /\b(?:whoever|somebody|anew|desks?|wish(?:es|ed)?|tool servers?|is told|are told)\b/i;

/** Names that cannot change, or belong to others. */
const EXCEPTIONS: { path: string; word: RegExp; reason: string }[] = [
  {
    path: "src/events/bus/wire-format.ts",
    word: /^(piece|pieces|lastPiece)$/,
    reason: "fields of the Redis events that replicas of different versions exchange",
  },
  {
    path: "src/events/bus/redis-envelope.ts",
    word: /^news$/,
    reason: "a field of the Redis events that replicas of different versions exchange",
  },
  {
    path: "src/events/lists/list-redis-log.ts",
    word: /^news$/,
    reason: "a field of the Redis events that replicas of different versions exchange",
  },
  {
    path: "src/store/data-source.ts",
    word: /^People\d+$/,
    reason: "a migration's class name, which databases have recorded",
  },
  {
    path: "src/store/embedded-postgres/account.ts",
    word: /^nobody$/,
    reason: "the name of an account of the operating system",
  },
];

type Source = {
  path: string;
  identifiers: { name: string; line: number }[];
  texts: { text: string; line: number }[];
  comments: { text: string; line: number }[];
};

const TOKEN =
  /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\/\*[\s\S]*?\*\/|(?<![:\\])\/\/[^\n]*/g;

const sources = ["src", "sdk/src"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".test.ts") && !name.startsWith("generated"))
    .map((name) => readSource(join(folder, name))),
);

function readSource(path: string): Source {
  const text = readFileSync(join(root, path), "utf8");
  const lineAt = (index: number) => text.slice(0, index).split("\n").length;
  const texts: Source["texts"] = [];
  const comments: Source["comments"] = [];
  const code = text.replace(TOKEN, (all: string, literal: string | undefined, index: number) => {
    if (literal === undefined) comments.push({ text: all.replace(/\s+\*?\s*/g, " "), line: lineAt(index) });
    else if (literal.includes(" ")) texts.push({ text: literal, line: lineAt(index) });
    return all.replace(/[^\n]/g, " ");
  });
  const identifiers = [...code.matchAll(/[A-Za-z_$][\w$]*/g)].map((match) => ({
    name: match[0],
    line: lineAt(match.index),
  }));
  return { path, identifiers, texts, comments };
}

function partsOf(name: string): string[] {
  return (name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []).map((part) => part.toLowerCase());
}

const used = new Set<object>();

function isAllowed(path: string, word: string): boolean {
  const exception = EXCEPTIONS.find((it) => it.path === path && it.word.test(word));
  if (exception) used.add(exception);
  return exception !== undefined;
}

test("names are the field's terms", () => {
  const advice = new Map([...IDENTIFIERS].flatMap(([terms, words]) => words.map((word) => [word, terms])));
  const wrong = sources.flatMap(({ path, identifiers }) =>
    identifiers.flatMap(({ name, line }) => {
      const word = partsOf(name).find((part) => advice.has(part));
      if (word === undefined || isAllowed(path, name)) return [];
      return [`${path}:${line} ${name}: instead of "${word}" say what it is: ${advice.get(word)}.`];
    }),
  );
  expect(wrong).toEqual([]);
});

test("what users, operators and models read is plain English", () => {
  const wrong = sources.flatMap(({ path, texts }) =>
    texts.flatMap(({ text, line }) => {
      const word = TEXTS.exec(text)?.[0];
      return word === undefined || isAllowed(path, word) ? [] : [`${path}:${line} says "${word}": ${text}`];
    }),
  );
  expect(wrong).toEqual([]);
});

test("comments are plain English", () => {
  const wrong = sources.flatMap(({ path, comments }) =>
    comments.flatMap(({ text, line }) => {
      const word = COMMENTS.exec(text)?.[0];
      return word === undefined ? [] : [`${path}:${line} says "${word}": ${text}`];
    }),
  );
  expect(wrong).toEqual([]);
});

test("the SDL is plain English, in the field's terms", () => {
  const lines = readFileSync(join(root, "schema.graphql"), "utf8").split("\n");
  const wrong = lines.flatMap((line, index) => {
    const word = TEXTS.exec(line)?.[0];
    return word === undefined ? [] : [`schema.graphql:${index + 1} says "${word}": ${line.trim()}`];
  });
  expect(wrong).toEqual([]);
});

test("every exception is still needed", () => {
  expect(EXCEPTIONS.filter((it) => !used.has(it))).toEqual([]);
});
