import { expect, test } from "vitest";
import { redactOrigin } from "./remote-origin.js";

test.each([
  ["https://ada:secret@host.example/a/b.git", "https://host.example/a/b.git"],
  ["https://token@host.example/a/b.git", "https://host.example/a/b.git"],
  ["https://ada:se@cret@host.example:8443/a@b.git", "https://host.example:8443/a@b.git"],
  ["ssh://git:secret@host.example/a.git", "ssh://git@host.example/a.git"],
  ["git@host.example:a/b.git", "git@host.example:a/b.git"],
  ["https://host.example/a/b.git", "https://host.example/a/b.git"],
  ["../b.git", "../b.git"],
])("%s becomes %s", (origin, expected) => {
  expect(redactOrigin(origin)).toBe(expected);
});
