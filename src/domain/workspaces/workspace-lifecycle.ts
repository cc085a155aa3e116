/**
 * Lifecycle of workspaces made from templates. Users, models and timers request actions (`start`, `stop`, `delete`); the
 * server works until the target status is reached or the work has failed. A new action replaces an unfinished one. Pure.
 *
 *   creating ─┐                    ┌─ stopping → stopped
 *   starting ─┴→ running ──────────┤
 *        └→ failed (with why)      └─ deleting → gone
 */
import type { WorkspaceStatus } from "./workspace.js";

export type WorkspaceAction = "start" | "stop" | "delete";

/** The status that an action leads to, by current status: null = refused; the same status = already there, or on the way. */
const TARGET_STATUSES: Record<WorkspaceAction, Record<WorkspaceStatus, WorkspaceStatus | null>> = {
  start: {
    creating: "creating",
    starting: "starting",
    running: "running",
    stopping: "starting",
    stopped: "starting",
    failed: "starting",
    deleting: null,
  },
  stop: {
    creating: "stopping",
    starting: "stopping",
    running: "stopping",
    stopping: "stopping",
    stopped: "stopped",
    failed: "stopping",
    deleting: null,
  },
  delete: {
    creating: "deleting",
    starting: "deleting",
    running: "deleting",
    stopping: "deleting",
    stopped: "deleting",
    failed: "deleting",
    deleting: "deleting",
  },
};

/** The status that the action leads to, the same where there is nothing to do; null = refused. */
export function targetStatus(status: WorkspaceStatus, action: WorkspaceAction): WorkspaceStatus | null {
  return TARGET_STATUSES[action][status];
}

/** Statuses in which the server works towards another one. */
const WORKING_STATUSES = ["creating", "starting", "stopping", "deleting"] as const;
export type WorkingStatus = (typeof WORKING_STATUSES)[number];

export function isWorking(status: WorkspaceStatus): status is WorkingStatus {
  return WORKING_STATUSES.some((it) => it === status);
}

/** Outcome of one attempt. `isPermanent`: a retry would not help. `reason` is worded for users. */
export type WorkOutcome =
  { kind: "done" } | { kind: "waiting" } | { kind: "failed"; reason: string; isPermanent: boolean };

/** What to store after an attempt. `gone`: the workspace is deleted. `again`: the next attempt is at `dueAt`, in milliseconds. */
export type WorkDecision =
  | { kind: "gone" }
  | { kind: "rests"; status: "running" | "stopped" | "failed"; failure: string | null }
  | { kind: "again"; dueAt: number; tries: number };

/** Time limit of the work, enough to pull an image of some gigabytes. */
export const WORK_LIMIT_MS = 15 * 60_000;
/** Between two checks for the agent's connection. */
const POLL_INTERVAL_MS = 1_000;
const FIRST_RETRY_MS = 2_000;
const MAX_RETRY_MS = 60_000;

export function afterWork(
  work: { status: WorkingStatus; beganAt: number; tries: number },
  outcome: WorkOutcome,
  now: number,
): WorkDecision {
  const { status, beganAt, tries } = work;
  if (outcome.kind === "done") return completed(status);
  const isLate = now - beganAt >= WORK_LIMIT_MS;
  if (outcome.kind === "failed") {
    if (outcome.isPermanent || isLate) return { kind: "rests", status: "failed", failure: outcome.reason };
    const delayMs = Math.min(FIRST_RETRY_MS * 2 ** Math.min(tries, 20), MAX_RETRY_MS);
    return { kind: "again", dueAt: now + delayMs, tries: tries + 1 };
  }
  if (isLate) return { kind: "rests", status: "failed", failure: LATE[status] };
  // Waiting is no failure: the backoff restarts.
  return { kind: "again", dueAt: now + POLL_INTERVAL_MS, tries: 0 };
}

const MINUTES = WORK_LIMIT_MS / 60_000;
const LATE: Record<WorkingStatus, string> = {
  creating: `Its agent did not connect within ${MINUTES} minutes.`,
  starting: `Its agent did not connect within ${MINUTES} minutes.`,
  stopping: `It did not stop within ${MINUTES} minutes.`,
  deleting: `It could not be deleted within ${MINUTES} minutes.`,
};

function completed(status: WorkingStatus): WorkDecision {
  switch (status) {
    case "creating":
    case "starting":
      return { kind: "rests", status: "running", failure: null };
    case "stopping":
      return { kind: "rests", status: "stopped", failure: null };
    case "deleting":
      return { kind: "gone" };
  }
}

/** Use is recorded to the minute, so shorter idle times cannot be measured. */
export const MIN_TTL_MS = 60_000;

type TemplateTtl = {
  /** Null = never. */
  defaultTtlMs: number | null;
  /** Whether the deployment's TTL, where set, overrides the template's. */
  allowTtlOverride: boolean;
};

/**
 * Idle milliseconds after which a workspace stops; null = never. `deploymentTtlMs` null = not set. The SQL statement that
 * stops idle workspaces repeats this rule.
 */
export function effectiveTtlMs(template: TemplateTtl, deploymentTtlMs: number | null): number | null {
  const isOverridden = template.allowTtlOverride && deploymentTtlMs !== null;
  const ttlMs = isOverridden ? deploymentTtlMs : template.defaultTtlMs;
  return ttlMs === null ? null : Math.max(ttlMs, MIN_TTL_MS);
}

/** When the workspace stops unless used before, in milliseconds since the epoch; null = never. */
export function autostopAt(
  workspace: { status: WorkspaceStatus; lastUsedAt: number },
  ttlMs: number | null,
): number | null {
  return workspace.status !== "running" || ttlMs === null ? null : workspace.lastUsedAt + ttlMs;
}

/** Why the workspace's agent is unavailable, worded for a model; null = it is available. `failure`: why it failed. */
export function whyUnusable(status: WorkspaceStatus, failure: string | null): string | null {
  switch (status) {
    case "running":
      return null;
    case "creating":
    case "starting":
      return "The workspace is being started. Call start_workspace, which waits until it is ready, then try again.";
    case "stopping":
    case "stopped":
      return "The workspace is stopped. Call start_workspace, then try again.";
    case "failed":
      return `The workspace failed: ${failure ?? "for an unknown reason."} Call start_workspace to try again, or create_workspace for another one.`;
    case "deleting":
      return "The workspace is being deleted. Call create_workspace for another one.";
  }
}
