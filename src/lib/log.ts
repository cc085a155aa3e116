/**
 * The log: JSON lines by pino, on stderr, so that stdout belongs to the commands' own output. Lines written within a
 * request or a turn carry its ids (run-context.ts); fields that a line sets itself win.
 */
import { pino, type DestinationStream, type Logger } from "pino";
import { currentContext } from "./run-context.js";

export type Log = Logger;

/** Level names are pino's own; `silent` turns the log off. `destination`: for tests; else stderr. */
export function createLog(
  level: string,
  name = "parley",
  destination: DestinationStream = pino.destination(2),
): Log {
  const redact = ["req.headers.authorization", "*.apiKey", "*.token"];
  return pino({ name, level, redact, mixin: contextFields }, destination);
}

function contextFields(): object {
  const context = currentContext();
  if (context === undefined) return {};
  const { requestId, chatId, traceId } = context;
  return {
    ...(requestId !== undefined && { requestId }),
    ...(chatId !== undefined && { chatId }),
    ...(traceId !== undefined && { traceId }),
  };
}
