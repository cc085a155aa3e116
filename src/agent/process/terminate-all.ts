/** Termination of all commands: their process groups, descendants that left them, and processes started meanwhile. */
import { sleep, type Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import { findMarkedProcesses } from "./marked-processes.js";
import { endTargets, signalTarget } from "./process-group.js";

/** A process may start another during a sweep; a fork bomb outlasts the sweeps. */
const MAX_SWEEPS = 10;
/** A killed process disappears within a few milliseconds. */
const SWEEP_PAUSE_MS = 50;

export type Ending = {
  groupIds: readonly number[];
  /** The mark in the environment of all descendants of commands; see `agentMark`. */
  mark: string;
  clock: Clock;
  log: Log;
};

/**
 * SIGTERM at once, SIGKILL after the grace period. Processes of other users cannot be signalled and are only logged.
 */
export async function terminateAll(ending: Ending): Promise<void> {
  const { groupIds, mark, clock, log } = ending;
  const failed = (error: unknown, target: number) =>
    log.warn({ err: error, target }, "cannot signal process");
  const groups = groupIds.map((groupId) => -groupId);
  await Promise.all([endTargets(groups, clock, failed), endStrays(ending, failed)]);
  for (let sweep = 0; sweep < MAX_SWEEPS; sweep += 1) {
    const left = await findMarkedProcesses(mark);
    if (left.length === 0) return;
    for (const { pid } of left) kill(pid, failed);
    await sleep(clock, SWEEP_PAUSE_MS);
  }
  log.warn("some processes of commands could not be ended");
}

type SignalFailed = (error: unknown, target: number) => void;

/** Descendants that left their group get the same grace period as the groups. */
async function endStrays({ groupIds, mark, clock }: Ending, failed: SignalFailed): Promise<void> {
  const known = new Set(groupIds);
  const strays = (await findMarkedProcesses(mark)).filter(({ groupId }) => !known.has(groupId));
  await endTargets(
    strays.map(({ pid }) => pid),
    clock,
    failed,
  );
}

function kill(pid: number, failed: SignalFailed): void {
  try {
    signalTarget(pid, "SIGKILL");
  } catch (error) {
    failed(error, pid);
  }
}
