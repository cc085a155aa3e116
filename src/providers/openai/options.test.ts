/** Options of OpenAI's formats by kind of provider, and those refused before anything is sent. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../domain/common/json.js";
import { chatOptionsSchema, responsesOptionsSchema } from "./options.js";
import { parseOptions } from "../common/options.js";

const problemOf = (
  format: "responses" | "chat",
  kind: "openai" | "openai_compatible" | "azure_openai",
  options: JsonObject,
) => {
  const settings = { kind, displayName: "Acme" };
  try {
    if (format === "chat") parseOptions(chatOptionsSchema(settings), options, settings);
    else parseOptions(responsesOptionsSchema(settings), options, settings);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
};

describe("options are refused by name", () => {
  test.each([
    ["responses", "openai", { webSearch: { blockedDomains: ["a.example"] } }, "webSearch.blockedDomains"],
    ["responses", "openai", { webSearch: { maxUses: 1 } }, "webSearch.maxUses"],
    ["responses", "openai", { webSearch: { allowedDomains: [] } }, "webSearch.allowedDomains"],
    ["responses", "openai", { extraBody: {} }, "extraBody"],
    ["responses", "openai", { apiVersion: "preview" }, "apiVersion"],
    ["responses", "azure_openai", { apiVersion: "a b&c=d" }, "apiVersion"],
    ["responses", "openai", { temperature: 3 }, "temperature"],
    ["responses", "openai", { maxToolCalls: 0 }, "maxToolCalls"],
    ["responses", "openai", { serviceTier: "fastest" }, "serviceTier"],
    ["responses", "openai", { store: "yes" }, "store"],
    ["responses", "openai", { metadata: { a: 1 } }, "metadata.a"],
    [
      "responses",
      "openai",
      { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`${i}`, ""])) },
      "metadata",
    ],
    ["responses", "openai", { promptCacheKey: "x".repeat(65) }, "promptCacheKey"],
    ["chat", "openai", { webSearch: {} }, "webSearch"],
    ["chat", "openai", { reasoningSummary: "auto" }, "reasoningSummary"],
    ["chat", "openai", { extraBody: {} }, "extraBody"],
    ["chat", "azure_openai", { acceptsPdfs: true }, "acceptsPdfs"],
    ["chat", "openai_compatible", { extraBody: [] }, "extraBody"],
    ["chat", "openai_compatible", { reasoningEffortStyle: "loud" }, "reasoningEffortStyle"],
  ] as const)("%s of %s: %j", (format, kind, options, key) => {
    expect(problemOf(format, kind, options as unknown as JsonObject)).toContain(`\`${key}\`: `);
  });
});

test.each([
  ["responses", "openai", { store: true, reasoningSummary: "off", webSearch: { contextSize: "low" } }],
  ["responses", "azure_openai", { apiVersion: "2025-04-01-preview", webSearch: {} }],
  ["responses", "openai_compatible", { extraBody: { top_k: 1, nested: { a: [null] } } }],
  ["chat", "openai", { verbosity: "low", topP: 0, store: false }],
  ["chat", "openai_compatible", { replayReasoning: false, acceptsPdfs: true, reasoningEffortStyle: "off" }],
] as const)("%s of %s takes %j", (format, kind, options) => {
  expect(problemOf(format, kind, options as unknown as JsonObject)).toBeUndefined();
});
