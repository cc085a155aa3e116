#!/usr/bin/env node
/** Entry point of the `parley` program. Each command's modules are loaded only when it runs. */
import { runProgram } from "./cli/program.js";
import { hideInitialEnvironmentOrWarn } from "./lib/initial-environment.js";
import { ExplainedError } from "./lib/text/explained-error.js";

hideInitialEnvironmentOrWarn();
runProgram(process.argv.slice(2), {
  agent: async (argv) => (await import("./agent/run-agent.js")).runAgent(argv),
  demoModel: async (argv) => (await import("./demo-model/command.js")).runDemoModel(argv),
}).then(
  (exitCode) => process.exit(exitCode),
  (error: unknown) => {
    process.stderr.write(`${errorTextOf(error)}\n`);
    process.exit(1);
  },
);

function errorTextOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error instanceof ExplainedError ? error.message : (error.stack ?? error.message);
}
