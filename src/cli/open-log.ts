/** The log of a command: lines for people on a terminal, JSON elsewhere. */
import type { Config } from "../config/config.js";
import { createLog, type Log } from "../lib/log.js";

/** The library for readable lines is loaded only when they are wanted. */
export async function openLog({ logLevel, logFormat }: Pick<Config, "logLevel" | "logFormat">): Promise<Log> {
  if (!isPretty(logFormat, process.stderr.isTTY)) return createLog(logLevel);
  const { prettyDestination } = await import("../lib/pretty-log.js");
  return createLog(logLevel, "parley", prettyDestination());
}

export function isPretty(format: Config["logFormat"], isTerminal: boolean): boolean {
  return format === "auto" ? isTerminal : format === "pretty";
}
