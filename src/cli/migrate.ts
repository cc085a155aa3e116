/** `parley migrate`: migrates the database to this version's schema and exits. */
import { openDatabase } from "../compose/open-database.js";
import type { ConfigSources } from "../config/config.js";
import { openLog } from "./open-log.js";
import { readConfigOrExplain } from "./read-config.js";

/** Resolves to the exit code. */
export async function runMigrate(sources: ConfigSources): Promise<number> {
  const config = readConfigOrExplain(sources);
  if (!config) return 2;
  const opened = await openDatabase(config, await openLog(config));
  await opened.close();
  const names = opened.migrated.map((name) => `  ${name}\n`).join("");
  process.stdout.write(names === "" ? "The database is up to date.\n" : `Applied migrations:\n${names}`);
  return 0;
}
