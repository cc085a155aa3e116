import { expect, test } from "vitest";
import { localAgentEnvironment } from "./local.js";

test("a local agent inherits the paths of instructions and skills", () => {
  const paths = { PARLEY_AGENT_INSTRUCTIONS_DIRS: "/etc/parley", PARLEY_AGENT_SKILL_META_FILE: "HOW.md" };
  expect(
    localAgentEnvironment({ ...paths, PARLEY_AGENT_PORT: "4001", PARLEY_AGENT_TOKEN: "secret" }),
  ).toEqual(paths);
});

test("a local agent inherits nothing that belongs to the server alone", () => {
  const environment = {
    PATH: "/bin",
    HOME: "/home/ada",
    PARLEY_ADMIN_TOKEN: "secret",
    DATABASE_URL: "postgres://secret",
    REDIS_URL: "redis://secret",
    ANTHROPIC_API_KEY: "secret",
    OPENAI_API_KEY: "secret",
    NODE_ENV: "production",
    npm_config_prefix: "/elsewhere",
  };
  expect(localAgentEnvironment(environment)).toEqual({ PATH: "/bin", HOME: "/home/ada" });
});
