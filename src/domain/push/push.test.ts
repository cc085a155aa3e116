import { expect, test } from "vitest";
import { pushMessageOf, subscriptionProblems, type SettledTurn } from "./push.js";

const p256dh = Buffer.concat([Buffer.of(4), Buffer.alloc(64, 1)]).toString("base64url");
const auth = Buffer.alloc(16, 2).toString("base64url");
const GOOD = { endpoint: "https://push.example/abc", p256dh, auth };

test.each([
  ["a browser's own", {}, []],
  ["padded as some browsers do", { auth: `${auth}==` }, []],
  ["an endpoint without encryption", { endpoint: "http://push.example/abc" }, ["endpoint"]],
  ["an endpoint that is no address", { endpoint: "push" }, ["endpoint"]],
  ["an endpoint without end", { endpoint: `https://push.example/${"a".repeat(2_048)}` }, ["endpoint"]],
  ["a compressed point", { p256dh: Buffer.alloc(33, 2).toString("base64url") }, ["p256dh"]],
  ["a point of another kind", { p256dh: Buffer.alloc(65, 2).toString("base64url") }, ["p256dh"]],
  ["a short secret", { auth: Buffer.alloc(15).toString("base64url") }, ["auth"]],
  ["what is no base64url", { p256dh: "ä", auth: "ö" }, ["p256dh", "auth"]],
])("a subscription: %s", (_, change, fields) => {
  const mistakes = subscriptionProblems({ ...GOOD, ...change }, { isPrivateAllowed: false });
  expect(mistakes.map(({ field }) => field)).toEqual(fields);
});

test("a push service in a private network needs no TLS", () => {
  const local = { ...GOOD, endpoint: "http://127.0.0.1:8080/abc" };
  expect(subscriptionProblems(local, { isPrivateAllowed: true })).toEqual([]);
  expect(subscriptionProblems({ ...GOOD, endpoint: "file:///etc" }, { isPrivateAllowed: true })).toHaveLength(
    1,
  );
});

const text = (value: string) => ({ type: "text" as const, text: value });
const failure = { kind: "auth" as const, message: "The vendor refused the key.", isRetryable: false };
const RESTS: [string, SettledTurn, string][] = [
  [
    "the last words",
    { kind: "finished", parts: [text("I look."), text("All is\n\n  well.")] },
    "All is well.",
  ],
  ["no words", { kind: "finished", parts: [text("  ")] }, "The turn has finished."],
  ["a failure", { kind: "failed", failure }, "The vendor refused the key."],
  [
    "questions",
    { kind: "needs-client", toolNames: ["ask", "ask", "pick"] },
    "Waits for an answer to ask, pick.",
  ],
];
test.each(RESTS)("a notification for %s", (_, turn, body) => {
  expect(pushMessageOf({ chatId: "chat_1", title: "Broken build" }, turn)).toEqual({
    title: "Broken build",
    body,
    tag: "chat_1",
    data: {
      chatId: "chat_1",
      kind: { finished: "FINISHED", failed: "FAILED", "needs-client": "NEEDS_CLIENT" }[turn.kind],
    },
  });
});

test("long texts are truncated between graphemes", () => {
  const family = "👨‍👩‍👧‍👦";
  const { title, body } = pushMessageOf(
    { chatId: "chat_1", title: "t".repeat(1_000) },
    { kind: "finished", parts: [text(family.repeat(500))] },
  );
  expect(title).toBe(`${"t".repeat(119)}…`);
  expect(body).toBe(`${family.repeat(16)}…`);
});
