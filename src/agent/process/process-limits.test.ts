import { expect, test } from "vitest";
import { type LivingProcess, refuseStart } from "./process-limits.js";

const living = (chatId: string | undefined, userId: string | undefined, count: number): LivingProcess[] =>
  Array.from({ length: count }, (_, index) => ({
    ...{ id: `${chatId}-${index}`, command: `sleep  ${index}\n`, chatId, userId, isRunning: index % 2 === 0 },
  }));

const LIMITS = { perChat: 3, perUser: 4 };

test.each([
  ["one more than none", living("a", "u", 0), undefined],
  ["the last one", living("a", "u", 2), undefined],
  [
    "one more than a chat may",
    living("a", "u", 3),
    "This chat runs 3 processes already, as many as one chat may: a-2 (sleep 2), a-1 (children of sleep 1), a-0 (sleep 0).",
  ],
  ["what other chats run", [...living("b", "v", 9), ...living(undefined, undefined, 9)], undefined],
  [
    "one more than a user may, none of them this chat's",
    living("b", "u", 4),
    "The chats of this user run 4 processes in this workspace already, as many as one user may; none of them is this chat's.",
  ],
  [
    "one more than a user may",
    [...living("b", "u", 3), ...living("a", "u", 1)],
    "The chats of this user run 4 processes in this workspace already, as many as one user may; this chat's are a-0 (sleep 0).",
  ],
])("%s", (_name, processes, refusal) => {
  expect(refuseStart(processes, { chatId: "a", userId: "u" }, LIMITS)).toBe(refusal);
});

test("without a chat, without a user and with limits of 0 nothing is refused", () => {
  const many = living("a", "u", 50);
  expect([
    refuseStart(many, { chatId: undefined, userId: undefined }, LIMITS),
    refuseStart(living("b", undefined, 50), { chatId: "a", userId: undefined }, LIMITS),
    refuseStart(many, { chatId: "a", userId: "u" }, { perChat: 0, perUser: 0 }),
  ]).toEqual([undefined, undefined, undefined]);
});

test("of many processes ten are named, the newest first, each by the beginning of its command", () => {
  const [first, ...others] = living("a", "u", 12).toReversed();
  const long = { ...first, command: "x".repeat(500) } as LivingProcess;
  const text = refuseStart(
    [...others.toReversed(), long],
    { chatId: "a", userId: "u" },
    { perChat: 12, perUser: 0 },
  );
  expect(text).toMatch(
    /^This chat runs 12 processes already, as many as one chat may: a-11 \(children of x{1,80}…?\)/,
  );
  expect(text).toMatch(/ a-2 \(sleep 2\) and 2 more\.$/);
});
