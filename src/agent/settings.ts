/** Settings of the agent program, from flags and environment variables. Flags win. */
import { closeSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { resolve } from "node:path";
import { z } from "zod";
import { DEFAULT_CONTEXT_PATHS, type ContextPaths } from "./context/paths.js";
import { DEFAULT_PROCESS_LIMITS, type ProcessLimits } from "./process/process-limits.js";
import { MAX_PROCESSES } from "./process/retention.js";
import {
  DEFAULT_AGENT_HOST,
  endpointVariables,
  readEndpoint,
  type EndpointSettings,
} from "./endpoint-settings.js";

/** Shorter tokens could be guessed by brute force. */
const MIN_TOKEN_CHARACTERS = 16;

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

export type AgentSettings = {
  /** Presented by clients; with dial-out, presented by the agent to the server. */
  token: string;
  endpoint: EndpointSettings;
  /** Absolute. */
  directory: string;
  /** Stop when stdin closes: the parent process has the other end, and has exited or wants the agent to stop. */
  exitsWithStdin: boolean;
  logLevel: (typeof LOG_LEVELS)[number];
  contextPaths: ContextPaths;
  /** What commands inherit besides the usual variables: names, or beginnings of names followed by `*`. */
  commandVariables: readonly string[];
  /** Absolute; file tools do not show them. */
  hiddenDirectories: readonly string[];
  /** Niceness of commands, 0 to 19; see `nice`. */
  commandNice: number;
  processLimits: ProcessLimits;
};

/** The message says for each wrong setting what was expected, and never contains the token. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}

export const AGENT_USAGE = `Usage: parley agent [options]

Runs commands and edits files in one directory on behalf of a Parley server. Listens, and prints one JSON line with
its address; or, with --server, connects to a server from anywhere and needs no open port.

Options (variable in brackets):
  --directory <path>    where to work; default: the current directory [PARLEY_AGENT_DIRECTORY]
  --token-file <path>   a file that contains the token [PARLEY_AGENT_TOKEN_FILE]
  --token-fd <number>   an open file descriptor, such as a pipe, to read the token from [PARLEY_AGENT_TOKEN_FD]
  --host <address>      where to listen; default: ${DEFAULT_AGENT_HOST}, this machine only [PARLEY_AGENT_HOST]
  --port <number>       0 takes any free port; default: 0 [PARLEY_AGENT_PORT]
  --tls-cert <path>     speak HTTPS with this certificate (PEM) … [PARLEY_AGENT_TLS_CERT]
  --tls-key <path>      … and this key (PEM) [PARLEY_AGENT_TLS_KEY]
  --server <url>        connect to this server, for example wss://parley.example/agents, instead of listening; several,
                        separated by commas, are tried in turn [PARLEY_AGENT_SERVER_URL]
  --exit-with-stdin     stop when stdin closes [PARLEY_AGENT_EXIT_WITH_STDIN=true]
  --log-level <level>   ${LOG_LEVELS.join(", ")}; default: info [PARLEY_AGENT_LOG_LEVEL]
  --help                show this text

PARLEY_AGENT_TOKEN, the file or the descriptor must contain the bearer token that clients will present, at least
${MIN_TOKEN_CHARACTERS} characters; with --server the token that \`parley workspace add\` printed.

Search paths for the context of models; lists are separated by commas, paths may begin with ~ or be relative to the
directory:
  PARLEY_AGENT_INSTRUCTIONS_DIRS   before the directory itself; default: ${DEFAULT_CONTEXT_PATHS.instructionDirectories.join(",")}
  PARLEY_AGENT_INSTRUCTIONS_FILE   its name; default: ${DEFAULT_CONTEXT_PATHS.instructionFile}
  PARLEY_AGENT_SKILLS_DIRS         default: ${DEFAULT_CONTEXT_PATHS.skillDirectories.join(",")}
  PARLEY_AGENT_SKILL_META_FILE     its name; default: ${DEFAULT_CONTEXT_PATHS.skillFile}
  PARLEY_AGENT_MCP_CONFIG_FILES    default: ${DEFAULT_CONTEXT_PATHS.mcpConfigFiles.join(",")}

Limits on processes that run at the same time; 0 = no limit:
  PARLEY_AGENT_MAX_PROCESSES_PER_CHAT   default: ${DEFAULT_PROCESS_LIMITS.perChat}
  PARLEY_AGENT_MAX_PROCESSES_PER_USER   of all chats of one user in this workspace; default: ${DEFAULT_PROCESS_LIMITS.perUser}

Commands, MCP servers and git inherit PATH, HOME, USER, SHELL, LANG, LC_*, TZ, TERM, SSL_* and *_PROXY from the agent, and
what PARLEY_COMMAND_ENV names: names separated by commas, each of which may end in *.

PARLEY_AGENT_HIDDEN_DIRS lists directories that file tools do not show, separated by commas; commands still see them.
PARLEY_AGENT_COMMAND_NICE is the niceness of commands, 0 to 19, see \`nice\`; default: 0.
`;

const pathListSchema = (fallback: readonly string[]) =>
  z
    .string()
    .default("")
    .transform((text) => (text.trim() === "" ? fallback : entriesOf(text)));

const fileNameSchema = (fallback: string) =>
  z
    .string()
    .default("")
    .transform((text) => text.trim() || fallback)
    .refine((name) => !/[/\0]/.test(name) && name !== "." && name !== "..", "must be the name of a file");

function entriesOf(list: string): string[] {
  return list
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

const variableNamesSchema = z
  .string()
  .default("")
  .transform(entriesOf)
  .refine(
    (names) => names.every((name) => /^(?:[A-Za-z_][A-Za-z0-9_]*\*?|\*)$/.test(name)),
    "must be names of variables, separated by commas; each may end in *",
  );

const processLimitSchema = (fallback: number) =>
  z.coerce.number("must be a number").int().min(0).max(MAX_PROCESSES).default(fallback);

const settingsSchema = z.object({
  PARLEY_AGENT_TOKEN: z
    .string("must be set")
    .min(MIN_TOKEN_CHARACTERS, `must have at least ${MIN_TOKEN_CHARACTERS} characters`)
    .regex(/^[\x21-\x7e]+$/, "must be visible ASCII without spaces"),
  ...endpointVariables,
  PARLEY_AGENT_DIRECTORY: z.string().default("."),
  PARLEY_AGENT_EXIT_WITH_STDIN: z.enum(["true", "false"], 'must be "true" or "false"').default("false"),
  PARLEY_AGENT_LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(", ")}`).default("info"),
  PARLEY_AGENT_INSTRUCTIONS_DIRS: pathListSchema(DEFAULT_CONTEXT_PATHS.instructionDirectories),
  PARLEY_AGENT_INSTRUCTIONS_FILE: fileNameSchema(DEFAULT_CONTEXT_PATHS.instructionFile),
  PARLEY_AGENT_SKILLS_DIRS: pathListSchema(DEFAULT_CONTEXT_PATHS.skillDirectories),
  PARLEY_AGENT_SKILL_META_FILE: fileNameSchema(DEFAULT_CONTEXT_PATHS.skillFile),
  PARLEY_AGENT_MCP_CONFIG_FILES: pathListSchema(DEFAULT_CONTEXT_PATHS.mcpConfigFiles),
  PARLEY_COMMAND_ENV: variableNamesSchema,
  PARLEY_AGENT_HIDDEN_DIRS: pathListSchema([]),
  PARLEY_AGENT_COMMAND_NICE: z.coerce.number("must be a number").int().min(0).max(19).default(0),
  PARLEY_AGENT_MAX_PROCESSES_PER_CHAT: processLimitSchema(DEFAULT_PROCESS_LIMITS.perChat),
  PARLEY_AGENT_MAX_PROCESSES_PER_USER: processLimitSchema(DEFAULT_PROCESS_LIMITS.perUser),
});

/** Settings of this program, or `help`. Throws a `SettingsError`. */
export function loadSettings(argv: readonly string[]): AgentSettings | "help" {
  return readSettings(argv, process.env, process.cwd());
}

/** As `loadSettings`, from its arguments. An empty variable counts as unset. */
export function readSettings(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  currentDirectory: string,
  readFile: (path: string | number) => string = readWhole,
): AgentSettings | "help" {
  const flags = readFlags(argv);
  if (flags.help) return "help";
  const variables = { ...withoutEmpty(environment), ...withoutEmpty(variablesOf(flags)) };
  const readText = (path: string) => readFile(resolve(currentDirectory, path));
  const parsed = settingsSchema.safeParse({
    ...variables,
    ...asSettingsErrors(() => tokenFromElsewhere(variables, readText, readFile)),
  });
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
    throw new SettingsError(`The agent's settings are not valid.\n${lines.join("\n")}`);
  }
  return {
    token: parsed.data.PARLEY_AGENT_TOKEN,
    endpoint: asSettingsErrors(() => readEndpoint(parsed.data, readText)),
    directory: resolve(currentDirectory, parsed.data.PARLEY_AGENT_DIRECTORY),
    exitsWithStdin: parsed.data.PARLEY_AGENT_EXIT_WITH_STDIN === "true",
    logLevel: parsed.data.PARLEY_AGENT_LOG_LEVEL,
    contextPaths: {
      instructionDirectories: parsed.data.PARLEY_AGENT_INSTRUCTIONS_DIRS,
      instructionFile: parsed.data.PARLEY_AGENT_INSTRUCTIONS_FILE,
      skillDirectories: parsed.data.PARLEY_AGENT_SKILLS_DIRS,
      skillFile: parsed.data.PARLEY_AGENT_SKILL_META_FILE,
      mcpConfigFiles: parsed.data.PARLEY_AGENT_MCP_CONFIG_FILES,
    },
    commandVariables: parsed.data.PARLEY_COMMAND_ENV,
    hiddenDirectories: parsed.data.PARLEY_AGENT_HIDDEN_DIRS.map((path) => resolve(currentDirectory, path)),
    commandNice: parsed.data.PARLEY_AGENT_COMMAND_NICE,
    processLimits: {
      perChat: parsed.data.PARLEY_AGENT_MAX_PROCESSES_PER_CHAT,
      perUser: parsed.data.PARLEY_AGENT_MAX_PROCESSES_PER_USER,
    },
  };
}

