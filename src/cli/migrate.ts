/** `parley migrate`: migrates the database to this version's schema and exits. */
import { createLog } from "../lib/log.js";
import { openDatabase } from "../compose/open-database.js";
import { readConfigOrExplain } from "./read-config.js";

/** Resolves to the exit code. */
export async function runMigrate(): Promise<number> {
  const config = readConfigOrExplain();
  if (!config) return 2;
  const opened = await openDatabase(config, createLog(config.logLevel));
  await opened.close();
  const names = opened.migrated.map((name) => `  ${name}\n`).join("");
  process.stdout.write(names === "" ? "The database is up to date.\n" : `Applied migrations:\n${names}`);
  return 0;
}
