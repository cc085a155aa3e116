// The server's configuration: one table of environment variables with name, meaning, default and accepted values.
// Read once at startup, checked all at once, frozen. No other file of the server reads the environment.
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { z } from "zod";
import { CONFIG_FILE, parseConfigFile } from "./config-file.js";
import { DEFAULT_DATA_DIR_TEXT, defaultDataDir } from "./data-dir.js";
import { chatVariables, DEFAULT_HEARTBEAT_MS } from "./chats.js";
import { chooseEnvFile } from "./env-file.js";
import { fileVariables, findIncompleteFiles } from "./files.js";
import { limitVariables } from "./limits.js";
import { modelVariables } from "./models.js";
import { operationsVariables } from "./operations.js";
import { gitHostVariables } from "./git-hosts.js";
import { pushVariables } from "./push.js";
import { findIncompleteSignIn, signInVariables } from "./sign-in.js";
import { workspaceVariables } from "./workspaces.js";
import {
  accept,
  address,
  existingFolder,
  folder,
  onOrOff,
  oneOf,
  optional,
  secretKeys,
  secretWord,
  type ParseContext,
  type Variable,
  wholeNumber,
  withDefault,
  word,
} from "./variable.js";

/** Invalid configuration; the message lists every invalid variable and what it must be. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";

  constructor(readonly problems: readonly string[]) {
    super(`The configuration is invalid:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`);
  }
}

const SHORTEST_ADMIN_TOKEN_CHARACTERS = 16;
const SHORTEST_SECRET_CHARACTERS = 16;

const variables = {
  host: withDefault(
    { name: "PARLEY_HOST", meaning: "Address to listen on; 0.0.0.0 opens the server to the network." },
    "127.0.0.1",
    word("a host name or IP address"),
  ),
  port: withDefault(
    { name: "PARLEY_PORT", meaning: "Port to listen on; 0 takes any free one." },
    "4000",
    wholeNumber(0, 65_535),
  ),
  dataDir: {
    ...withDefault(
      { name: "PARLEY_DATA_DIR", meaning: "Folder for the embedded database and generated secrets." },
      DEFAULT_DATA_DIR_TEXT,
      folder,
    ),
    whenUnset: ({ dataDir }: ParseContext) => dataDir(),
  },
  configFile: optional(
    { name: "PARLEY_CONFIG", meaning: "File of settings in YAML, by the names in this list." },
    "`parley.config.yaml` in the data folder, if it exists",
    folder,
  ),
  databaseUrl: optional(
    { name: "DATABASE_URL", meaning: "PostgreSQL 15 or newer for all data." },
    "an embedded PostgreSQL in PARLEY_DATA_DIR",
    address(["postgres:", "postgresql:"]),
  ),
  redisUrl: optional(
    { name: "REDIS_URL", meaning: "Redis that carries live events between servers." },
    "events stay within this server",
    address(["redis:", "rediss:"]),
  ),
  replicaUrl: optional(
    {
      name: "PARLEY_REPLICA_URL",
      meaning:
        "Address of this server for the other servers of the deployment, for the agents that are connected to it.",
    },
    "none; an agent serves only the server that it is connected to",
    address(["http:", "https:"]),
  ),
  replicaSecret: optional(
    {
      name: "PARLEY_REPLICA_SECRET",
      meaning:
        "Shared secret with which servers of a deployment authenticate to each other; the same on all.",
    },
    "none; servers accept no requests from each other",
    secretWord(SHORTEST_SECRET_CHARACTERS),
  ),
  secretsKeys: optional(
    {
      name: "PARLEY_SECRETS_KEYS",
      meaning:
        "Keys that secrets in the database are encrypted with: id:base64 of 32 bytes, separated by commas. The first encrypts, all decrypt.",
    },
    "generated in PARLEY_DATA_DIR with the embedded database; required with DATABASE_URL",
    secretKeys,
  ),
  adminToken: optional(
    { name: "PARLEY_ADMIN_TOKEN", meaning: "The first admin's access token." },
    "generated at the first start",
    secretWord(SHORTEST_ADMIN_TOKEN_CHARACTERS),
  ),
  ...signInVariables,
  ...pushVariables,
  ...gitHostVariables,
  ...fileVariables,
  workspaceDir: {
    ...withDefault(
      { name: "PARLEY_WORKSPACE_DIR", meaning: "Folder of the local workspace that chats work in." },
      "the current folder",
      existingFolder,
    ),
    whenUnset: ({ cwd }: ParseContext) => cwd,
  },
  ...workspaceVariables,
  workspaceAgentUrl: optional(
    {
      name: "PARLEY_WORKSPACE_AGENT_URL",
      meaning: "Address of a workspace agent for PARLEY_WORKSPACE_DIR that is run separately.",
    },
    "this server starts its own agent, which ends with it",
    address(["http:", "https:"]),
  ),
  workspaceAgentToken: optional(
    {
      name: "PARLEY_WORKSPACE_AGENT_TOKEN",
      meaning: "The token of the agent at PARLEY_WORKSPACE_AGENT_URL.",
    },
    "none; required with PARLEY_WORKSPACE_AGENT_URL",
    secretWord(SHORTEST_SECRET_CHARACTERS),
  ),
  role: withDefault(
    { name: "PARLEY_ROLE", meaning: "Role of this server: serve the API, run chats, or both." },
    "all",
    oneOf(["all", "api", "worker"]),
  ),
  ...chatVariables,
  ...modelVariables,
  logLevel: withDefault(
    { name: "PARLEY_LOG_LEVEL", meaning: "Lowest level of log messages, written to standard error." },
    "info",
    oneOf(["fatal", "error", "warn", "info", "debug", "trace", "silent"]),
  ),
  logFormat: withDefault(
    {
      name: "PARLEY_LOG_FORMAT",
      meaning:
        "Format of the log: readable lines (pretty), JSON lines (json), or readable on a terminal only (auto).",
    },
    "auto",
    oneOf(["auto", "pretty", "json"]),
  ),
  ...limitVariables,
  ...operationsVariables,
  graphiql: optional(
    { name: "PARLEY_GRAPHIQL", meaning: "Whether the GraphiQL page is served to browsers: on or off." },
    "on, but off when NODE_ENV is production",
    onOrOff,
  ),
  isProduction: withDefault(
    { name: "NODE_ENV", meaning: "`production` hides the GraphiQL page unless PARLEY_GRAPHIQL is on." },
    "development",
    accept(
      "any word",
      z.string().transform((text) => text === "production"),
    ),
  ),
};

/** All settings in reading order. */
export const settingsTable: Readonly<Record<string, Variable<unknown>>> = variables;

