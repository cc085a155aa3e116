// Validation of options for each kind of provider, by the adapter's own schema.
import { expect, test } from "vitest";
import type { ModelProviderKind } from "../../domain/common/failures.js";
import type { JsonObject } from "../../domain/common/json.js";
import { validateOptions } from "./validate-options.js";

type Api = "responses" | "chat";

test.each<[ModelProviderKind, Api, JsonObject]>([
  ["anthropic", "responses", { effort: "max", betas: ["x-1"], webSearch: { allowedDomains: ["a.example"] } }],
  ["bedrock", "responses", { region: "eu-central-1", topK: 3 }],
  ["google", "responses", { thinkingBudget: -1, webSearch: {} }],
  ["openai", "responses", { reasoningSummary: "auto", webSearch: { contextSize: "low" } }],
  ["openai", "chat", { verbosity: "low", metadata: { team: "core" } }],
  ["openai_compatible", "chat", { extraBody: { top_k: 1 }, replayReasoning: false }],
  ["openai_compatible", "responses", { extraBody: { nested: [null] } }],
  ["azure_openai", "chat", { apiVersion: "2025-04-01-preview" }],
])("%s by %s takes %j", (kind, openaiApi, options) => {
  expect(validateOptions({ kind, openaiApi }, options)).toEqual([]);
});

test.each<[ModelProviderKind, Api, JsonObject, string[]]>([
  ["anthropic", "responses", { temprature: 1 }, ["temprature"]],
  ["anthropic", "responses", { webSearch: { contextSize: "low" } }, ["webSearch.contextSize"]],
  ["anthropic", "responses", { reasoningSummary: "auto", topP: 2 }, ["topP", "reasoningSummary"]],
  ["bedrock", "responses", { webSearch: {} }, ["webSearch"]],
  ["bedrock", "responses", { region: "nowhere" }, ["region"]],
  [
    "google",
    "responses",
    { safetySettings: [{ category: "X", threshold: "OFF" }] },
    ["safetySettings.0.category"],
  ],
  ["openai", "chat", { webSearch: {} }, ["webSearch"]],
  ["openai", "responses", { extraBody: {} }, ["extraBody"]],
  ["openai_compatible", "responses", { acceptsPdfs: true }, ["acceptsPdfs"]],
  ["openai_compatible", "chat", { metadata: { a: 1 } }, ["metadata.a"]],
  ["azure_openai", "responses", { apiVersion: "a b" }, ["apiVersion"]],
])("%s by %s does not take %j", (kind, openaiApi, options, expectedPaths) => {
  const found = validateOptions({ kind, openaiApi }, options);
  expect(found.map(({ path }) => path.join("."))).toEqual(expectedPaths);
});

test("no value is ever reported, and of very many problems the first ones", () => {
  const wrong = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`k${index}`, "s3cret"]));
  const found = validateOptions({ kind: "anthropic", openaiApi: "responses" }, { ...wrong, topK: "s3cret" });
  expect([found.length, JSON.stringify(found).includes("s3cret")]).toEqual([20, false]);
});
