import { expect, test } from "vitest";
import {
  changedDeployment,
  type DeploymentChange,
  MAX_ACQUIRE_BATCH_SIZE,
  MAX_SYSTEM_PROMPT_BYTES,
  MAX_WORKSPACE_TTL_MS,
  problemsOfDeployment,
  UNSET_DEPLOYMENT,
} from "./deployment-rules.js";

test.each<[string, DeploymentChange, string[]]>([
  ["nothing", {}, []],
  [
    "what is unset",
    { systemPrompt: "", workspaceTtlMs: null, isDesktopEnabled: false, acquireBatchSize: null },
    [],
  ],
  ["the longest prompt", { systemPrompt: "ä".repeat(MAX_SYSTEM_PROMPT_BYTES / 2) }, []],
  [
    "a prompt one byte longer",
    { systemPrompt: `${"ä".repeat(MAX_SYSTEM_PROMPT_BYTES / 2)}x` },
    ["systemPrompt"],
  ],
  ["the least", { workspaceTtlMs: 1n, acquireBatchSize: 1 }, []],
  [
    "the most",
    { workspaceTtlMs: BigInt(MAX_WORKSPACE_TTL_MS), acquireBatchSize: MAX_ACQUIRE_BATCH_SIZE },
    [],
  ],
  ["zeros", { workspaceTtlMs: 0n, acquireBatchSize: 0 }, ["workspaceTtlMs", "acquireBatchSize"]],
  ["less than zero", { workspaceTtlMs: -1n, acquireBatchSize: -1 }, ["workspaceTtlMs", "acquireBatchSize"]],
  [
    "too much",
    { workspaceTtlMs: 2n ** 63n - 1n, acquireBatchSize: MAX_ACQUIRE_BATCH_SIZE + 1 },
    ["workspaceTtlMs", "acquireBatchSize"],
  ],
])("%s is refused only for invalid values, by field", (_what, change, fields) => {
  expect(problemsOfDeployment(change).map(({ path }) => path)).toEqual(fields.map((field) => [field]));
});

test("absent fields stay, and null clears", () => {
  const set = changedDeployment(UNSET_DEPLOYMENT, { systemPrompt: "Be kind.", workspaceTtlMs: 60_000n });
  expect(set).toEqual({ ...UNSET_DEPLOYMENT, systemPrompt: "Be kind.", workspaceTtlMs: 60_000 });
  expect(changedDeployment(set, {})).toEqual(set);
  expect(changedDeployment(set, { workspaceTtlMs: null })).toEqual({ ...set, workspaceTtlMs: null });
});
