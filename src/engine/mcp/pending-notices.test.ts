import { expect, test } from "vitest";
import type { MessagePart, NoticePart } from "../../domain/chats/message-parts.js";
import { pendingNotices } from "./pending-notices.js";

const about = (mcpServerId: string, text = "It is away."): NoticePart => ({
  ...{ type: "notice", level: "warning", text, mcpServerId },
});
const general: NoticePart = { type: "notice", level: "warning", text: "Too many tools." };
const said = { role: "user" as const, authorId: "ada", parts: [] };
const summary = { role: "user" as const, authorId: null, parts: [] };
const answer = (...parts: MessagePart[]) => ({ role: "assistant" as const, authorId: null, parts });

test.each([
  ["everything at the beginning of a turn", [said], [about("a"), general], [about("a"), general]],
  ["nothing twice in a turn", [said, answer(about("a")), answer()], [about("a"), about("b")], [about("b")]],
  [
    "one of a server, whatever else is the matter with it",
    [said, answer(about("a"))],
    [about("a", "Other.")],
    [],
  ],
  ["of two about one server the first", [said], [about("a"), about("a", "Other.")], [about("a")]],
  [
    "anew in the next turn",
    [said, answer(about("a"), general), said],
    [about("a"), general],
    [about("a"), general],
  ],
  ["nothing anew behind a summary", [said, answer(general), summary], [general], []],
])("tells %s", (_name, history, notices, untold) => {
  expect(pendingNotices(history, notices)).toEqual(untold);
});
