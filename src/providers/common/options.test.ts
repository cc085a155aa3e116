/** The message when the options of a model's configuration are wrong. */
import { expect, test } from "vitest";
import { z } from "zod";
import { ModelCallError } from "../../domain/common/failures.js";
import type { JsonObject } from "../../domain/common/json.js";
import { parseOptions, webSearchSchema } from "./options.js";

const settings = { kind: "openai" as const, displayName: "Acme" };
const schema = z.strictObject({
  temperature: z.number().optional(),
  webSearch: webSearchSchema.omit({ maxUses: true }).optional(),
});

function failureOf(options: JsonObject) {
  try {
    parseOptions(schema, options, settings);
  } catch (error) {
    if (error instanceof ModelCallError) return error.failure;
  }
  return undefined;
}

test("options that a vendor knows come back as they are, and none are none", () => {
  const options = { temperature: 0.5, webSearch: { allowedDomains: ["example.com"], contextSize: "low" } };
  expect(parseOptions(schema, options, settings)).toEqual(options);
  expect(parseOptions(schema, undefined, settings)).toEqual({});
});

test("an option that the vendor does not know is refused by name", () => {
  expect(failureOf({ temprature: 1 })).toEqual({
    kind: "config",
    message: "Acme cannot be called with this model's options: `temprature`: there is no such option.",
    provider: "openai",
    isRetryable: false,
  });
});

test("a search setting that the vendor does not have is refused with its place", () => {
  expect(failureOf({ webSearch: { maxUses: 3 } })?.message).toContain(
    "`webSearch.maxUses`: there is no such option",
  );
});

test("a value of the wrong type is named, but never shown", () => {
  const message = failureOf({ temperature: "sk-very-secret" })?.message;
  expect(message).toContain("`temperature`: ");
  expect(message).not.toContain("secret");
});

test("many and long problems still make a short message", () => {
  const options = Object.fromEntries(
    Array.from({ length: 50 }, (_, index) => [`${index}`.padEnd(5_000, "x"), 1]),
  );
  const message = failureOf(options)?.message ?? "";
  expect(message.length).toBeLessThan(1_000);
  expect(message).toMatch(/; …\.$/);
});
