/** Signals for whole process groups, so that a pipeline or a server's children end with their shell. */
import type { Clock } from "../../lib/clock.js";
import { sleep } from "../../lib/clock.js";
import { errorCode } from "../outcome.js";

/** How long a group may take to end by itself after SIGTERM before it gets SIGKILL. */
export const TERMINATION_GRACE_MS = 5_000;
/** The system does not tell when a group becomes empty, so it has to be asked. */
const GROUP_CHECK_MS = 50;

/** Sends `signal` to every process of the group. False when the group is gone; throws when it is not ours. */
export function signalGroup(groupId: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-groupId, signal);
    return true;
  } catch (error) {
    if (errorCode(error) === "ESRCH") return false;
    throw error;
  }
}

/** Whether any process of the group is left, also one that we may not signal. */
export function isGroupAlive(groupId: number): boolean {
  try {
    process.kill(-groupId, 0);
    return true;
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
}

/** Ends all groups: SIGTERM, at most the grace for leaving, SIGKILL for the rest. `failed` hears of each refusal. */
export async function endGroups(
  groupIds: readonly number[],
  clock: Clock,
  failed: (error: unknown, groupId: number) => void,
): Promise<void> {
  const send = (groupId: number, signal: NodeJS.Signals) => {
    try {
      signalGroup(groupId, signal);
    } catch (error) {
      failed(error, groupId);
    }
  };
  for (const groupId of groupIds) send(groupId, "SIGTERM");
  const deadline = clock.now() + TERMINATION_GRACE_MS;
  let alive = groupIds.filter(isGroupAlive);
  while (alive.length > 0 && clock.now() < deadline) {
    await sleep(clock, GROUP_CHECK_MS);
    alive = alive.filter(isGroupAlive);
  }
  for (const groupId of alive) send(groupId, "SIGKILL");
}
