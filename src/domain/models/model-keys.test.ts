// Selection of the API key: decision table.
import { expect, test } from "vitest";
import { chooseKey, goesWithoutKey, type KeySource, keyVariableOf, type KeyPolicy } from "./model-keys.js";

const OURS = "ours";
const THEIRS = "theirs";

test.each<[KeyPolicy, boolean, string | null, string | null, string]>([
  // policy, may go without, the deployment's key, the user's key → the key sent, or whose is missing
  ["deployment", false, OURS, THEIRS, "ours"],
  ["deployment", false, null, THEIRS, "missing deployment"],
  ["deployment", true, null, THEIRS, "none"],
  ["user", false, OURS, THEIRS, "theirs"],
  ["user", false, OURS, null, "missing user"],
  ["user", true, null, null, "missing user"],
  ["user_then_deployment", false, OURS, THEIRS, "theirs"],
  ["user_then_deployment", false, OURS, null, "ours"],
  ["user_then_deployment", false, null, null, "missing user"],
  ["user_then_deployment", true, null, null, "none"],
])("%s, without a key %s, with %s and %s: %s", (policy, mayGoWithout, deployment, user, expected) => {
  const choice = chooseKey(policy, mayGoWithout, { deployment, user });
  expect(choice.ok ? choice.key || "none" : `missing ${choice.missing}`).toBe(expected);
});

const SOURCE: KeySource = {
  kind: "openai",
  baseUrl: null,
  apiKeyVariable: null,
  isAddressOwn: true,
  isDemo: false,
};

test.each<[string, Partial<KeySource>, boolean]>([
  ["a vendor's own address", {}, false],
  ["a server with an address of its own", { baseUrl: "http://127.0.0.1:1/" }, true],
  ["Bedrock, whose calls the machine signs", { kind: "bedrock" }, true],
  ["Azure", { kind: "azure_openai", baseUrl: "https://azure.example/" }, false],
  ["the demo model", { isDemo: true }, true],
  [
    "a provider whose key the environment is to give",
    { apiKeyVariable: "OPENAI_API_KEY", isAddressOwn: false, baseUrl: "http://127.0.0.1:1/" },
    false,
  ],
  [
    "such a provider that an admin has pointed elsewhere",
    { apiKeyVariable: "OPENAI_API_KEY", baseUrl: "http://127.0.0.1:1/" },
    true,
  ],
])("%s may be called without a key: %j is %s", (_name, source, expected) => {
  expect(goesWithoutKey({ ...SOURCE, ...source })).toBe(expected);
});

test("the environment's key is used only with the environment's address", () => {
  const source = { ...SOURCE, apiKeyVariable: "OPENAI_API_KEY" };
  expect([keyVariableOf({ ...source, isAddressOwn: false }), keyVariableOf(source)]).toEqual([
    "OPENAI_API_KEY",
    null,
  ]);
});
