/** Signals for whole process groups, so that a pipeline or a server's children end with their shell. */
import { readdirSync, readFileSync } from "node:fs";
import type { Clock } from "../../lib/clock.js";
import { sleep } from "../../lib/clock.js";
import { errorCode } from "../outcome.js";

/** How long a group may take to end by itself after SIGTERM before it gets SIGKILL. */
export const TERMINATION_GRACE_MS = 5_000;
/** The system does not tell when a group becomes empty, so it has to be asked. */
export const GROUP_CHECK_MS = 50;

/** Sends `signal` to every process of the group. False when the group is gone; throws when it is not ours. */
export function signalGroup(groupId: number, signal: NodeJS.Signals): boolean {
  return signalTarget(-groupId, signal);
}

/** Whether any process of the group is left, also one that we may not signal. */
export function isGroupAlive(groupId: number): boolean {
  return isTargetAlive(-groupId);
}

/**
 * Those of the groups in which any process still does something: not one that has ended and waits to be collected, which
 * signals reach as well. Reads all of /proc, some milliseconds; where there is none, a group counts if it can be signalled.
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
    // "pid (name) state parent group …": a name may hold spaces and brackets, so counting begins after the last one.
    const [state, , groupId] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
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
 * Ends all targets: SIGTERM, at most the grace for leaving, SIGKILL for the rest. A target is a process, or a group by
 * its negative number, as the system takes them. `failed` hears of each refusal.
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

/** As `signalGroup`, for one process or, with a negative number, a group. */
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
