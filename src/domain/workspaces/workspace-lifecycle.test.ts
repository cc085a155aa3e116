import { expect, test } from "vitest";
import {
  afterWork,
  autostopAt,
  effectiveTtlMs,
  isWorking,
  whyUnusable,
  targetStatus,
  WORK_LIMIT_MS,
  type WorkDecision,
  type WorkingStatus,
  type WorkOutcome,
} from "./workspace-lifecycle.js";
import { WORKSPACE_STATUSES } from "./workspace.js";

test("every action has a target status from every status, except that a deletion is final", () => {
  const table = Object.fromEntries(
    WORKSPACE_STATUSES.map((status) => [
      status,
      [targetStatus(status, "start"), targetStatus(status, "stop"), targetStatus(status, "delete")],
    ]),
  );
  expect(table).toEqual({
    creating: ["creating", "stopping", "deleting"],
    starting: ["starting", "stopping", "deleting"],
    running: ["running", "stopping", "deleting"],
    stopping: ["starting", "stopping", "deleting"],
    stopped: ["starting", "stopped", "deleting"],
    failed: ["starting", "stopping", "deleting"],
    deleting: [null, null, "deleting"],
  });
});

const waiting: WorkOutcome = { kind: "waiting" };
const failed: WorkOutcome = { kind: "failed", reason: "No space.", isPermanent: false };
const permanent: WorkOutcome = { ...failed, isPermanent: true };
const done: WorkOutcome = { kind: "done" };
const rests = (status: "running" | "stopped" | "failed", failure: string | null = null): WorkDecision => ({
  ...{ kind: "rests", status, failure },
});

test.each<[string, WorkingStatus, WorkOutcome, { tries?: number; ageMs?: number }, WorkDecision]>([
  ["made, and runs", "creating", done, {}, rests("running")],
  ["started", "starting", done, {}, rests("running")],
  ["stopped", "stopping", done, {}, rests("stopped")],
  ["deleted", "deleting", done, {}, { kind: "gone" }],
  [
    "waits a second for its agent",
    "starting",
    waiting,
    { tries: 3 },
    { kind: "again", dueAt: 1_000, tries: 0 },
  ],
  ["fails, tried again", "stopping", failed, {}, { kind: "again", dueAt: 2_000, tries: 1 }],
  [
    "fails often, later each time",
    "deleting",
    failed,
    { tries: 3 },
    { kind: "again", dueAt: 16_000, tries: 4 },
  ],
  ["fails for hours", "deleting", failed, { tries: 999 }, { kind: "again", dueAt: 60_000, tries: 1_000 }],
  ["cannot succeed", "creating", permanent, {}, rests("failed", "No space.")],
  ["fails for too long", "stopping", failed, { ageMs: WORK_LIMIT_MS }, rests("failed", "No space.")],
  [
    "its agent never comes",
    "starting",
    waiting,
    { ageMs: WORK_LIMIT_MS },
    rests("failed", "Its agent did not connect within 15 minutes."),
  ],
])("a workspace that %s", (_what, status, outcome, { tries = 0, ageMs = 0 }, after) => {
  expect(afterWork({ status, beganAt: -ageMs, tries }, outcome, 0)).toEqual(after);
});

const HOUR = 3_600_000;

test.each([
  ["the template's", { defaultTtlMs: HOUR, allowTtlOverride: true }, null, HOUR],
  ["the deployment's instead", { defaultTtlMs: HOUR, allowTtlOverride: true }, 2 * HOUR, 2 * HOUR],
  [
    "the deployment's where the template says never",
    { defaultTtlMs: null, allowTtlOverride: true },
    HOUR,
    HOUR,
  ],
  ["the template's, which allows no other", { defaultTtlMs: HOUR, allowTtlOverride: false }, 2 * HOUR, HOUR],
  ["never", { defaultTtlMs: null, allowTtlOverride: false }, HOUR, null],
  ["a minute at least", { defaultTtlMs: null, allowTtlOverride: true }, 1, 60_000],
])("the idle time is %s", (_what, template, deploymentTtlMs, expected) => {
  expect(effectiveTtlMs(template, deploymentTtlMs)).toBe(expected);
});

test("only a running workspace stops automatically", () => {
  expect([
    autostopAt({ status: "running", lastUsedAt: 5 }, 10),
    autostopAt({ status: "running", lastUsedAt: 5 }, null),
    autostopAt({ status: "stopped", lastUsedAt: 5 }, 10),
  ]).toEqual([15, null, null]);
});

test("the text for every unusable workspace says what the model can do", () => {
  const silent = WORKSPACE_STATUSES.filter((status) => whyUnusable(status, null) === null);
  const helpless = WORKSPACE_STATUSES.filter(
    (status) => !/^$|start_workspace|create_workspace/.test(whyUnusable(status, "No space.") ?? ""),
  );
  expect({
    silent,
    helpless,
    why: whyUnusable("failed", "No space.")?.startsWith("The workspace failed: No space."),
  }).toEqual({ silent: ["running"], helpless: [], why: true });
  expect(WORKSPACE_STATUSES.filter(isWorking)).toEqual(["starting", "stopping", "creating", "deleting"]);
});
