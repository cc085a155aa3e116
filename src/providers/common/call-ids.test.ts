import { describe, expect, test } from "vitest";
import {
  AnswerCallIds,
  newCallId,
  nineCharacterId,
  sanitizeToolCallId,
  requiresNineCharacterIds,
} from "./call-ids.js";

describe("an id on its way to a vendor", () => {
  test.each(["ok-1_A", "x".repeat(40), newCallId()])("%s stays", (id) => {
    expect(sanitizeToolCallId(id, 40)).toBe(id);
  });

  test.each(["", " ", "a b/c", "é", "x".repeat(41), `call_${"x".repeat(99)}`, "\0\uD83D"])(
    "%j becomes a legal one, the same each time",
    (id) => {
      for (const limit of [40, 64]) {
        if (id.length > 1 && id.length <= limit && /^[\w-]+$/.test(id)) continue;
        const legal = sanitizeToolCallId(id, limit);
        expect(legal).toMatch(/^[a-zA-Z0-9_-]+$/);
        expect(legal.length).toBeLessThanOrEqual(limit);
        expect(sanitizeToolCallId(id, limit)).toBe(legal);
        // A legal id stays as it is.
        expect(sanitizeToolCallId(legal, limit)).toBe(legal);
      }
    },
  );

  test("two that look alike stay apart", () => {
    const ids = ["a.b", "a_b", "a/b", "x".repeat(98), "x".repeat(99), "", "_"];
    expect(new Set(ids.map((id) => sanitizeToolCallId(id, 40))).size).toBe(ids.length);
  });

  test("Mistral's models get nine letters and digits", () => {
    const ids = ["abcDEF123", "call_1", "call_2", "", newCallId()].map(nineCharacterId);
    expect(ids[0]).toBe("abcDEF123");
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9]{9}$/);
    expect(new Set(ids).size).toBe(ids.length);
    const words = "Tool call id was call_0fypS1hVX but must be a-z, A-Z, 0-9, with a length of 9.";
    expect([new Error(words), new Error("no"), words].map(requiresNineCharacterIds)).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe("the ids of an answer", () => {
  test("the second call with an id, and one without, get one of ours", () => {
    const ids = new AnswerCallIds();
    const taken = ["a", "a", "", undefined, 7, "b", "x".repeat(2_000)].map((input) => ids.take(input));
    const ours = expect.stringMatching(/^call_[0-9a-f]{32}$/) as unknown;
    expect(taken).toEqual(["a", ours, ours, ours, ours, "b", ours]);
    expect(new Set(taken).size).toBe(taken.length);
  });
});
