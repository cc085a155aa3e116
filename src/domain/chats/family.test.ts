import fc from "fast-check";
import { expect, test } from "vitest";
import { ancestorsOf, descendantsOf, isDescendantOf, linksOf } from "./family.js";

const family = [
  { chatId: "root", parentId: null },
  { chatId: "child", parentId: "root" },
  { chatId: "other", parentId: "root" },
  { chatId: "grandchild", parentId: "child" },
];

test("ancestors are found by walking up, nearest first", () => {
  const links = linksOf(family);
  expect(["root", "child", "grandchild", "nobody"].map((id) => ancestorsOf(id, links))).toEqual([
    [],
    ["root"],
    ["child", "root"],
    [],
  ]);
});

test("descendants are all chats below any member, and no chat is its own descendant", () => {
  const names = (id: string) => descendantsOf(id, family).map(({ chatId }) => chatId);
  expect([names("root"), names("child"), names("other"), names("nobody")]).toEqual([
    ["child", "other", "grandchild"],
    ["grandchild"],
    [],
    [],
  ]);
  expect(isDescendantOf("child", "child", linksOf(family))).toBe(false);
});

test("a chat whose parent is unknown has only the known ancestors", () => {
  expect(ancestorsOf("lost", linksOf([{ chatId: "lost", parentId: "gone" }]))).toEqual([]);
});

test("a walk ends in any family, even a cyclic one, and visits no chat twice", () => {
  const name = fc.constantFrom("a", "b", "c", "d", "e");
  const link = fc.record({ chatId: name, parentId: fc.option(name) });
  fc.assert(
    fc.property(fc.array(link), name, (members, from) => {
      const found = ancestorsOf(from, linksOf(members));
      return new Set([from, ...found]).size === found.length + 1;
    }),
  );
});
