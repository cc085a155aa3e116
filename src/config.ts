// Every environment variable of the server: one table says name, meaning, default and what is accepted.
// Read once at the start, checked all at once, frozen. No other file of the server reads the environment.
import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { parseEnv } from "node:util";
import { z } from "zod";

/** The environment does not make a configuration; the message lists every bad variable and what it should be. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";

  constructor(readonly problems: readonly string[]) {
    super(`The configuration is not usable:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`);
  }
}

/** The outside facts that parsing needs besides the text. */
type Surroundings = { cwd: string; isDirectory: (path: string) => boolean };

type Variable<T> = {
  name: string;
  /** One sentence for `parley serve --help`. */
  meaning: string;
  /** What an unset variable amounts to, in words or as the value itself. */
  defaultText: string;
  /** Completes the sentence "NAME must be …". */
  expected: string;
  /** Secret values never appear in messages. */
  secret: boolean;
  /** The value for a set variable; undefined when the text is not acceptable. */
  parse: (text: string, surroundings: Surroundings) => T | undefined;
  /** The value for an unset variable. */
  whenUnset: (surroundings: Surroundings) => T;
};

type Accepted<T> = Pick<Variable<T>, "expected" | "parse"> & { secret?: boolean };
type Facts = { name: string; meaning: string };

/** A variable with a default, given as the text that one would write. */
function withDefault<T>(facts: Facts, defaultText: string, accepted: Accepted<T>): Variable<T> {
  const whenUnset = (surroundings: Surroundings): T => {
    const value = accepted.parse(defaultText, surroundings);
    if (value === undefined) throw new Error(`the default of ${facts.name} is not acceptable`);
    return value;
  };
  return { secret: false, ...facts, ...accepted, defaultText, whenUnset };
}

/** A variable that may stay unset; `defaultText` says what happens then. */
function optional<T>(facts: Facts, defaultText: string, accepted: Accepted<T>): Variable<T | undefined> {
  return { secret: false, ...facts, ...accepted, defaultText, whenUnset: () => undefined };
}

function accept<T>(expected: string, schema: z.ZodType<T, string>): Accepted<T> {
  return { expected, parse: (text) => schema.safeParse(text).data };
}

function wholeNumber(least: number, most: number, unit = ""): Accepted<number> {
  const schema = z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number)
    .pipe(z.number().min(least).max(most));
  return accept(`a whole number${unit} from ${least} to ${most}`, schema);
}

function oneOf<const Words extends readonly [string, ...string[]]>(words: Words): Accepted<Words[number]> {
  return accept(`one of ${words.join(", ")}`, z.enum(words));
}

