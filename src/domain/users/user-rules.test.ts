import { expect, test } from "vitest";
import { numberedUsername, userNameProblem, toUsername, usernameProblem } from "./user-rules.js";

test.each(["a", "ada", "ada.lovelace", "ada@example.org", "0", "a".repeat(64), "x_y+z-1"])(
  "%j may be a username",
  (username) => expect(usernameProblem(username)).toBeNull(),
);

test.each(["", " ", "Ada", ".ada", "a b", "a|b", "a".repeat(65), "adä", "a\u0000", "a\n"])(
  "%j may not be a username",
  (username) => expect(usernameProblem(username)).toMatch(/^A username must have/),
);

test.each([
  ["Ada", true],
  ["Ада Лавлейс", true],
  ["", false],
  ["x".repeat(201), false],
  ["a\u0000", false],
])("%j as a name: %s", (name, isGood) => expect(userNameProblem(name) === null).toBe(isGood));

test.each<[string, string | null]>([
  ["Ada Lovelace", "ada.lovelace"],
  ["ADA@Example.org", "ada@example.org"],
  ["Jörg Müller", "jorg.muller"],
  ["..hidden", "hidden"],
  ["Ада", null],
  ["", null],
  ["x".repeat(100), "x".repeat(64)],
])("the provider's name %j becomes the username %j", (text, username) => {
  expect(toUsername(text)).toBe(username);
  if (username !== null) expect(usernameProblem(username)).toBeNull();
});

test("a taken name gets a number, and still fits", () => {
  expect([numberedUsername("ada", 2), numberedUsername("x".repeat(64), 10)]).toEqual([
    "ada-2",
    `${"x".repeat(61)}-10`,
  ]);
});
