/**
 * Parley in a process that counts all of its database statements at the driver. Only for counting: the compiled server
 * that users get is measured elsewhere.
 */
import pg from "pg";
import { startParley } from "../src/compose/server.js";
import { readConfig } from "../src/config/config.js";
import { createLog } from "../src/lib/log.js";
import { serveBench } from "./child-program.js";

/** Since the start of the process. A statement outside of BEGIN … COMMIT is a transaction too. */
export type StatementCounts = {
  statements: number;
  transactions: number;
  /** Prepared statements by their name, others by the beginning of their text. */
  byName: Record<string, number>;
};

/** Enough to tell statements apart. */
const SHOWN_CHARACTERS = 60;

const counts: StatementCounts = { statements: 0, transactions: 0, byName: {} };
const inTransaction = new WeakSet<object>();

function count(client: object, statement: unknown): void {
  const text = typeof statement === "string" ? statement : textOf(statement, "text");
  const name = textOf(statement, "name") || text.replace(/\s+/g, " ").trim().slice(0, SHOWN_CHARACTERS);
  counts.statements += 1;
  counts.byName[name] = (counts.byName[name] ?? 0) + 1;
  if (!inTransaction.has(client)) counts.transactions += 1;
  if (/^\s*(BEGIN|START TRANSACTION)\b/i.test(text)) inTransaction.add(client);
  else if (/^\s*(COMMIT|ROLLBACK)\b(?!\s+TO\b)/i.test(text)) inTransaction.delete(client);
}

function textOf(statement: unknown, key: "name" | "text"): string {
  if (typeof statement !== "object" || statement === null) return "";
  const value: unknown = Reflect.get(statement, key);
  return typeof value === "string" ? value : "";
}

const send = pg.Client.prototype.query;
pg.Client.prototype.query = function countedQuery(this: pg.Client, ...given: unknown[]): unknown {
  count(this, given[0]);
  return Reflect.apply(send, this, given);
} as typeof send;

await serveBench(async (settings) => {
  const environment = settings as Record<string, string>;
  const config = readConfig(environment, environment["PARLEY_WORKSPACE_DIR"] ?? process.cwd());
  const parley = await startParley(config, createLog(config.logLevel));
  return { url: parley.url ?? "", answer: () => counts, close: () => parley.close() };
});
