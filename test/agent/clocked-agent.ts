// The agent program with a clock that runs as usual and jumps five minutes and a second ahead at each SIGUSR2.
import { runAgent } from "../../src/agent/run-agent.js";
import { ManualClock } from "./manual-clock.js";

const TICK_MS = 10;
const JUMP_MS = 301_000;

const clock = new ManualClock();
setInterval(() => clock.advance(TICK_MS), TICK_MS);
process.on("SIGUSR2", () => clock.advance(JUMP_MS));
process.exit(await runAgent(process.argv.slice(2), clock));
