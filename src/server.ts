#!/usr/bin/env node
/** Entry point of the `parley` program. Each command's modules are loaded only when it runs. */

import { hideInitialEnvironmentOrWarn } from "./lib/initial-environment.js";
import { ExplainedError } from "./lib/text/explained-error.js";

const USAGE = `Usage: parley COMMAND

  serve       start the server (parley serve --help lists every setting)
  agent       start a workspace agent beside the code
  migrate     migrate the database to this version's schema
  token       create an API token
  secrets     create, count and rotate the keys of secrets at rest
  workspace   add workspaces on machines that the server cannot reach
  demo-model  start the scripted model server that speaks the vendors' wire formats

Run a command with --help for its options.
`;

const COMMANDS: Record<string, (argv: string[]) => Promise<number>> = {
  serve: async (argv) => (await import("./cli/serve.js")).serve(argv),
  agent: async (argv) => (await import("./agent/run-agent.js")).runAgent(argv),
  migrate: async () => (await import("./cli/migrate.js")).runMigrate(),
  token: async (argv) => (await import("./cli/token.js")).runToken(argv),
  secrets: async (argv) => (await import("./cli/secrets.js")).runSecrets(argv),
  workspace: async (argv) => (await import("./cli/workspace.js")).runWorkspace(argv),
  "demo-model": async (argv) => (await import("./demo-model/command.js")).runDemoModel(argv),
};

async function main([name = "", ...argv]: string[]): Promise<number> {
  const command = COMMANDS[name];
  if (command) return command(argv);
  const isHelp = name === "--help" || name === "-h" || name === "help";
  (isHelp ? process.stdout : process.stderr).write(
    isHelp || name === "" ? USAGE : `There is no command ${name}.\n\n${USAGE}`,
  );
  return isHelp ? 0 : 2;
}

hideInitialEnvironmentOrWarn();
main(process.argv.slice(2)).then(
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