/** Turns every error of `read` into a `SettingsError`. */
function asSettingsErrors<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SettingsError(`The agent's settings are not valid.\n${reason}`, { cause: error });
  }
}

type Variables = Readonly<Record<string, string | undefined>>;

function withoutEmpty(variables: Variables): Variables {
  return Object.fromEntries(
    Object.entries(variables).filter(([, value]) => value !== "" && value !== undefined),
  );
}

const TOKEN_SOURCES = ["PARLEY_AGENT_TOKEN", "PARLEY_AGENT_TOKEN_FILE", "PARLEY_AGENT_TOKEN_FD"] as const;
/** Standard input, output and error have other uses. */
const FIRST_FREE_DESCRIPTOR = 3;

/** The token from a file or a descriptor; nothing when neither is set. */
function tokenFromElsewhere(
  variables: Variables,
  readText: (path: string) => string,
  readFile: (path: number) => string,
): Variables {
  const given = TOKEN_SOURCES.filter((name) => variables[name] !== undefined);
  if (given.length > 1) throw new Error(`${given.join(" and ")}: must not both be set`);
  const { PARLEY_AGENT_TOKEN_FILE: path, PARLEY_AGENT_TOKEN_FD: descriptor } = variables;
  if (path !== undefined) return { PARLEY_AGENT_TOKEN: readText(path).trim() };
  if (descriptor === undefined) return {};
  if (!/^\d{1,9}$/.test(descriptor) || Number(descriptor) < FIRST_FREE_DESCRIPTOR)
    throw new Error(`PARLEY_AGENT_TOKEN_FD: must be a number from ${FIRST_FREE_DESCRIPTOR}`);
  return { PARLEY_AGENT_TOKEN: readFile(Number(descriptor)).trim() };
}

