// Differences between an observed list and the API's are detected.
import { expect, test } from "vitest";
import { listDifferences } from "./list-observer.js";

const row = (id: string, status = "WAITING") => ({ id, title: "", status, isUnread: false });
const list = (...rows: ReturnType<typeof row>[]) => new Map(rows.map((it) => [it.id, it]));

test.each([
  ["the same", list(row("a"), row("b")), []],
  ["too little", list(row("a")), ["has 1 of 2 chats"]],
  [
    "an old status",
    list(row("a", "RUNNING"), row("b")),
    [`saw ${JSON.stringify(row("a", "RUNNING"))} where the API returns ${JSON.stringify(row("a"))}`],
  ],
  [
    "a chat that is gone",
    list(row("a"), row("b"), row("c")),
    [`saw ${JSON.stringify(row("c"))} where the API returns undefined`],
  ],
])("a list with %s", (_name, seen, differences) => {
  expect(listDifferences(seen, list(row("a"), row("b")))).toEqual(differences);
});
