import { expect, test } from "vitest";
import type { MessagePart, NoticePart } from "../../domain/chats/message-parts.js";
import { pendingNotices } from "./pending-notices.js";

const about = (mcpServerId: string, text = "It is away."): NoticePart => ({
  ...{ type: "notice", level: "warning", text, mcpServerId },
});
const general: NoticePart = { type: "notice", level: "warning", text: "Too many tools." };
const userMessage = { role: "user" as const, authorId: "ada", parts: [] };
const summary = { role: "user" as const, authorId: null, parts: [] };
const answer = (...parts: MessagePart[]) => ({ role: "assistant" as const, authorId: null, parts });

test.each([
  ["everything at the beginning of a turn", [userMessage], [about("a"), general], [about("a"), general]],
  [
    "nothing twice in a turn",
    [userMessage, answer(about("a")), answer()],
    [about("a"), about("b")],
    [about("b")],
  ],
  [
    "one of a server, whatever else is the matter with it",
    [userMessage, answer(about("a"))],
    [about("a", "Other.")],
    [],
  ],
  ["of two about one server the first", [userMessage], [about("a"), about("a", "Other.")], [about("a")]],
  [
    "again in the next turn",
    [userMessage, answer(about("a"), general), userMessage],
    [about("a"), general],
    [about("a"), general],
  ],
  ["nothing again behind a summary", [userMessage, answer(general), summary], [general], []],
])("shows %s", (_name, history, notices, pending) => {
  expect(pendingNotices(history, notices)).toEqual(pending);
});
