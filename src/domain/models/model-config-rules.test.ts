// Validation of model configurations, and of the default: decision tables.
import { describe, expect, test } from "vitest";
import { type ModelSetup, planDefault, planModelChange, planNewModel } from "./model-config-rules.js";

const takesAll = () => [];
const BEFORE: ModelSetup = {
  model: "m",
  displayName: "M",
  contextLimit: 1_000,
  compactionThresholdPercent: 70,
  maxOutputTokens: 100,
  providerOptions: { old: true },
  pricing: { input: "1", output: "2", cacheRead: null, cacheWrite: null },
  isEnabled: true,
};

describe("the default", () => {
  const STAYS = "stays";
  const BECOMES = "becomes";
  // is default now, requested, will be enabled, provider is enabled → becomes default, or the field at fault
  test.each<[boolean, boolean | undefined, boolean, boolean, string]>([
    [false, undefined, true, true, STAYS],
    [false, undefined, false, true, STAYS],
    [false, false, true, true, STAYS],
    [false, true, true, true, BECOMES],
    [false, true, false, true, "isDefault"],
    [false, true, true, false, "isDefault"],
    [true, undefined, true, true, STAYS],
    [true, true, true, true, STAYS],
    [true, false, true, true, "isDefault"],
    [true, undefined, false, true, "isEnabled"],
    [true, true, false, true, "isEnabled"],
  ])(
    "is it %s, asked %s, enabled %s, provider %s: %s",
    (isDefault, wanted, isEnabled, isProviderEnabled, expected) => {
      const planned = planDefault({ isDefault, wanted, isEnabled, isProviderEnabled });
      const outcome = planned.ok
        ? planned.becomesDefault
          ? BECOMES
          : STAYS
        : planned.problem.path.join(".");
      expect(outcome).toBe(expected);
    },
  );
});

test("absent fields stay, and null clears optional ones", () => {
  expect(planModelChange(BEFORE, {}, takesAll)).toEqual({ ok: true, setup: BEFORE });
  const cleared = { contextLimit: null, maxOutputTokens: null, providerOptions: null, pricing: null };
  expect(planModelChange(BEFORE, cleared, takesAll)).toEqual({
    ok: true,
    setup: { ...BEFORE, ...cleared, providerOptions: {} },
  });
});

test("unchanged options are not validated again; new ones are, with the path of each problem", () => {
  const judge = () => [{ message: "no", path: ["a", "0"] }];
  expect(planModelChange(BEFORE, { displayName: "N" }, judge).ok).toBe(true);
  expect(planModelChange(BEFORE, { providerOptions: { a: [1] } }, judge)).toEqual({
    ok: false,
    problems: [{ message: "no", path: ["providerOptions", "a", "0"] }],
  });
});

test.each<[object, string]>([
  [{ contextLimit: 0 }, "contextLimit"],
  [{ contextLimit: 100_000_001 }, "contextLimit"],
  [{ contextLimit: 1.5 }, "contextLimit"],
  [{ contextLimit: 100 }, "contextLimit"],
  [{ maxOutputTokens: 0 }, "maxOutputTokens"],
  [{ maxOutputTokens: 1_000 }, "maxOutputTokens"],
  [{ compactionThresholdPercent: -1 }, "compactionThresholdPercent"],
  [{ compactionThresholdPercent: 101 }, "compactionThresholdPercent"],
  [{ displayName: null }, "displayName"],
  [{ isDefault: null }, "isDefault"],
  [{ displayName: "\u0000" }, "displayName"],
])("%j is refused at %s", (change, field) => {
  const planned = planModelChange(BEFORE, change, takesAll);
  expect(planned.ok ? [] : planned.problems.map(({ path }) => path.join("."))).toEqual([field]);
});

test.each([0, 100])("a threshold of %i is one", (compactionThresholdPercent) => {
  expect(planModelChange(BEFORE, { compactionThresholdPercent }, takesAll).ok).toBe(true);
});

test("a new model takes defaults from the table of known models", () => {
  const wanted = { model: "gpt-5", displayName: "GPT" };
  expect(planNewModel("openai", wanted, takesAll)).toMatchObject({
    setup: {
      contextLimit: 400_000,
      pricing: { input: "1.25" },
      compactionThresholdPercent: 70,
      isEnabled: true,
    },
  });
  expect(planNewModel("azure_openai", wanted, takesAll)).toMatchObject({
    setup: { contextLimit: 400_000, pricing: null },
  });
  expect(planNewModel("openai", { ...wanted, contextLimit: null, pricing: null }, takesAll)).toMatchObject({
    setup: { contextLimit: null, pricing: null },
  });
});
