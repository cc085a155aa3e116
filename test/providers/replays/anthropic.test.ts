/** Recorded streams of Anthropic, byte for byte through the real SDK: exactly these parts, or this failure. */
import { describe, expect, test } from "vitest";
import { replay } from "./replay.js";
import { CUT } from "./replay-server.js";
import { type StreamCase } from "../streams/anthropic/events.js";
import { FAILURE_CASES } from "../streams/anthropic/failures.js";
import { frame, FRAMING_CASES } from "../streams/anthropic/framing.js";
import { SEARCH_CASES } from "../streams/anthropic/search.js";
import { TEXT_CASES, USAGE_CASES } from "../streams/anthropic/text.js";
import { REASONING_CASES, TOOL_CASES } from "../streams/anthropic/tools.js";

const SUITES: Record<string, StreamCase[]> = {
  text: TEXT_CASES,
  usage: USAGE_CASES,
  tools: TOOL_CASES,
  reasoning: REASONING_CASES,
  search: SEARCH_CASES,
  failures: FAILURE_CASES,
};

describe.each(Object.entries(SUITES))("%s", (_, cases) => {
  test.each(cases)("$name", async ({ events, parts, failure }) => {
    const chunks = events.map((event) => (typeof event === "symbol" ? CUT : frame(event)));
    const seen = await replay("anthropic", chunks);
    expect(seen).toEqual({
      parts,
      failure: failure === undefined ? undefined : expect.objectContaining(failure),
    });
  });
});

describe("framing", () => {
  test.each(FRAMING_CASES)("$name", async ({ chunks, parts, failure }) => {
    const seen = await replay("anthropic", chunks);
    expect(seen).toEqual({
      parts,
      failure: failure === undefined ? undefined : expect.objectContaining(failure),
    });
  });
});
