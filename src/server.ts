#!/usr/bin/env node
/** The `parley` program: one word chooses what it is. Each command is loaded only when it is asked for. */

import { ExplainedError } from "./lib/text/explained-error.js";

const USAGE = `Usage: parley COMMAND

  serve       start the server (parley serve --help lists every setting)
  agent       start a workspace agent beside the code
  migrate     bring the database to this version's schema
  token       make an API token
  secrets     make, count and replace the keys of secrets at rest
  workspace   add workspaces on machines that the server cannot reach
  demo-model  start the scripted model server that speaks the vendors' wire formats

Each command explains itself with --help.
`;

const COMMANDS: Record<string, (argv: string[]) => Promise<number>> = {
  serve: async (argv) => (await import("./cli/serve.js")).serve(argv),
  agent: async (argv) => (await import("./agent/main.js")).runAgent(argv),
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

main(process.argv.slice(2)).then(
  (exitCode) => process.exit(exitCode),
  (error: unknown) => {
    process.stderr.write(`${wordsOf(error)}\n`);
    process.exit(1);
  },
);

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error instanceof ExplainedError ? error.message : (error.stack ?? error.message);
}
