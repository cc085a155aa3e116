import { expect, test } from "vitest";
import { unknownBranch, type PullRequestState } from "./branch-facts.js";
import { failureOf, groupByToken, type PollOutcome, nextPollDelayMs } from "./diff-status.js";
import type { GitHostFailure } from "./git-hosts.js";

const NOW = 1_000_000;
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const LONG_AGO = 60 * MINUTE;

const alone: PollOutcome = { kind: "seen", facts: unknownBranch("hello") };
const withPull = (state: PullRequestState): PollOutcome => ({
  kind: "seen",
  facts: {
    ...unknownBranch("hello"),
    pullRequest: {
      number: 7,
      title: "",
      state,
      isDraft: false,
      hasChangesRequested: false,
      authorLogin: null,
    },
  },
});
const failed = (failure: Partial<GitHostFailure> & Pick<GitHostFailure, "kind">): PollOutcome => ({
  kind: "failed",
  failure: { retryAt: null, message: "", ...failure } as GitHostFailure,
});

test.each<[string, PollOutcome, number, number]>([
  ["an open pull request", withPull("open"), LONG_AGO, 2 * MINUTE],
  ["one whose push is under way", withPull("open"), 10 * SECOND, 15 * SECOND],
  ["one whose push has settled", withPull("open"), 30 * SECOND, 2 * MINUTE],
  ["a merged one", withPull("merged"), LONG_AGO, 30 * MINUTE],
  ["a closed one", withPull("closed"), LONG_AGO, 30 * MINUTE],
  ["a branch just pushed", alone, 2 * MINUTE - 1, 15 * SECOND],
  ["a branch without a pull request for two minutes", alone, 2 * MINUTE, 5 * MINUTE],
  ["no token", { kind: "no-token" }, 0, 10 * MINUTE],
  ["no host", { kind: "no-host" }, 0, 10 * MINUTE],
  ["a token that was taken back", failed({ kind: "unauthorized" }), 0, 10 * MINUTE],
  ["an error of the host", failed({ kind: "failed" }), 0, 2 * MINUTE],
  ["a project that is not there", failed({ kind: "not-found" }), 0, 2 * MINUTE],
  ["a rate limit", failed({ kind: "rate-limited", retryAt: NOW + MINUTE }), 0, 6 * MINUTE],
  ["a rate limit without a word", failed({ kind: "rate-limited" }), 0, 5 * MINUTE],
  ["one that is over", failed({ kind: "rate-limited", retryAt: NOW - MINUTE }), 0, 5 * MINUTE],
  ["one for years", failed({ kind: "rate-limited", retryAt: NOW * 1_000_000 }), 0, 65 * MINUTE],
])("%s is polled again in time", (_, outcome, sinceMarkedMs, expected) => {
  expect(nextPollDelayMs(outcome, sinceMarkedMs, NOW)).toBe(expected);
});

test("a failure is stored as its kind", () => {
  expect([alone, { kind: "no-token" } as const, failed({ kind: "rate-limited" })].map(failureOf)).toEqual([
    null,
    "no-token",
    "rate-limited",
  ]);
});

test("one owner's polls of one origin are grouped, in their order", () => {
  const poll = (ownerId: string, remoteOrigin: string, chatId: number) => ({ ownerId, remoteOrigin, chatId });
  const polls = [poll("ada", "a", 1), poll("bob", "a", 2), poll("ada", "b", 3), poll("ada", "a", 4)];
  expect(groupByToken(polls).map((group) => group.map(({ chatId }) => chatId))).toEqual([[1, 4], [2], [3]]);
});
