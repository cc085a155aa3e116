/** Reads `/proc/<pid>/stat`. Pure. */

/** Positions among the fields after the name, from 0; see proc(5), which counts from 1 and has two fields before. */
const ENV_START = 47;
const ENV_END = 48;

/** Where the initial environment is in the process's memory; undefined when there is none, or it is not shown. */
export function environmentRange(stat: string): { start: number; length: number } | undefined {
  // "pid (name) state …": a name may contain spaces and parentheses, so counting begins after the last one.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [start, end] = [Number(fields[ENV_START]), Number(fields[ENV_END])];
  const isRange = Number.isSafeInteger(start) && Number.isSafeInteger(end) && start > 0 && end > start;
  return isRange ? { start, length: end - start } : undefined;
}
