/** The entry point of the agent as a program of its own; `parley agent` is the other one. */
import { runAgent } from "./run-agent.js";

process.exit(await runAgent(process.argv.slice(2)));
