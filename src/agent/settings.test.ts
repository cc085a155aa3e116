import { expect, test } from "vitest";
import { readSettings, SettingsError } from "./settings.js";

const TOKEN = "0123456789abcdef";

test("a token is all that is needed", () => {
  expect(readSettings([], { PARLEY_AGENT_TOKEN: TOKEN, PARLEY_AGENT_PORT: "" }, "/code")).toEqual({
    token: TOKEN,
    port: 0,
    directory: "/code",
    exitsWithStdin: false,
    logLevel: "info",
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
  });
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
