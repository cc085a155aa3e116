/**
 * Finds programs that started this one and still show its secrets: a script or `npm start` stays as a parent, with an
 * environment that this process cannot blank and that other processes of the same user can read (Linux).
 */
import { readFileSync } from "node:fs";
import { parseProcessStat } from "../lib/process-stat.js";

/** A process as /proc shows it. */
export type ShownProcess = { parentId: number; name: string; environment: string };

export type Exposure = { ancestorId: number; program: string; variables: string[] };

/** Longer chains of parents do not occur. */
const MAX_ANCESTORS = 32;

/**
 * The ancestors from `firstId` on whose environment has one of `secrets` with the same value. `read` gives
 * undefined for a process that is gone.
 */
export function findExposures(
  firstId: number,
  secrets: Readonly<Record<string, string>>,
  read: (pid: number) => ShownProcess | undefined,
): Exposure[] {
  const exposures: Exposure[] = [];
  let pid = firstId;
  for (let count = 0; count < MAX_ANCESTORS && pid > 0; count += 1) {
    const shown = read(pid);
    if (shown === undefined) break;
    const entries = new Set(shown.environment.split("\0"));
    const variables = Object.keys(secrets).filter((name) => entries.has(`${name}=${secrets[name]}`));
    if (variables.length > 0) exposures.push({ ancestorId: pid, program: shown.name, variables });
    pid = shown.parentId;
  }
  return exposures;
}

/** Undefined also where there is no /proc. */
export function readShownProcess(pid: number): ShownProcess | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // "pid (name) state parent …": a name may contain spaces and parentheses, so counting begins after the last one.
    const { name, fields } = parseProcessStat(stat);
    return { parentId: Number(fields[1]), name, environment: readEnvironment(pid) };
  } catch {
    return undefined;
  }
}

/** Empty for a process of another user, whose own ancestors are looked at all the same. */
function readEnvironment(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8");
  } catch {
    return "";
  }
}
