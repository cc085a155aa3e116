import { expect, test } from "vitest";
import { DEFAULT_CONTEXT_PATHS } from "./context/paths.js";
import { readSettings, SettingsError } from "./settings.js";

const TOKEN = "0123456789abcdef";

test("a token is all that is needed", () => {
  expect(readSettings([], { PARLEY_AGENT_TOKEN: TOKEN, PARLEY_AGENT_PORT: "" }, "/code")).toEqual({
    token: TOKEN,
    port: 0,
    directory: "/code",
    exitsWithStdin: false,
    logLevel: "info",
    contextPaths: DEFAULT_CONTEXT_PATHS,
  });
});

test("flags win over variables", () => {
  const environment = {
    PARLEY_AGENT_TOKEN: TOKEN,
    PARLEY_AGENT_PORT: "1",
    PARLEY_AGENT_DIRECTORY: "/elsewhere",
    PARLEY_AGENT_LOG_LEVEL: "warn",
  };
  const argv = ["--port", "8123", "--directory", "project", "--exit-with-stdin", "--log-level", "debug"];
  expect(readSettings(argv, environment, "/code")).toEqual({
    token: TOKEN,
    port: 8123,
    directory: "/code/project",
    exitsWithStdin: true,
    logLevel: "debug",
    contextPaths: DEFAULT_CONTEXT_PATHS,
  });
});

test("five variables say where to look for what models should know", () => {
  const environment = {
    PARLEY_AGENT_TOKEN: TOKEN,
    PARLEY_AGENT_INSTRUCTIONS_DIRS: " ~/rules , /etc/rules,, docs ",
    PARLEY_AGENT_INSTRUCTIONS_FILE: " CLAUDE.md ",
    PARLEY_AGENT_SKILLS_DIRS: ",",
    PARLEY_AGENT_SKILL_META_FILE: "  ",
    PARLEY_AGENT_MCP_CONFIG_FILES: "mcp.json,~/mcp.json",
  };
  expect(readSettings([], environment, "/code")).toMatchObject({
    contextPaths: {
      instructionDirectories: ["~/rules", "/etc/rules", "docs"],
      instructionFile: "CLAUDE.md",
      skillDirectories: [],
      skillFile: "SKILL.md",
      mcpConfigFiles: ["mcp.json", "~/mcp.json"],
    },
  });
});

test("a path in place of a file's name is refused", () => {
  const environment = { PARLEY_AGENT_TOKEN: TOKEN, PARLEY_AGENT_INSTRUCTIONS_FILE: "docs/AGENTS.md" };
  expect(() => readSettings([], environment, "/code")).toThrow(
    new SettingsError(
      "The agent's settings are not valid.\nPARLEY_AGENT_INSTRUCTIONS_FILE: must be the name of a file",
    ),
  );
});

test("every wrong setting is named, and the token is never shown", () => {
  const read = () => readSettings(["--port", "high"], { PARLEY_AGENT_TOKEN: "hunter2" }, "/code");
  expect(read).toThrow(
    new SettingsError(
      "The agent's settings are not valid.\nPARLEY_AGENT_TOKEN: must have at least 16 characters\nPARLEY_AGENT_PORT: must be a number",
    ),
  );
});

test("an unknown flag is refused and help needs no token", () => {
  expect(() => readSettings(["--prot", "1"], {}, "/code")).toThrow(SettingsError);
  expect(readSettings(["--help"], {}, "/code")).toBe("help");
});
