/** Retention of ended processes: how long they stay readable, and which are evicted first. Pure. */

/** Time for a model to come back for the output. */
export const EXITED_RETENTION_MS = 5 * 60_000;
/** Longer for those started with a key: a turn that runs again must find the processes of its first run. */
export const KEYED_RETENTION_MS = 60 * 60_000;
/** Each needs memory for up to 32 KiB of output and its command. */
export const MAX_PROCESSES = 1000;

export type Retained = { id: string; isKeyed: boolean; exitedAtMs: number | undefined };

/** Ids to evict so that one more process fits; never those of running processes. */
export function findEvictable(processes: readonly Retained[], nowMs: number): string[] {
  const ended = processes
    .flatMap((process) =>
      process.exitedAtMs === undefined ? [] : [{ ...process, exitedAtMs: process.exitedAtMs }],
    )
    .sort((a, b) => a.exitedAtMs - b.exitedAtMs);
  const expired = ended.filter(
    ({ isKeyed, exitedAtMs }) => nowMs - exitedAtMs > (isKeyed ? KEYED_RETENTION_MS : EXITED_RETENTION_MS),
  );
  const excess = processes.length - expired.length - (MAX_PROCESSES - 1);
  const fresh = ended.filter((process) => !expired.includes(process));
  const crowdedOut = excess > 0 ? fresh.slice(0, excess) : [];
  return [...expired, ...crowdedOut].map(({ id }) => id);
}
