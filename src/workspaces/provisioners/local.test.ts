import { expect, test } from "vitest";
import { localAgentEnvironment } from "./local.js";

test("a local agent inherits the paths of instructions and skills", () => {
  const paths = { PARLEY_AGENT_INSTRUCTIONS_DIRS: "/etc/parley", PARLEY_AGENT_SKILL_META_FILE: "HOW.md" };
  const environment = { ...paths, PARLEY_AGENT_PORT: "4001", PARLEY_AGENT_TOKEN: "secret" };
  expect(localAgentEnvironment({ environment })).toEqual({ ...paths, PARLEY_COMMAND_ENV: "" });
});

test("a local agent inherits nothing that is not allowed", () => {
  const environment = {
    PATH: "/bin",
    HOME: "/home/ada",
    PARLEY_ADMIN_TOKEN: "secret",
    DATABASE_URL: "postgres://secret",
    AWS_SECRET_ACCESS_KEY: "secret",
    ANTHROPIC_API_KEY: "secret",
    SOMETHING_NEW: "secret",
    NODE_ENV: "production",
    npm_config_prefix: "/elsewhere",
  };
  expect(localAgentEnvironment({ environment })).toEqual({
    PATH: "/bin",
    HOME: "/home/ada",
    PARLEY_COMMAND_ENV: "",
  });
});

test("the agent hands on what the operator names, and the variables of its own template", () => {
  const environment = { JAVA_HOME: "/java", GOPATH: "/go", OTHER: "secret", PARLEY_COMMAND_ENV: "ignored" };
  const commandVariables = ["JAVA_*", "GOPATH"];
  expect(localAgentEnvironment({ environment, commandVariables, ownEnvironment: { STAGE: "test" } })).toEqual(
    { JAVA_HOME: "/java", GOPATH: "/go", STAGE: "test", PARLEY_COMMAND_ENV: "JAVA_*,GOPATH,STAGE" },
  );
});
