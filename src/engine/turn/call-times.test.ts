import { expect, test } from "vitest";
import { ManualClock } from "../../../test/agent/manual-clock.js";
import type { ModelStreamPart } from "../../providers/types.js";
import { CallTimes } from "./call-times.js";

const called = (toolCallId: string): ModelStreamPart => ({
  type: "tool-call",
  toolCallId,
  toolName: "web_search",
  arguments: {},
});
const answered = (toolCallId: string): ModelStreamPart => ({
  type: "tool-result",
  toolCallId,
  toolName: "web_search",
  result: [],
  isError: false,
  isProviderExecuted: true,
});

test("a call begins with its first request, and a vendor's result has its duration", () => {
  const clock = new ManualClock();
  const times = new CallTimes(clock);
  const startedAt = clock.now();
  expect(times.stamp(called("a"))).toEqual({ ...called("a"), startedAt });
  clock.advance(30);
  expect(times.stamp(called("a"))).toEqual({ ...called("a"), startedAt });
  expect(times.stamp(answered("a"))).toEqual({ ...answered("a"), startedAt, durationMs: 30 });
  expect(
    [answered("unknown"), { type: "text-delta" as const, text: "a" }].map((part) => times.stamp(part)),
  ).toEqual([answered("unknown"), { type: "text-delta", text: "a" }]);
});
