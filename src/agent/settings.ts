/** What the agent program can be told: by flags, and by variables for a supervisor. Flags win. */
import { parseArgs } from "node:util";
import { resolve } from "node:path";
import { z } from "zod";
import { DEFAULT_CONTEXT_PATHS, type ContextPaths } from "./context/paths.js";

/** Shorter tokens could be guessed. */
const MIN_TOKEN_CHARACTERS = 16;

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

export type AgentSettings = {
  token: string;
  /** 0 takes any free one. */
  port: number;
  /** Absolute. */
  directory: string;
  /** The parent holds the other end of stdin: when it closes, the parent is gone or wants the agent gone. */
  exitsWithStdin: boolean;
  logLevel: (typeof LOG_LEVELS)[number];
  contextPaths: ContextPaths;
};

/** Its message says for each wrong setting what was expected, and never shows the token. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}

export const AGENT_USAGE = `Usage: parley agent [options]

Runs commands and edits files in one directory on behalf of a Parley server. Listens on 127.0.0.1 only and prints
one JSON line with its address.

Options (variable in brackets):
  --directory <path>    where to work; default: the current directory [PARLEY_AGENT_DIRECTORY]
  --port <number>       0 takes any free port; default: 0 [PARLEY_AGENT_PORT]
  --exit-with-stdin     stop when stdin closes [PARLEY_AGENT_EXIT_WITH_STDIN=true]
  --log-level <level>   ${LOG_LEVELS.join(", ")}; default: info [PARLEY_AGENT_LOG_LEVEL]
  --help                show this text

PARLEY_AGENT_TOKEN must hold the bearer token that callers will present, at least ${MIN_TOKEN_CHARACTERS} characters.

Where to look for what models should know; lists are separated by commas, paths may begin with ~ or be relative to
the directory:
  PARLEY_AGENT_INSTRUCTIONS_DIRS   before the directory itself; default: ${DEFAULT_CONTEXT_PATHS.instructionDirectories.join(",")}
  PARLEY_AGENT_INSTRUCTIONS_FILE   its name; default: ${DEFAULT_CONTEXT_PATHS.instructionFile}
  PARLEY_AGENT_SKILLS_DIRS         default: ${DEFAULT_CONTEXT_PATHS.skillDirectories.join(",")}
  PARLEY_AGENT_SKILL_META_FILE     its name; default: ${DEFAULT_CONTEXT_PATHS.skillFile}
  PARLEY_AGENT_MCP_CONFIG_FILES    default: ${DEFAULT_CONTEXT_PATHS.mcpConfigFiles.join(",")}
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

const settingsSchema = z.object({
  PARLEY_AGENT_TOKEN: z
    .string("must be set")
    .min(MIN_TOKEN_CHARACTERS, `must have at least ${MIN_TOKEN_CHARACTERS} characters`),
  PARLEY_AGENT_PORT: z.coerce.number("must be a number").int().min(0).max(65_535).default(0),
  PARLEY_AGENT_DIRECTORY: z.string().default("."),
  PARLEY_AGENT_EXIT_WITH_STDIN: z.enum(["true", "false"], 'must be "true" or "false"').default("false"),
  PARLEY_AGENT_LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(", ")}`).default("info"),
  PARLEY_AGENT_INSTRUCTIONS_DIRS: pathListSchema(DEFAULT_CONTEXT_PATHS.instructionDirectories),
  PARLEY_AGENT_INSTRUCTIONS_FILE: fileNameSchema(DEFAULT_CONTEXT_PATHS.instructionFile),
  PARLEY_AGENT_SKILLS_DIRS: pathListSchema(DEFAULT_CONTEXT_PATHS.skillDirectories),
  PARLEY_AGENT_SKILL_META_FILE: fileNameSchema(DEFAULT_CONTEXT_PATHS.skillFile),
  PARLEY_AGENT_MCP_CONFIG_FILES: pathListSchema(DEFAULT_CONTEXT_PATHS.mcpConfigFiles),
});

/** Settings of this program, or `help`. Throws a `SettingsError`. */
export function loadSettings(argv: readonly string[]): AgentSettings | "help" {
  return readSettings(argv, process.env, process.cwd());
}

/** As `loadSettings`, from what it is given. An empty variable counts as unset. */
export function readSettings(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  currentDirectory: string,
): AgentSettings | "help" {
  const flags = readFlags(argv);
  if (flags.help) return "help";
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  const parsed = settingsSchema.safeParse({
    ...given,
    ...(flags.port !== undefined && { PARLEY_AGENT_PORT: flags.port }),
    ...(flags.directory !== undefined && { PARLEY_AGENT_DIRECTORY: flags.directory }),
    ...(flags["exit-with-stdin"] && { PARLEY_AGENT_EXIT_WITH_STDIN: "true" }),
    ...(flags["log-level"] !== undefined && { PARLEY_AGENT_LOG_LEVEL: flags["log-level"] }),
  });
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
    throw new SettingsError(`The agent's settings are not valid.\n${lines.join("\n")}`);
  }
  return {
    token: parsed.data.PARLEY_AGENT_TOKEN,
    port: parsed.data.PARLEY_AGENT_PORT,
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
  };
}

function readFlags(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        directory: { type: "string" },
        port: { type: "string" },
        "exit-with-stdin": { type: "boolean" },
        "log-level": { type: "string" },
        help: { type: "boolean" },
      },
    }).values;
  } catch (error) {
    throw new SettingsError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
