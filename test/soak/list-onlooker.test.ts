// A sidebar that shows something else than the API is found out.
import { expect, test } from "vitest";
import { listDifferences } from "./list-onlooker.js";

const row = (id: string, status = "WAITING") => ({ id, title: "", status, isUnread: false });
const list = (...rows: ReturnType<typeof row>[]) => new Map(rows.map((it) => [it.id, it]));

test.each([
  ["the same", list(row("a"), row("b")), []],
  ["too little", list(row("a")), ["holds 1 of 2 chats"]],
  [
    "an old status",
    list(row("a", "RUNNING"), row("b")),
    [`saw ${JSON.stringify(row("a", "RUNNING"))} where the API shows ${JSON.stringify(row("a"))}`],
  ],
  [
    "a chat that is gone",
    list(row("a"), row("b"), row("c")),
    [`saw ${JSON.stringify(row("c"))} where the API shows undefined`],
  ],
])("a list that shows %s", (_name, held, differences) => {
  expect(listDifferences(held, list(row("a"), row("b")))).toEqual(differences);
});
