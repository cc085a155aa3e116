/** The entry point of the agent as a program of its own; `parley agent` is the other one. */
import { hideInitialEnvironmentOrWarn } from "../lib/initial-environment.js";
import { runAgent } from "./run-agent.js";

hideInitialEnvironmentOrWarn();
process.exit(await runAgent(process.argv.slice(2)));
