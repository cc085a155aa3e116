import { expect, test } from "vitest";
import { IgnoreRules } from "./ignore-rules.js";

const far = IgnoreRules.none.with({ folder: "/code", text: "build\n*.log\n!kept.log\n" });
const near = far.with({ folder: "/code/a", text: "!build/\nkept.log\n" });

test("the nearest file has the say, about its own folder only", () => {
  expect([
    far.leavesOut("/code/x.log", false),
    far.leavesOut("/code/kept.log", false),
    near.leavesOut("/code/a/kept.log", false),
    near.leavesOut("/code/a/x.log", false),
    near.leavesOut("/code/a/x.txt", false),
    near.leavesOut("/code/a/BUILD", true),
  ]).toEqual([true, false, true, true, false, false]);
});

test("in a folder that was taken back all other rules still count", () => {
  expect(near.leavesOut("/code/a/build", true)).toBe(false);
  const within = near.within("/code/a/build");
  expect([
    within.leavesOut("/code/a/build/x.txt", false),
    within.leavesOut("/code/a/build/x.log", false),
    within.leavesOut("/code/a/build/kept.log", false),
    near.within("/code/a/other"),
  ]).toEqual([false, true, true, near]);
});

test("a folder with an odd name can be taken back", () => {
  const rules = IgnoreRules.none
    .with({ folder: "/", text: "[*]?\\\\\n" })
    .with({ folder: "/a", text: "!*/\n" });
  const folder = "/a/*x\\";
  expect([rules.leavesOut(folder, true), rules.within(folder).leavesOut(`${folder}/file`, false)]).toEqual([
    false,
    false,
  ]);
});