type Values = { [Key in keyof typeof variables]: ReturnType<(typeof variables)[Key]["whenUnset"]> };

/** The checked configuration. Folders are absolute; times are in milliseconds as their names say. */
export type Config = Readonly<
  Omit<Values, "graphiql" | "heartbeatMs"> & {
    graphiql: boolean;
    heartbeatMs: number;
    /** Whether PARLEY_DATA_DIR is set. */
    isDataDirChosen: boolean;
    /** Whether PARLEY_PORT is set. */
    isPortChosen: boolean;
    /** Probable mistakes, for the log. */
    warnings: readonly string[];
  }
>;

/** Variables that other programs of Parley read from the same environment. */
const OTHER_PROGRAM_PREFIXES = ["PARLEY_AGENT_"];

/** Parses an environment; an empty value counts as unset. Throws {@link ConfigError}. */
export function readConfig(
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
  isDirectory: (path: string) => boolean = directoryExists,
): Config {
  const problems: string[] = [];
  const context: ParseContext = { cwd, isDirectory, dataDir: () => defaultDataDir({ env, cwd }) };
  const read = <T>(variable: Variable<T>): T => {
    const text = env[variable.name];
    if (text === undefined || text === "") return variable.whenUnset(context);
    const value = variable.parse(text, context);
    if (value !== undefined) return value;
    const shown = variable.secret ? "" : `, but is ${JSON.stringify(text.slice(0, SHOWN_CHARACTERS))}`;
    problems.push(`${variable.name} must be ${variable.expected}${shown}.`);
    return variable.whenUnset(context);
  };
  const entries = Object.entries(variables).map(([key, variable]) => [key, read<unknown>(variable)]);
  const values = Object.fromEntries(entries) as Values;
  const heartbeatMs = values.heartbeatMs ?? Math.min(DEFAULT_HEARTBEAT_MS, Math.floor(values.leaseMs / 3));
  if (problems.length === 0 && heartbeatMs * 2 >= values.leaseMs) {
    problems.push(
      `PARLEY_HEARTBEAT_MS must be less than half of PARLEY_LEASE_MS, but they are ${heartbeatMs} and ${values.leaseMs}.`,
    );
  }
  problems.push(...findIncomplete(values));
  if (problems.length > 0) throw new ConfigError(problems);
  const warnings = Object.freeze(findUnknown(env));
  const graphiql = values.graphiql ?? !values.isProduction;
  const isSet = ({ name }: { name: string }) => (env[name] ?? "") !== "";
  const isDataDirChosen = isSet(variables.dataDir);
  const isPortChosen = isSet(variables.port);
  return Object.freeze({ ...values, heartbeatMs, graphiql, isDataDirChosen, isPortChosen, warnings });
}

/** Incomplete combinations of variables. */
function findIncomplete(values: Values): string[] {
  const { replicaUrl, replicaSecret, redisUrl, workspaceAgentUrl, workspaceAgentToken } = values;
  const { azureApiKey, azureEndpoint, bedrockApiKey, awsRegion, bedrockBaseUrl } = values;
  return [
    ...(replicaUrl === undefined || (replicaSecret !== undefined && redisUrl !== undefined)
      ? []
      : ["PARLEY_REPLICA_URL requires PARLEY_REPLICA_SECRET and REDIS_URL."]),
    ...((workspaceAgentUrl === undefined) === (workspaceAgentToken === undefined)
      ? []
      : ["PARLEY_WORKSPACE_AGENT_URL and PARLEY_WORKSPACE_AGENT_TOKEN must be set together."]),
    ...((azureApiKey === undefined) === (azureEndpoint === undefined)
      ? []
      : ["AZURE_OPENAI_API_KEY and AZURE_OPENAI_ENDPOINT must be set together."]),
    ...(bedrockApiKey === undefined || awsRegion !== undefined || bedrockBaseUrl !== undefined
      ? []
      : ["AWS_BEARER_TOKEN_BEDROCK requires AWS_REGION or BEDROCK_BASE_URL."]),
    ...findIncompleteSignIn(values),
    ...findIncompleteFiles(values),
  ];
}

