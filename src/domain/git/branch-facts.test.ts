import { expect, test } from "vitest";
import { type BranchFacts, hasChangesRequested, haveSameFacts, unknownBranch } from "./branch-facts.js";

test.each<[string, string[], boolean]>([
  ["there are no reviews", [], false],
  ["one approves", ["ada APPROVED"], false],
  ["one wants changes", ["ada APPROVED", "bob CHANGES_REQUESTED"], true],
  ["they are content later", ["bob CHANGES_REQUESTED", "bob APPROVED"], false],
  ["they are not any more", ["bob APPROVED", "bob CHANGES_REQUESTED"], true],
  ["it was dismissed", ["bob CHANGES_REQUESTED", "bob DISMISSED"], false],
  ["a comment takes nothing back", ["bob CHANGES_REQUESTED", "bob COMMENTED", "bob PENDING"], true],
  ["another reviewer approves", ["bob CHANGES_REQUESTED", "ada APPROVED"], true],
])("changes are requested when %s: %j → %s", (_, texts, expected) => {
  const reviews = texts.map((it) => {
    const [reviewer = "", state = ""] = it.split(" ");
    return { reviewer, state };
  });
  expect(hasChangesRequested(reviews)).toBe(expected);
});

const pullRequest = {
  ...{ number: 7, title: "Say hello", state: "open" as const, isDraft: false },
  ...{ hasChangesRequested: false, authorLogin: "ada" },
};
const facts: BranchFacts = { ...unknownBranch("hello"), additions: 3, pullRequest };

test.each<[string, BranchFacts | null, BranchFacts | null, boolean]>([
  ["the same", facts, { ...facts, pullRequest: { ...pullRequest } }, true],
  ["nothing and nothing", null, null, true],
  ["nothing and something", null, facts, false],
  ["another number", facts, { ...facts, additions: 4 }, false],
  ["a pull request that came", { ...facts, pullRequest: null }, facts, false],
  ["a review", facts, { ...facts, pullRequest: { ...pullRequest, hasChangesRequested: true } }, false],
  ["no pull request, both", { ...facts, pullRequest: null }, { ...facts, pullRequest: null }, true],
])("the displayed facts are the same: %s", (_, a, b, expected) => {
  expect(haveSameFacts(a, b)).toBe(expected);
});
