import { expect, test } from "vitest";
import { IgnoreRules } from "./ignore-rules.js";

const far = IgnoreRules.none.with({ folder: "/code", text: "build\n*.log\n!kept.log\n" });
const near = far.with({ folder: "/code/a", text: "!build/\nkept.log\n" });

test("the nearest file takes precedence, within its own folder only", () => {
  expect([
    far.excludes("/code/x.log", false),
    far.excludes("/code/kept.log", false),
    near.excludes("/code/a/kept.log", false),
    near.excludes("/code/a/x.log", false),
    near.excludes("/code/a/x.txt", false),
    near.excludes("/code/a/BUILD", true),
  ]).toEqual([true, false, true, true, false, false]);
});

test("in a re-included folder all other rules still apply", () => {
  expect(near.excludes("/code/a/build", true)).toBe(false);
  const within = near.within("/code/a/build");
  expect([
    within.excludes("/code/a/build/x.txt", false),
    within.excludes("/code/a/build/x.log", false),
    within.excludes("/code/a/build/kept.log", false),
    near.within("/code/a/other"),
  ]).toEqual([false, true, true, near]);
});

test("a folder with an odd name can be taken back", () => {
  const rules = IgnoreRules.none
    .with({ folder: "/", text: "[*]?\\\\\n" })
    .with({ folder: "/a", text: "!*/\n" });
  const folder = "/a/*x\\";
  expect([rules.excludes(folder, true), rules.within(folder).excludes(`${folder}/file`, false)]).toEqual([
    false,
    false,
  ]);
});