/** Invalid values are truncated to this length in messages. */
const SHOWN_CHARACTERS = 80;

function findUnknown(env: Readonly<Record<string, string | undefined>>): string[] {
  const known = new Set(Object.values(variables).map((variable) => variable.name));
  return Object.keys(env)
    .filter((name) => name.startsWith("PARLEY_") && !known.has(name))
    .filter((name) => !OTHER_PROGRAM_PREFIXES.some((prefix) => name.startsWith(prefix)))
    .sort()
    .map((name) => `${name} is set but is not a variable of Parley; it has no effect.`);
}

function directoryExists(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false; // Missing, unreadable, or not a path.
  }
}

/** The unfiltered environment; what is handed on goes through `allowedEnvironment`. */
export function processEnvironment(): Readonly<Record<string, string | undefined>> {
  return process.env;
}

/** The secrets among the variables that this process was started with, by name. */
export function secretsInEnvironment(): Record<string, string> {
  const secrets = Object.values(variables).filter(({ secret }) => secret);
  return Object.fromEntries(
    secrets.flatMap(({ name }) => {
      const text = process.env[name];
      return text === undefined || text === "" ? [] : [[name, text] as const];
    }),
  );
}

/** What the command line says about the sources of settings. */
export type ConfigSources = {
  /** Read instead of `.env` in the data folder; must exist. */
  envFile?: string;
  /** Read instead of the file in the data folder; must exist. */
  configFile?: string;
  /** Settings of the command line, which win over all others. */
  overrides?: Readonly<Record<string, string>>;
};

/**
 * Reads the configuration file, a file of variables as `chooseEnvFile` says, and the process environment; later ones take
 * precedence. Throws {@link ConfigError}.
 */
export function loadConfig({ envFile, configFile, overrides = {} }: ConfigSources = {}): Config {
  const cwd = process.cwd();
  const given = { ...withoutEmpty(process.env), ...overrides };
  const { path, isRequired, ignored } = chooseEnvFile({
    named: envFile,
    dataDir: given[variables.dataDir.name],
    defaultDataDir: defaultDataDir({ env: given, cwd }),
    cwd,
  });
  const env = { ...withoutEmpty(path === null ? {} : readEnvFile(path, isRequired)), ...given };
  const config = readConfig({ ...readConfigFile(env, cwd, configFile), ...env }, cwd);
  if (ignored === null || ignored === path || !existsSync(ignored)) return config;
  const warning = `${ignored} is not read, as it may have come with a repository. Use --env-file ${ignored} if it is yours.`;
  return Object.freeze({ ...config, warnings: Object.freeze([...config.warnings, warning]) });
}

function readEnvFile(path: string, isRequired: boolean): NodeJS.Dict<string> {
  const text = readSettingsFile(path, isRequired);
  return text === null ? {} : parseEnv(text);
}

/** Settings of the file that is named, or else of the one in the data folder. */
function readConfigFile(env: NodeJS.Dict<string>, cwd: string, named = env[variables.configFile.name]) {
  const path = named === undefined ? defaultConfigFile(env, cwd) : resolve(cwd, named);
  const text = path === null ? null : readSettingsFile(path, named !== undefined);
  if (path === null || text === null) return {};
  const names = Object.values(variables).map(({ name }) => name);
  const { values, problems } = parseConfigFile(text, path, names);
  if (problems.length > 0) throw new ConfigError(problems);
  return values;
}

/** Null for an old data folder in the working directory: what lies there may be content of a repository. */
function defaultConfigFile(env: NodeJS.Dict<string>, cwd: string): string | null {
  const chosen = env[variables.dataDir.name];
  const dataDir = chosen === undefined ? defaultDataDir({ env, cwd }) : resolve(cwd, chosen);
  return chosen === undefined && dirname(dataDir) === cwd ? null : join(dataDir, CONFIG_FILE);
}

/** Null when it is missing and need not exist. */
function readSettingsFile(path: string, isRequired: boolean): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (failure) {
    const code = failure instanceof Error && "code" in failure ? failure.code : undefined;
    if (!isRequired && (code === "ENOENT" || code === "ENOTDIR")) return null;
    throw new ConfigError([
      `${path} cannot be read: ${failure instanceof Error ? failure.message : String(failure)}.`,
    ]);
  }
}

/** An empty variable counts as unset, so it must not override the file. */
function withoutEmpty(env: NodeJS.Dict<string>): NodeJS.Dict<string> {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
}
