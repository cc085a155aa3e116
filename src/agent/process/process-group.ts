/** Signals for process groups, so that a pipeline or a server's children end with their shell. */
import { readdirSync, readFileSync } from "node:fs";
import type { Clock } from "../../lib/clock.js";
import { sleep } from "../../lib/clock.js";
import { errorCode } from "../outcome.js";
import { parseProcessStat } from "../../lib/process-stat.js";

/** Grace period between SIGTERM and SIGKILL. */
export const TERMINATION_GRACE_MS = 5_000;
/** Poll interval: the system does not notify when a group becomes empty. */
export const GROUP_CHECK_MS = 50;

/** Sends `signal` to every process of the group. False when the group is gone; throws when it is not ours. */
export function signalGroup(groupId: number, signal: NodeJS.Signals): boolean {
  return signalTarget(-groupId, signal);
}

/** Whether any process of the group is left, including processes of other users. */
export function isGroupAlive(groupId: number): boolean {
  return isTargetAlive(-groupId);
}

/**
 * The groups with at least one process that is not a zombie; signals reach zombies as well. Reads all of /proc, which
 * takes some milliseconds; without /proc, every group that can be signalled counts.
 */
export function findLivingGroups(groupIds: Iterable<number>): Set<number> {
  const alive = new Set([...groupIds].filter(isGroupAlive));
  const names = readNames("/proc").filter((name) => /^\d+$/.test(name));
  if (names.length === 0) return alive;
  const found = new Set<number>();
  for (const name of names) {
    const groupId = groupUnlessZombie(name);
    if (groupId !== undefined && alive.has(groupId)) found.add(groupId);
  }
  return found;
}

/** Undefined also for a process that ends meanwhile. */
function groupUnlessZombie(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The fields are: state, parent, group.
    const [state, , groupId] = parseProcessStat(stat).fields;
    return state === "Z" || state === "X" ? undefined : Number(groupId);
  } catch {
    return undefined;
  }
}

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/**
 * Ends all targets: SIGTERM, then, after at most the grace period, SIGKILL for the rest. A target is a process id, or a
 * group's negative id, as in `kill(2)`. `failed` is called for each target that cannot be signalled.
 */
export async function endTargets(
  targets: readonly number[],
  clock: Clock,
  failed: (error: unknown, target: number) => void,
): Promise<void> {
  const send = (target: number, signal: NodeJS.Signals) => {
    try {
      signalTarget(target, signal);
    } catch (error) {
      failed(error, target);
    }
  };
  for (const target of targets) send(target, "SIGTERM");
  const deadline = clock.now() + TERMINATION_GRACE_MS;
  let alive = targets.filter(isTargetAlive);
  while (alive.length > 0 && clock.now() < deadline) {
    await sleep(clock, GROUP_CHECK_MS);
    alive = alive.filter(isTargetAlive);
  }
  for (const target of alive) send(target, "SIGKILL");
}

/** As `signalGroup`, for a process or, with a negative id, a group. */
export function signalTarget(target: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(target, signal);
    return true;
  } catch (error) {
    if (errorCode(error) === "ESRCH") return false;
    throw error;
  }
}

function isTargetAlive(target: number): boolean {
  try {
    process.kill(target, 0);
    return true;
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
}
