/** The one log: JSON lines by pino, on stderr, so that stdout belongs to the commands' own output. */
import { pino, type Logger } from "pino";

export type Log = Logger;

/** Level names are pino's own; `silent` turns the log off. */
export function createLog(level: string, name = "parley"): Log {
  return pino(
    { name, level, redact: ["req.headers.authorization", "*.apiKey", "*.token"] },
    pino.destination(2),
  );
}
