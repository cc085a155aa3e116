/** The commands of `parley` with their options: parsing, help, hints and shell completion. What they do is loaded when one runs. */
import tab from "@bomb.sh/tab/commander";
import { Command, CommanderError, InvalidArgumentError } from "commander";
import type { ConfigSources } from "../config/config.js";
import { VERSION } from "../lib/version.js";
import type { TokenFlags } from "./token.js";
import type { WorkspaceVerb } from "./workspace.js";

export const EXIT_BAD_USAGE = 2;
const MAX_PORT = 65_535;

type OwnPrograms = Record<keyof OtherPrograms, () => Promise<number>> & {
  /** Runs another command line. */
  run(argv: readonly string[]): Promise<number>;
};

/** Receives a command's exit code when the command has ended. */
type Exit = (exitCode: number) => void;

/** Commands that are programs of their own: they take their arguments as they are, and resolve to the exit code. */
export type OtherPrograms = Record<"agent" | "demoModel", (argv: string[]) => Promise<number>>;

/** Runs the command that the arguments name. Resolves to the exit code. */
export async function runProgram(argv: readonly string[], others: OtherPrograms): Promise<number> {
  let exitCode = 0;
  const program = createProgram((code) => (exitCode = code), {
    agent: () => others.agent(ownArguments(argv)),
    demoModel: () => others.demoModel(ownArguments(argv)),
    run: (words) => runProgram(words, others),
  });
  try {
    await program.parseAsync([...argv], { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : EXIT_BAD_USAGE;
  }
}

function createProgram(exit: Exit, others: OwnPrograms): Command {
  const program = new Command("parley")
    .description("Runs AI coding-agent chats behind a GraphQL API.")
    .version(VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "explain a command; does nothing else")
    .helpCommand(false)
    .showHelpAfterError("Run it with --help to see what it takes.")
    .configureHelp({ showGlobalOptions: false })
    .exitOverride();
  program.addHelpText("after", "\nStart with: parley serve\nEvery setting: parley help settings");
  addServe(program, exit);
  addAgent(program, exit, others);
  addMigrate(program, exit);
  addToken(program, exit);
  addSecrets(program, exit);
  addWorkspace(program, exit);
  addDemoModel(program, exit, others);
  addHelp(program, exit, others);
  tab(program, { completionCommandName: "completion" });
  return program;
}

/** The options of commands that read the server's settings. */
function withConfig(command: Command): Command {
  return command
    .option("--config <file>", "settings in YAML (default: parley.config.yaml in the data folder)")
    .option("--env-file <file>", "read settings from this file instead of .env in the data folder");
}

type ConfigOptions = { config?: string; envFile?: string };

function sourcesOf({ config, envFile }: ConfigOptions): ConfigSources {
  return {
    ...(config !== undefined && { configFile: config }),
    ...(envFile !== undefined && { envFile }),
  };
}

function addServe(program: Command, exit: Exit): void {
  withConfig(program.command("serve").summary("start the server").description("Starts the server."))
    .option("-p, --port <number>", "port to listen on; the same as PARLEY_PORT", readPort)
    .option("--open", "open Parley in the browser when it listens")
    .addHelpText("after", "\nEvery setting: parley help settings")
    .action(async ({ port, open, ...options }: ConfigOptions & { port?: string; open?: true }) => {
      const overrides: Record<string, string> = port === undefined ? {} : { PARLEY_PORT: port };
      const { serve } = await import("./serve.js");
      exit(await serve({ ...sourcesOf(options), overrides }, { opensBrowser: open ?? false }));
    });
}

function readPort(text: string): string {
  if (/^\d{1,5}$/.test(text) && Number(text) <= MAX_PORT) return text;
  throw new InvalidArgumentError(`It takes a whole number from 0 to ${MAX_PORT}.`);
}

/** A program of its own, which explains itself; the options are named for hints and completion. */
function addAgent(program: Command, exit: Exit, { agent }: OwnPrograms): void {
  program
    .command("agent")
    .summary("start a workspace agent beside the code")
    .helpOption(false)
    .option("--directory <path>", "where to work")
    .option("--token-file <path>", "a file that contains the token")
    .option("--host <address>", "where to listen")
    .option("--port <number>", "0 takes any free port")
    .option("--tls-cert <path>", "speak HTTPS with this certificate")
    .option("--tls-key <path>", "and this key")
    .option("--server <url>", "connect to this server instead of listening")
    .option("--exit-with-stdin", "stop when stdin closes")
    .option("--log-level <level>", "lowest level of log messages")
    .option("-h, --help", "explain the options and variables")
    .action(async () => exit(await agent()));
}

/** The command's own arguments, as they were given: the program has no options that take a value before a command. */
function ownArguments([, ...words]: readonly string[]): string[] {
  return words.map((word) => (word === "-h" ? "--help" : word));
}

function addMigrate(program: Command, exit: Exit): void {
  withConfig(
    program
      .command("migrate")
      .summary("migrate the database to this version's schema")
      .description(
        "Migrates the database to this version's schema, and exits. `parley serve` does the same first.",
      ),
  ).action(async (options: ConfigOptions) => {
    exit(await (await import("./migrate.js")).runMigrate(sourcesOf(options)));
  });
}

function addToken(program: Command, exit: Exit): void {
  withConfig(
    program
      .command("token")
      .summary("create an API token")
      .description("Creates an API token and prints it to standard output; only its hash is stored."),
  )
    .option("--user <name>", "the token's user", "admin")
    .option("--name <label>", "what the token is for", "parley token")
    .option("--scopes <list>", "its scopes, separated by commas", "read,chat,admin")
    .option("--expires <when>", "2027-01-31, 2027-01-31T12:00:00Z, or days such as 30d (default: never)")
    .option("--days <number>", "the same as --expires with that number of days")
    .option("--create <role>", "create the user as member or admin if it does not exist")
    .action(async (options: TokenFlags & ConfigOptions) => {
      exit(await (await import("./token.js")).runToken(options, sourcesOf(options)));
    });
}

const ROTATION_HELP = `
Replace a key in four steps, without failing requests: add the new one as the last and restart
the servers one by one; make it the first and restart them again; rotate; remove the old one.
`;

function addSecrets(program: Command, exit: Exit): void {
  const secrets = program
    .command("secrets")
    .summary("create, count and rotate the keys of secrets at rest")
    .description("Manages PARLEY_SECRETS_KEYS, the keys that secrets in the database are encrypted with.")
    .helpCommand(false)
    .addHelpText("after", ROTATION_HELP);
  const load = () => import("./secrets.js");
  secrets
    .command("new-key")
    .description("Prints a new key, to be put in front of the others.")
    .action(async () => exit((await load()).printNewKey()));
  withConfig(
    secrets
      .command("status")
      .description("Counts the secrets by column and key: a key without secrets can be removed."),
  ).action(async (options: ConfigOptions) => exit(await (await load()).runStatus(sourcesOf(options))));
  withConfig(
    secrets
      .command("rotate")
      .description(
        "Encrypts all secrets with the first key, while servers run; can be stopped and run again. Exits with 1 when there are secrets that it cannot read.",
      ),
  ).action(async (options: ConfigOptions) => exit(await (await load()).runRotate(sourcesOf(options))));
}

const EXTERNAL_HELP = `
External workspaces are on machines that the server cannot reach: their agent connects to the server.
Start it where the code is:

  PARLEY_AGENT_TOKEN=… parley agent --server wss://parley.example --directory /path/to/code
`;

const WORKSPACE_VERBS: Record<WorkspaceVerb, string> = {
  add: "Creates one and prints its agent's token, once; only a hash of it is stored.",
  token: "Prints a new token; the old one becomes invalid, and its agent is disconnected.",
  remove: "Deletes it; its chats stay.",
};

function addWorkspace(program: Command, exit: Exit): void {
  const workspace = program
    .command("workspace")
    .summary("add workspaces on machines that the server cannot reach")
    .description("Manages external workspaces.")
    .helpCommand(false)
    .addHelpText("after", EXTERNAL_HELP);
  for (const [verb, description] of Object.entries(WORKSPACE_VERBS)) {
    withConfig(workspace.command(verb).description(description))
      .requiredOption("--name <name>", "the workspace's name")
      .option("--owner <user>", "its owner (default: the first admin)")
      .action(async ({ name, owner, ...options }: { name: string; owner?: string } & ConfigOptions) => {
        const { changeWorkspace } = await import("./workspace.js");
        exit(await changeWorkspace({ verb: verb as WorkspaceVerb, name, owner }, sourcesOf(options)));
      });
  }
  withConfig(
    workspace
      .command("list")
      .description("Shows all of them, with their ids and whether their agents are connected."),
  ).action(async (options: ConfigOptions) => {
    exit(await (await import("./workspace.js")).listWorkspaces(sourcesOf(options)));
  });
}

/** It explains itself, with the directives that messages may contain. */
function addDemoModel(program: Command, exit: Exit, { demoModel }: OwnPrograms): void {
  program
    .command("demo-model")
    .summary("start the scripted model server that speaks the vendors' wire formats")
    .helpOption(false)
    .option("--host <host>", "address to listen on")
    .option("--port <port>", "port to listen on, 0 for any free one")
    .option("-h, --help", "explain the options and directives")
    .action(async () => exit(await demoModel()));
}

function addHelp(program: Command, exit: Exit, { run }: OwnPrograms): void {
  program
    .command("help")
    .summary("explain a command, or the settings by topic")
    .description("Explains a command. `parley help settings` explains every setting, or those of one topic.")
    .argument("[command]", "a command, or: settings")
    .argument("[topic]", "of the settings")
    .action(async (name?: string, topic?: string) => {
      if (name === "settings") {
        const { printSettings } = await import("./settings-help.js");
        return exit(printSettings(topic));
      }
      if (name === undefined) return program.outputHelp();
      const isKnown = program.commands.some((command) => command.name() === name);
      exit(await run(isKnown ? [name, "--help"] : [name]));
    });
}
