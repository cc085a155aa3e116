// Replaces the server: runs a local agent and one command in it until it is killed.
import { systemClock } from "../../../src/lib/clock.js";
import { createLog } from "../../../src/lib/log.js";
import { startLocalAgent } from "../../../src/workspaces/provisioners/local.js";
import { agentCommand } from "../support.js";

const [folder = ".", agentFifo = "", command = "true"] = process.argv.slice(2);

const local = startLocalAgent({
  directory: folder,
  // The agent has the pipe open for as long as it lives.
  command: ["sh", "-c", 'exec 4>"$0"; exec "$@"', agentFifo, ...agentCommand],
  environment: process.env,
  log: createLog("silent"),
  clock: systemClock,
});
const connection = await local.connection();
await connection.startProcess({ command });
process.stdout.write("ready\n");
