/**
 * Finds commands' descendants, also those that left their process group, as daemons do, by the agent's mark in their
 * environment. Linux only; elsewhere none are found.
 */
import { readdir, readFile } from "node:fs/promises";
import { parseProcessStat } from "../../lib/process-stat.js";

export type MarkedProcess = { pid: number; groupId: number };

/** Living processes whose environment contains `mark` (`NAME=value`), except this one and unreadable ones. */
export async function findMarkedProcesses(mark: string): Promise<MarkedProcess[]> {
  const names = await readdir("/proc").catch(() => []);
  const marked: MarkedProcess[] = [];
  for (const name of names) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    const groupId = await groupIfMarked(name, mark);
    if (groupId !== undefined) marked.push({ pid: Number(name), groupId });
  }
  return marked;
}

/**
 * Undefined also for a process that ends meanwhile, belongs to another user, or is a zombie (it has no environment).
 */
async function groupIfMarked(pid: string, mark: string): Promise<number | undefined> {
  try {
    const environment = await readFile(`/proc/${pid}/environ`, "utf8");
    if (!environment.split("\0").includes(mark)) return undefined;
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    // The fields are: state, parent, group.
    const [, , groupId] = parseProcessStat(stat).fields;
    return Number(groupId);
  } catch {
    return undefined;
  }
}
