/** How many files and connections this process may have open. */
import { readFileSync } from "node:fs";

/** Infinity where the system does not say. Node has raised its own limit as far as it may. */
export function openFileLimit(): number {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return soft === undefined ? Infinity : Number(soft);
  } catch {
    return Infinity; // Not Linux.
  }
}
