// A program for tests: opens the embedded database of a folder, says so on stdout, and ends when its stdin closes.
// Arguments: data folder, system folder.
import { createLog } from "../../../src/lib/log.js";
import { openEmbeddedPostgres } from "../../../src/store/embedded-postgres/embedded-postgres.js";

const [dataDir = "", systemDir = ""] = process.argv.slice(2);
const database = await openEmbeddedPostgres({ dataDir, systemDir, log: createLog("silent") });
process.stdout.write(`${JSON.stringify({ host: database.host })}\n`);
process.stdin.on("end", () => void database.close().then(() => process.exit(0)));
process.stdin.resume();
