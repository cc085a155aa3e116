import { expect, test } from "vitest";
import { sanitizedNames } from "./tool-names.js";

const sanitized = (...names: string[]) => Object.fromEntries(sanitizedNames(names));

test("a valid name is unchanged", () => {
  expect(sanitized("files__read-text_file2", "_a__b")).toEqual({
    "files__read-text_file2": "files__read-text_file2",
    _a__b: "_a__b",
  });
});

test("other characters become underscores, and a name begins with a letter or one", () => {
  expect(sanitized("my server__get.it/now", "1__x", "日本__読む")).toEqual({
    "my server__get.it/now": "my_server__get_it_now",
    "1__x": "_1__x",
    日本__読む: "______",
  });
});

test("names that would collide stay distinct, whatever their order", () => {
  const names = ["a.b__x", "a_b__x", "a b__x"];
  const forward = sanitized(...names);
  expect(forward).toEqual(sanitized(...names.toReversed()));
  expect(forward["a_b__x"]).toBe("a_b__x");
  expect(new Set(Object.values(forward)).size).toBe(3);
});

test("long names are cut to 64 characters and stay distinct", () => {
  const names = ["x".repeat(70), `${"x".repeat(70)}y`];
  const values = Object.values(sanitized(...names));
  expect(values.map((name) => [name.length, /^x{55}_[0-9a-f]{8}$/.test(name)])).toEqual([
    [64, true],
    [64, true],
  ]);
  expect(new Set(values).size).toBe(2);
});
