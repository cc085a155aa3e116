/** A Claude model's options: as sent to Anthropic and Bedrock, or refused. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/domain/common/json.js";
import { bodyOf, historyOf, MARK, send } from "./anthropic-histories.js";

test("the tools, the system prompt and the last two messages are marked for the cache, or nothing is", async () => {
  const { request } = historyOf("tools");
  const marked = await bodyOf({ ...request, options: { webSearch: {} } });
  expect(JSON.stringify(marked).split('"cache_control"')).toHaveLength(5);
  expect(marked.tools).toMatchObject([
    { name: "execute" },
    { name: "process_list", ...MARK },
    { name: "web_search" },
  ]);
  const plain = await bodyOf({ ...request, options: { promptCaching: "off" } });
  expect(JSON.stringify(plain)).not.toContain("cache_control");
});

test("the options reach the vendor as it names them", async () => {
  const { request } = historyOf("tools");
  const { body, headers, path } = await send("anthropic", {
    ...request,
    model: "claude-sonnet-4-6",
    options: {
      effort: "medium",
      temperature: 0.3,
      topK: 5,
      stopSequences: ["END"],
      serviceTier: "standard_only",
      betas: ["one-beta", "two-beta"],
      disableParallelToolUse: true,
      webSearch: { blockedDomains: ["example.com"], maxUses: 2 },
    },
  });
  expect(path).toBe("/v1/messages");
  expect(headers?.["anthropic-beta"]).toBe("one-beta,two-beta");
  expect(body).toMatchObject({
    output_config: { effort: "medium" },
    temperature: 0.3,
    top_k: 5,
    stop_sequences: ["END"],
    service_tier: "standard_only",
    tool_choice: { type: "auto", disable_parallel_tool_use: true },
  });
  expect((body.tools as unknown[]).at(-1)).toEqual({
    type: "web_search_20250305",
    name: "web_search",
    blocked_domains: ["example.com"],
    max_uses: 2,
  });
});

test("an answer that is sampled in a certain way asks for the version of the API that still knows how", async () => {
  const { request } = historyOf("plain");
  const versionOf = async (options: JsonObject) =>
    (await send("anthropic", { ...request, model: "claude-sonnet-4-6", options })).headers?.[
      "anthropic-version"
    ];
  expect(await versionOf({})).not.toBe("2023-06-01");
  expect(await versionOf({ temperature: 0 })).toBe("2023-06-01");
  expect(await versionOf({ topP: 0.5 })).toBe("2023-06-01");
  expect(await versionOf({ topK: 5 })).toBe("2023-06-01");
});

test("tools that may not be called stay in the prompt", async () => {
  const { request } = historyOf("tools");
  const body = await bodyOf({ ...request, toolChoice: "none", options: { disableParallelToolUse: true } });
  expect(body).toMatchObject({ tool_choice: { type: "none" }, tools: [{}, {}] });
});

test("thinking that stays here is not asked for in the middle of a turn", async () => {
  const { request } = historyOf("reasoning, and tools behind it");
  const body = await bodyOf({
    ...request,
    model: "claude-opus-4-5",
    reasoningEffort: "low",
    options: { sendReasoning: false },
  });
  expect(JSON.stringify(body.messages)).not.toContain("thinking");
  expect(body.thinking).toBeUndefined();
});

describe("options that the vendor does not have are named", () => {
  test.each([
    ["anthropic", { topp: 1 }, "topp"],
    ["anthropic", { webSearch: { contextSize: "low" } }, "webSearch.contextSize"],
    ["anthropic", { webSearch: { allowedDomains: ["a.com"], blockedDomains: ["b.com"] } }, "webSearch"],
    ["anthropic", { thinkingBudgetTokens: 100 }, "thinkingBudgetTokens"],
    ["anthropic", { stopSequences: [" "] }, "stopSequences.0"],
    ["anthropic", { region: "us-east-1" }, "region"],
    ["bedrock", { webSearch: {} }, "webSearch"],
    ["bedrock", { serviceTier: "auto" }, "serviceTier"],
    ["bedrock", { region: "evil.example.com/" }, "region"],
  ] as ["anthropic" | "bedrock", JsonObject, string][])("%s %j", async (kind, options, key) => {
    const { failure, path } = await send(kind, { ...historyOf("plain").request, options });
    expect(failure).toEqual({
      kind: "config",
      isRetryable: false,
      provider: kind,
      message: expect.stringContaining(`\`${key}\``),
    });
    expect(path).toBeUndefined();
  });
});
