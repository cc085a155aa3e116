// Validation of model providers: decision tables.
import { expect, test } from "vitest";
import { MODEL_PROVIDER_KINDS } from "../common/failures.js";
import { planNewProvider, planProviderChange, type ProviderSetup } from "./model-provider-rules.js";

const BEFORE: ProviderSetup = {
  kind: "openai",
  displayName: "P",
  baseUrl: "https://one.example/v1",
  openaiApi: "responses",
  keyPolicy: "deployment",
  isEnabled: true,
  allowsPrivateAddresses: false,
};

test.each(MODEL_PROVIDER_KINDS)("%s needs an address only where the vendor has none", (kind) => {
  const planned = planNewProvider({ kind, displayName: "P" });
  const needsOne = kind === "openai_compatible" || kind === "azure_openai";
  expect(planned.ok ? [] : planned.problems.map(({ path }) => path)).toEqual(needsOne ? [["baseUrl"]] : []);
});

test("compatible servers speak chat completions by default", () => {
  const formats = MODEL_PROVIDER_KINDS.map((kind) => {
    const planned = planNewProvider({ kind, displayName: "P", baseUrl: "https://one.example/" });
    return planned.ok && planned.setup.openaiApi === "chat" ? [kind] : [];
  });
  expect(formats.flat()).toEqual(["openai_compatible"]);
});

const KEEP = { apiKey: undefined };
// from, to, has a stored key, change of the key → has moved, or the field at fault
test.each<[string | null, string | null | undefined, boolean, object, boolean | string]>([
  ["https://one.example/v1", undefined, true, KEEP, false],
  ["https://one.example/v1", "https://one.example/v2", true, KEEP, false],
  ["https://one.example/v1", "https://ONE.example:443/", true, KEEP, false],
  ["https://one.example/v1", "http://one.example/v1", true, KEEP, "apiKey"],
  ["https://one.example/v1", "https://one.example:8443/", true, KEEP, "apiKey"],
  ["https://one.example/v1", "https://two.example/", true, KEEP, "apiKey"],
  ["https://one.example/v1", "https://two.example/", true, { apiKey: { set: "new" } }, true],
  ["https://one.example/v1", "https://two.example/", true, { apiKey: { clear: true } }, true],
  ["https://one.example/v1", "https://two.example/", false, KEEP, true],
  ["https://one.example/v1", null, true, KEEP, "apiKey"],
  [null, "https://two.example/", true, KEEP, "apiKey"],
  [null, null, true, KEEP, false],
])("from %s to %s, key stored %s, %j: %s", (from, to, hasKey, change, expected) => {
  const planned = planProviderChange(
    { setup: { ...BEFORE, baseUrl: from }, hasKey },
    { baseUrl: to, ...change },
  );
  const outcome = planned.ok ? planned.hasMoved : planned.problems.map(({ path }) => path.join(".")).join();
  expect(outcome).toBe(expected);
});

test.each<[object, unknown]>([
  [{}, "keep"],
  [{ apiKey: null }, "clear"],
  [{ apiKey: { clear: true } }, "clear"],
  [{ apiKey: { set: " k " } }, { set: "k" }],
])("%j of a key is %j", (change, expected) => {
  const planned = planProviderChange({ setup: BEFORE, hasKey: true }, change);
  expect(planned.ok && planned.key).toEqual(expected);
});
