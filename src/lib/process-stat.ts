/** Reads `/proc/<pid>/stat`. Pure. */

/**
 * The program's name, and the fields after it, the state first. The name stands in parentheses and may contain spaces and
 * parentheses itself.
 */
export function parseProcessStat(stat: string): { name: string; fields: string[] } {
  const end = stat.lastIndexOf(")");
  return { name: stat.slice(stat.indexOf("(") + 1, end), fields: stat.slice(end + 2).split(" ") };
}

/** Positions among the fields after the name, from 0; see proc(5), which counts from 1 and has two fields before. */
const ENV_START = 47;
const ENV_END = 48;

/** Where the initial environment is in the process's memory; undefined when there is none, or it is not shown. */
export function environmentRange(stat: string): { start: number; length: number } | undefined {
  const { fields } = parseProcessStat(stat);
  const [start, end] = [Number(fields[ENV_START]), Number(fields[ENV_END])];
  const isRange = Number.isSafeInteger(start) && Number.isSafeInteger(end) && start > 0 && end > start;
  return isRange ? { start, length: end - start } : undefined;
}