/** A descriptor is closed afterwards: nothing that the agent starts may read it again. */
function readWhole(path: string | number): string {
  const text = readFileSync(path, "utf8");
  if (typeof path === "number") closeSync(path);
  return text;
}

function variablesOf(flags: ReturnType<typeof readFlags>): Variables {
  return {
    PARLEY_AGENT_DIRECTORY: flags.directory,
    PARLEY_AGENT_TOKEN_FILE: flags["token-file"],
    PARLEY_AGENT_TOKEN_FD: flags["token-fd"],
    PARLEY_AGENT_HOST: flags.host,
    PARLEY_AGENT_PORT: flags.port,
    PARLEY_AGENT_TLS_CERT: flags["tls-cert"],
    PARLEY_AGENT_TLS_KEY: flags["tls-key"],
    PARLEY_AGENT_SERVER_URL: flags.server,
    PARLEY_AGENT_EXIT_WITH_STDIN: flags["exit-with-stdin"] ? "true" : undefined,
    PARLEY_AGENT_LOG_LEVEL: flags["log-level"],
  };
}

function readFlags(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        directory: { type: "string" },
        "token-file": { type: "string" },
        "token-fd": { type: "string" },
        host: { type: "string" },
        port: { type: "string" },
        "tls-cert": { type: "string" },
        "tls-key": { type: "string" },
        server: { type: "string" },
        "exit-with-stdin": { type: "boolean" },
        "log-level": { type: "string" },
        help: { type: "boolean" },
      },
    }).values;
  } catch (error) {
    throw new SettingsError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
