/**
 * The one log: JSON lines by pino, on stderr, so that stdout belongs to the commands' own output. A line that is written
 * for a request or a turn says so by itself (doing.ts); what a line says explicitly goes before that.
 */
import { pino, type DestinationStream, type Logger } from "pino";
import { currentDoing } from "./run-context.js";

export type Log = Logger;

/** Level names are pino's own; `silent` turns the log off. `destination`: for tests; else stderr. */
export function createLog(
  level: string,
  name = "parley",
  destination: DestinationStream = pino.destination(2),
): Log {
  const redact = ["req.headers.authorization", "*.apiKey", "*.token"];
  return pino({ name, level, redact, mixin: marks }, destination);
}

function marks(): object {
  const doing = currentDoing();
  if (doing === undefined) return {};
  const { requestId, chatId, traceId } = doing;
  return {
    ...(requestId !== undefined && { requestId }),
    ...(chatId !== undefined && { chatId }),
    ...(traceId !== undefined && { traceId }),
  };
}
