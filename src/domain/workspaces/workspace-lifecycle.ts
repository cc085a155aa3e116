/**
 * How a workspace that was made from a template lives. People, models and the clock wish (`start`, `stop`, `delete`);
 * the server works until the wish is fulfilled or has failed. A new wish takes the place of an unfulfilled one. Pure.
 *
 *   creating ─┐                    ┌─ stopping → stopped
 *   starting ─┴→ running ──────────┤
 *        └→ failed (with why)      └─ deleting → gone
 */
import type { WorkspaceStatus } from "./workspace.js";

export type WorkspaceAction = "start" | "stop" | "delete";

/** Where a wish leads from each state: `null` = it is refused; the same state = it is fulfilled, or being fulfilled. */
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

/** The state that the wish leads to, the same where there is nothing to do; null = it cannot be wished any more. */
export function targetStatus(status: WorkspaceStatus, wish: WorkspaceAction): WorkspaceStatus | null {
  return TARGET_STATUSES[wish][status];
}

/** States in which the server works. */
export const WORKING_STATUSES = ["creating", "starting", "stopping", "deleting"] as const;
export type WorkingStatus = (typeof WORKING_STATUSES)[number];

export function isWorking(status: WorkspaceStatus): status is WorkingStatus {
  return WORKING_STATUSES.some((it) => it === status);
}

/** What one try of the work came to. `isLasting`: trying again would change nothing. `reason` is worded for people. */
export type WorkOutcome =
  { kind: "done" } | { kind: "waiting" } | { kind: "failed"; reason: string; isLasting: boolean };

/** What is to be written after a try. `gone`: the workspace is no more. `again`: at `dueAt`, in milliseconds. */
export type WorkDecision =
  | { kind: "gone" }
  | { kind: "rests"; status: "running" | "stopped" | "failed"; failure: string | null }
  | { kind: "again"; dueAt: number; tries: number };

/** Work that has not succeeded by then has failed. An image of some gigabytes is fetched in that time. */
export const WORK_LIMIT_MS = 15 * 60_000;
/** Between two looks whether an agent is there. */
const POLL_INTERVAL_MS = 1_000;
const FIRST_RETRY_MS = 2_000;
const MAX_RETRY_MS = 60_000;

export function afterWork(
  work: { status: WorkingStatus; beganAt: number; tries: number },
  outcome: WorkOutcome,
  now: number,
): WorkDecision {
  const { status, beganAt, tries } = work;
  if (outcome.kind === "done") return fulfilled(status);
  const isLate = now - beganAt >= WORK_LIMIT_MS;
  if (outcome.kind === "failed") {
    if (outcome.isLasting || isLate) return { kind: "rests", status: "failed", failure: outcome.reason };
    const delayMs = Math.min(FIRST_RETRY_MS * 2 ** Math.min(tries, 20), MAX_RETRY_MS);
    return { kind: "again", dueAt: now + delayMs, tries: tries + 1 };
  }
  if (isLate) return { kind: "rests", status: "failed", failure: LATE[status] };
  // A wait is no failed try: the next failure is the first again.
  return { kind: "again", dueAt: now + POLL_INTERVAL_MS, tries: 0 };
}

const MINUTES = WORK_LIMIT_MS / 60_000;
const LATE: Record<WorkingStatus, string> = {
  creating: `Its agent was not there within ${MINUTES} minutes.`,
  starting: `Its agent was not there within ${MINUTES} minutes.`,
  stopping: `It did not stop within ${MINUTES} minutes.`,
  deleting: `It could not be deleted within ${MINUTES} minutes.`,
};

function fulfilled(status: WorkingStatus): WorkDecision {
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

/** Use is noted to the minute, so idle times below that cannot be told from use. */
export const MIN_TTL_MS = 60_000;

export type TemplateTtl = {
  /** Null = never. */
  defaultTtlMs: number | null;
  /** Whether the deployment's time, where it is set, takes the place of the template's. */
  allowTtlOverride: boolean;
};

/**
 * Idle milliseconds after which a workspace stops; null = never. `deploymentTtlMs` null = nothing is set. The
 * statement that stops idle workspaces says the same.
 */
export function effectiveTtlMs(template: TemplateTtl, deploymentTtlMs: number | null): number | null {
  const isOverridden = template.allowTtlOverride && deploymentTtlMs !== null;
  const ttlMs = isOverridden ? deploymentTtlMs : template.defaultTtlMs;
  return ttlMs === null ? null : Math.max(ttlMs, MIN_TTL_MS);
}

/** When it stops unless it is used before, in milliseconds; null = it does not stop by itself. */
export function autostopAt(
  workspace: { status: WorkspaceStatus; lastUsedAt: number },
  ttlMs: number | null,
): number | null {
  return workspace.status !== "running" || ttlMs === null ? null : workspace.lastUsedAt + ttlMs;
}

/**
 * Why no agent can be asked in a workspace that is so, for a model: null = one can. `failure` is why it failed.
 */
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
      return `The workspace failed: ${failure ?? "nobody knows why."} Call start_workspace to try again, or create_workspace for another one.`;
    case "deleting":
      return "The workspace is being deleted. Call create_workspace for another one.";
  }
}
