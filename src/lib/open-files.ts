/** The limit of files and connections that this process may have open. */
import { readFileSync } from "node:fs";

/** The soft limit, which Node has already raised as far as it may; Infinity on systems that do not report it. */
export function openFileLimit(): number {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return soft === undefined ? Infinity : Number(soft);
  } catch {
    return Infinity; // Not Linux.
  }
}
