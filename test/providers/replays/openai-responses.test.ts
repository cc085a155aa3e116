/** Recorded streams of the Responses API, byte for byte through the real SDK: exactly these parts, or this failure. */
import { describe, expect, test } from "vitest";
import { ModelCallError } from "../../../src/domain/common/failures.js";
import { expectReplay, replay, type ReplayCase } from "./openai-replay.js";
import { RESPONSES_ENDING_CASES } from "../streams/openai/responses-endings.js";
import { RESPONSES_SEARCH_CASES } from "../streams/openai/responses-search.js";
import { RESPONSES_CASES } from "../streams/openai/responses.js";

describe("a stream of the Responses API with", () => {
  test.each([...RESPONSES_CASES, ...RESPONSES_ENDING_CASES, ...RESPONSES_SEARCH_CASES])(
    "$name",
    async (input) => {
      await expectReplay(input, "responses");
    },
  );
});

test("a prompt that is too long is refused with the model's limit", async () => {
  const message =
    "This model's maximum context length is 128000 tokens. However, you requested 130000 tokens.";
  const body = {
    error: { message, type: "invalid_request_error", param: "input", code: "context_length_exceeded" },
  };
  const input: ReplayCase = {
    name: "too long",
    status: 400,
    headers: { "content-type": "application/json" },
    chunks: [JSON.stringify(body)],
    parts: [],
  };
  const { error } = await replay(input, "responses");
  expect(error).toBeInstanceOf(ModelCallError);
  expect(error).toMatchObject({
    contextLimit: 128_000,
    failure: { kind: "context_too_large", detail: message },
  });
});
