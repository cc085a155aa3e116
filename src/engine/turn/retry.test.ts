import { expect, test } from "vitest";
import type { ChatFailure } from "../../domain/common/failures.js";
import { MAX_ATTEMPTS_PER_STEP } from "../../domain/common/limits.js";
import { retryDelay } from "./retry.js";

const busy: ChatFailure = { kind: "overloaded", message: "Busy.", isRetryable: true };
const misdirected: ChatFailure = { kind: "config", message: "Nothing there.", isRetryable: true };
const refused: ChatFailure = { kind: "auth", message: "No.", isRetryable: false };

type Case = [
  string,
  ChatFailure,
  attempt: number,
  retryAfterMs: number | undefined,
  random: number,
  number | null,
];
const cases: Case[] = [
  ["a permanent failure is not retried", refused, 1, undefined, 0, null],
  ["not even with a retry-after", refused, 1, 1_000, 0, null],
  ["the first delay is at least half a second", busy, 1, undefined, 0, 500],
  ["and at most one", busy, 1, undefined, 0.9999, 1_000],
  ["then twice as long", busy, 2, undefined, 0, 1_000],
  ["and again", busy, 3, undefined, 0.5, 3_000],
  ["up to a minute", busy, 7, undefined, 0.9999, 59_997],
  ["never more", busy, MAX_ATTEMPTS_PER_STEP - 1, undefined, 0.9999, 59_997],
  ["the vendor's retry-after is a lower bound", busy, 1, 20_000, 0.5, 20_000],
  ["which a longer delay of our own satisfies", busy, 6, 1_000, 0, 16_000],
  ["a retry-after of zero changes nothing", busy, 1, 0, 0, 500],
  ["a retry-after of five minutes is honoured", busy, 1, 300_000, 0, 300_000],
  ["a longer one fails the turn", busy, 1, 300_001, 0, null],
  ["the last attempt has no retry", busy, MAX_ATTEMPTS_PER_STEP, undefined, 0, null],
  ["a wrong address is tried a second time", misdirected, 1, undefined, 0, 500],
  ["and a third", misdirected, 2, undefined, 0, 1_000],
  ["and no more", misdirected, 3, undefined, 0, null],
  ["and nothing comes after it", busy, 1_000_000, undefined, 0, null],
];

test.each(cases)("%s", (_name, failure, attempt, retryAfterMs, random, delayMs) => {
  expect(retryDelay(failure, attempt, retryAfterMs, random)).toBe(delayMs);
});