function address(protocols: readonly string[]): Accepted<string> {
  const schema = z.string().refine((text) => {
    return protocols.some((protocol) => text.startsWith(`${protocol}//`)) && URL.canParse(text);
  });
  // Such addresses may hold a password.
  return {
    ...accept(`a URL that starts with ${protocols.map((it) => `${it}//`).join(" or ")}`, schema),
    secret: true,
  };
}

const SHORTEST_ADMIN_TOKEN_CHARACTERS = 16;
const DAY_MS = 86_400_000;

/** Keys and tokens travel in HTTP headers, where only visible ASCII is safe. */
function secretWord(leastCharacters: number): Accepted<string> {
  const schema = z
    .string()
    .regex(/^[\x21-\x7e]+$/)
    .min(leastCharacters);
  const length = leastCharacters > 1 ? `at least ${leastCharacters} ` : "";
  return { ...accept(`${length}characters of visible ASCII without spaces`, schema), secret: true };
}

const word = (expected: string): Accepted<string> => accept(expected, z.string().regex(/^\S+$/));
const folder: Accepted<string> = {
  expected: "a folder's path",
  parse: (text, { cwd }) => resolve(cwd, text),
};
const existingFolder: Accepted<string> = {
  expected: "the path of an existing folder",
  parse(text, { cwd, isDirectory }) {
    const path = resolve(cwd, text);
    return isDirectory(path) ? path : undefined;
  },
};
const onOrOff: Accepted<boolean> = accept(
  "on or off",
  z.enum(["on", "off"]).transform((text) => text === "on"),
);

/** Renews a default lease ten times before it ends. */
const DEFAULT_HEARTBEAT_MS = 30_000;

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
  dataDir: withDefault(
    { name: "PARLEY_DATA_DIR", meaning: "Folder for the embedded database and generated secrets." },
    "./.parley",
    folder,
  ),
  databaseUrl: optional(
    { name: "DATABASE_URL", meaning: "PostgreSQL 15 or newer to keep everything in." },
    "an embedded PostgreSQL in PARLEY_DATA_DIR",
    address(["postgres:", "postgresql:"]),
  ),
  redisUrl: optional(
    { name: "REDIS_URL", meaning: "Redis that carries live events between servers." },
    "events stay inside this server",
    address(["redis:", "rediss:"]),
  ),
  adminToken: optional(
    { name: "PARLEY_ADMIN_TOKEN", meaning: "The first admin's access token." },
    "generated at the first start",
    secretWord(SHORTEST_ADMIN_TOKEN_CHARACTERS),
  ),
  workspaceDir: {
    ...withDefault(
      { name: "PARLEY_WORKSPACE_DIR", meaning: "Folder of the local workspace that chats work in." },
      "the current folder",
      existingFolder,
    ),
    whenUnset: ({ cwd }: Surroundings) => cwd,
  },
  role: withDefault(
    { name: "PARLEY_ROLE", meaning: "What this server does: answer the API, run chats, or both." },
    "all",
    oneOf(["all", "api", "worker"]),
  ),
  leaseMs: withDefault(
    {
      name: "PARLEY_LEASE_MS",
      meaning: "A worker silent for this many milliseconds loses its chats to others.",
    },
    "300000",
    wholeNumber(100, DAY_MS, " of milliseconds"),
  ),
  heartbeatMs: optional(
    {
      name: "PARLEY_HEARTBEAT_MS",
      meaning: "A worker renews its hold on chats this often; below half the lease.",
    },
    `${DEFAULT_HEARTBEAT_MS}, or a third of a shorter lease`,
    wholeNumber(10, DAY_MS, " of milliseconds"),
  ),
  acquireBatchSize: withDefault(
    { name: "PARLEY_ACQUIRE_BATCH_SIZE", meaning: "Most chats a worker takes from the queue at once." },
    "10",
    wholeNumber(1, 1_000),
  ),
  anthropicApiKey: optional(
    { name: "ANTHROPIC_API_KEY", meaning: "Key for Anthropic models." },
    "no Anthropic models",
    secretWord(1),
  ),
  anthropicBaseUrl: optional(
    { name: "ANTHROPIC_BASE_URL", meaning: "Another endpoint that speaks Anthropic's API." },
    "Anthropic's own",
    address(["https:", "http:"]),
  ),
  openaiApiKey: optional(
    { name: "OPENAI_API_KEY", meaning: "Key for OpenAI models." },
    "no OpenAI models",
    secretWord(1),
  ),
  openaiBaseUrl: optional(
    { name: "OPENAI_BASE_URL", meaning: "Another endpoint that speaks OpenAI's API." },
    "OpenAI's own",
    address(["https:", "http:"]),
  ),
  openaiApi: withDefault(
    { name: "PARLEY_OPENAI_API", meaning: "Which of OpenAI's APIs the OpenAI endpoint is asked through." },
    "responses",
    oneOf(["responses", "chat"]),
  ),
  model: optional(
    { name: "PARLEY_MODEL", meaning: "Model id of the default model configuration." },
    "none",
    word("a model id without spaces"),
  ),
  logLevel: withDefault(
    { name: "PARLEY_LOG_LEVEL", meaning: "Least important log lines to write, to standard error." },
    "info",
    oneOf(["fatal", "error", "warn", "info", "debug", "trace", "silent"]),
  ),
  graphiql: optional(
    { name: "PARLEY_GRAPHIQL", meaning: "Whether a browser gets the GraphiQL page: on or off." },
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

type Values = { [Key in keyof typeof variables]: ReturnType<(typeof variables)[Key]["whenUnset"]> };

/** The checked configuration. Folders are absolute; times are in milliseconds as their names say. */
export type Config = Readonly<
  Omit<Values, "graphiql" | "heartbeatMs"> & {
    graphiql: boolean;
    heartbeatMs: number;
    /** Sentences about things that are probably mistakes, for the log. */
    warnings: readonly string[];
  }
>;

/** Variables of ours that other programs of Parley read from the same environment. */
const FOREIGN_PREFIXES = ["PARLEY_AGENT_"];

/** Makes the configuration of an environment; an empty value counts as unset. Throws {@link ConfigError}. */
export function readConfig(
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
  isDirectory: (path: string) => boolean = directoryExists,
): Config {
  const problems: string[] = [];
  const surroundings: Surroundings = { cwd, isDirectory };
  const read = <T>(variable: Variable<T>): T => {
    const text = env[variable.name];
    if (text === undefined || text === "") return variable.whenUnset(surroundings);
    const value = variable.parse(text, surroundings);
    if (value !== undefined) return value;
    const shown = variable.secret ? "" : `, but is ${JSON.stringify(text.slice(0, SHOWN_CHARACTERS))}`;
    problems.push(`${variable.name} must be ${variable.expected}${shown}.`);
    return variable.whenUnset(surroundings);
  };
  const entries = Object.entries(variables).map(([key, variable]) => [key, read<unknown>(variable)]);
  const values = Object.fromEntries(entries) as Values;
  const heartbeatMs = values.heartbeatMs ?? Math.min(DEFAULT_HEARTBEAT_MS, Math.floor(values.leaseMs / 3));
  if (problems.length === 0 && heartbeatMs * 2 >= values.leaseMs) {
    problems.push(
      `PARLEY_HEARTBEAT_MS must be less than half of PARLEY_LEASE_MS, but they are ${heartbeatMs} and ${values.leaseMs}.`,
    );
  }
  if (problems.length > 0) throw new ConfigError(problems);
  const warnings = Object.freeze(findUnknown(env));
  const graphiql = values.graphiql ?? !values.isProduction;
  return Object.freeze({ ...values, heartbeatMs, graphiql, warnings });
}

/** A wrong value is shown this far; more would bury the message. */
const SHOWN_CHARACTERS = 80;

function findUnknown(env: Readonly<Record<string, string | undefined>>): string[] {
  const known = new Set(Object.values(variables).map((variable) => variable.name));
  return Object.keys(env)
    .filter((name) => name.startsWith("PARLEY_") && !known.has(name))
    .filter((name) => !FOREIGN_PREFIXES.some((prefix) => name.startsWith(prefix)))
    .sort()
    .map((name) => `${name} is set but Parley knows no such variable; it has no effect.`);
}

function directoryExists(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false; // Missing, unreadable or not a path at all: in no case a folder to work in.
  }
}

/** The environment as it is, for children that are to have it; what is the server's alone they take out. */
export function processEnvironment(): Readonly<Record<string, string | undefined>> {
  return process.env;
}

/** Reads `.env` in the current folder and the process environment, which wins. Throws {@link ConfigError}. */
export function loadConfig(): Config {
  const cwd = process.cwd();
  return readConfig({ ...readEnvFile(resolve(cwd, ".env")), ...withoutEmpty(process.env) }, cwd);
}

function readEnvFile(path: string): NodeJS.Dict<string> {
  try {
    return parseEnv(readFileSync(path, "utf8"));
  } catch (failure) {
    if (failure instanceof Error && "code" in failure && failure.code === "ENOENT") return {};
    throw new ConfigError([
      `${path} cannot be read: ${failure instanceof Error ? failure.message : String(failure)}.`,
    ]);
  }
}

/** An empty variable is an unset one, so it must not hide a line of the file. */
function withoutEmpty(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
}

/** All variables in reading order, for `parley serve --help` and the documentation. */
export function describeConfig(): { name: string; meaning: string; defaultText: string }[] {
  return Object.values(variables).map(({ name, meaning, defaultText }) => ({ name, meaning, defaultText }));
}
