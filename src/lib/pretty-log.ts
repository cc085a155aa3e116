/**
 * Log lines for people, on stderr. A module of its own, because a bundled program cannot read the names of a CommonJS
 * package from `import()`.
 */
import pretty from "pino-pretty";
import type { DestinationStream } from "pino";

/** Synchronous: the last lines before an exit are written, too. */
export function prettyDestination(): DestinationStream {
  return pretty({
    destination: 2,
    sync: true,
    colorize: process.stderr.isTTY,
    ignore: "pid,hostname,name",
    translateTime: "SYS:HH:MM:ss",
    singleLine: true,
  });
}
