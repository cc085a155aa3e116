import { expect, test } from "vitest";
import { DEFAULT_CONTEXT_PATHS } from "./context/paths.js";
import { readSettings, SettingsError } from "./settings.js";

const TOKEN = "0123456789abcdef";

test("a token is all that is needed", () => {
  expect(readSettings([], { PARLEY_AGENT_TOKEN: TOKEN, PARLEY_AGENT_PORT: "" }, "/code")).toEqual({
    token: TOKEN,
    endpoint: { kind: "listen", host: "127.0.0.1", port: 0, tls: null },
    directory: "/code",
    exitsWithStdin: false,
    logLevel: "info",
    contextPaths: DEFAULT_CONTEXT_PATHS,
    commandVariables: [],
    hiddenDirectories: [],
    commandNice: 0,
    processLimits: { perChat: 16, perUser: 64 },
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
    endpoint: { kind: "listen", host: "127.0.0.1", port: 8123, tls: null },
    directory: "/code/project",
    exitsWithStdin: true,
    logLevel: "debug",
    contextPaths: DEFAULT_CONTEXT_PATHS,
    commandVariables: [],
    hiddenDirectories: [],
    commandNice: 0,
    processLimits: { perChat: 16, perUser: 64 },
  });
});

test("two variables limit the number of processes, and invalid numbers are refused by name", () => {
  const of = (perChat: string, perUser: string) =>
    readSettings(
      [],
      {
        PARLEY_AGENT_TOKEN: TOKEN,
        PARLEY_AGENT_MAX_PROCESSES_PER_CHAT: perChat,
        PARLEY_AGENT_MAX_PROCESSES_PER_USER: perUser,
      },
      "/code",
    );
  expect(of("3", "0")).toMatchObject({ processLimits: { perChat: 3, perUser: 0 } });
  expect(() => of("-1", "1001")).toThrow(
    /PARLEY_AGENT_MAX_PROCESSES_PER_CHAT: [\s\S]*PARLEY_AGENT_MAX_PROCESSES_PER_USER: /,
  );
});

test("five variables configure where context for models is found", () => {
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

const files: Record<string, string> = {
  "/code/token": `${TOKEN}\n`,
  "/code/cert": "the certificate",
  "/code/key": "the key",
};
const readFile = (path: string | number) => {
  const text = files[path];
  if (text === undefined) throw new Error(`ENOENT: no such file, open '${path}'`);
  return text;
};

test("the token and the certificate may be in files", () => {
  const argv = ["--token-file", "token", "--tls-cert", "cert", "--tls-key", "/code/key", "--host", "::"];
  expect(readSettings(argv, {}, "/code", readFile)).toMatchObject({
    token: TOKEN,
    endpoint: { kind: "listen", host: "::", port: 0, tls: { cert: "the certificate", key: "the key" } },
  });
});

test("an agent calls servers when it is given any, and a plain address is enough", () => {
  const servers = "wss://a.example/agents, https://b.example,http://c.example:4000/parley/agents?x=1";
  expect(readSettings(["--server", servers], { PARLEY_AGENT_TOKEN: TOKEN }, "/code")).toMatchObject({
    endpoint: {
      kind: "dial-out",
      servers: ["wss://a.example/agents", "wss://b.example/agents", "ws://c.example:4000/parley/agents?x=1"],
    },
  });
});

test("the token may come by an open file descriptor", () => {
  const read = (path: string | number) => (path === 3 ? `${TOKEN}\n` : "");
  const settings = { PARLEY_AGENT_TOKEN_FD: "3" };
  expect(readSettings([], settings, "/code", read)).toMatchObject({ token: TOKEN });
  expect(readSettings(["--token-fd", "3"], {}, "/code", read)).toMatchObject({ token: TOKEN });
});

test.each(["0", "2", "-1", "x", "3.5"])("the token does not come by the descriptor %s", (descriptor) => {
  const read = () => readSettings([], { PARLEY_AGENT_TOKEN_FD: descriptor }, "/code", readFile);
  expect(read).toThrow("PARLEY_AGENT_TOKEN_FD: must be a number from 3");
});

test.each([
  [["--token-fd", "3"], "PARLEY_AGENT_TOKEN and PARLEY_AGENT_TOKEN_FD: must not both be set"],
  [["--tls-cert", "cert"], "PARLEY_AGENT_TLS_CERT and PARLEY_AGENT_TLS_KEY: must be set both or neither"],
  [["--tls-cert", "cert", "--tls-key", "gone"], "ENOENT: no such file, open '/code/gone'"],
  [["--server", "parley.example"], "PARLEY_AGENT_SERVER_URL: must be like wss://parley.example/agents"],
  [["--server", "ftp://parley.example"], "PARLEY_AGENT_SERVER_URL: must be like wss://parley.example/agents"],
  [["--server", "wss://me:secret@parley.example"], "PARLEY_AGENT_SERVER_URL: must be like"],
  [["--server", "wss://parley.example", "--host", "::"], "an agent that dials out does not listen"],
  [["--token-file", "token"], "PARLEY_AGENT_TOKEN and PARLEY_AGENT_TOKEN_FILE: must not both be set"],
])("%j is refused with a reason", (argv, reason) => {
  const read = () => readSettings(argv, { PARLEY_AGENT_TOKEN: TOKEN }, "/code", readFile);
  expect(read).toThrow(SettingsError);
  expect(read).toThrow(reason);
});
