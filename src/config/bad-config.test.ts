import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ConfigError, readConfig, settingsTable } from "./config.js";

const read = (env: Record<string, string | undefined>) => readConfig(env, "/home/someone", () => true);

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env, "/home/someone", (path) => path === "/home/someone");
  } catch (failure) {
    if (failure instanceof ConfigError) return failure.problems;
    throw failure;
  }
  return [];
}

describe("a bad configuration", () => {
  test("is refused with every problem at once", () => {
    expect(
      problemsOf({
        PARLEY_PORT: "65536",
        PARLEY_ROLE: "boss",
        PARLEY_WORKSPACE_DIR: "/nowhere",
        PARLEY_GRAPHIQL: "perhaps",
        PARLEY_ACQUIRE_BATCH_SIZE: "0",
      }),
    ).toEqual([
      'PARLEY_PORT must be a whole number from 0 to 65535, but is "65536".',
      'PARLEY_WORKSPACE_DIR must be the path of an existing folder, but is "/nowhere".',
      'PARLEY_ROLE must be one of all, api, worker, but is "boss".',
      'PARLEY_ACQUIRE_BATCH_SIZE must be a whole number from 1 to 1000, but is "0".',
      'PARLEY_GRAPHIQL must be on or off, but is "perhaps".',
    ]);
  });

  test("never shows a secret", () => {
    const problems = problemsOf({
      DATABASE_URL: "mysql://hunter2@db",
      REDIS_URL: "hunter2",
      PARLEY_ADMIN_TOKEN: "hunter2",
      ANTHROPIC_API_KEY: "hunter2 hunter2",
      OPENAI_API_KEY: "hunter2\n",
      OPENAI_BASE_URL: "ftp://hunter2@x",
      GEMINI_API_KEY: "hunter2 ",
      AZURE_OPENAI_ENDPOINT: "hunter2",
      AWS_BEARER_TOKEN_BEDROCK: "hunter2 2",
    });
    expect({ count: problems.length, shown: problems.join().includes("hunter2") }).toEqual({
      count: 9,
      shown: false,
    });
  });

  test("cannot have a heartbeat of half the lease or more", () => {
    expect([
      problemsOf({ PARLEY_LEASE_MS: "1000", PARLEY_HEARTBEAT_MS: "500" }),
      problemsOf({ PARLEY_LEASE_MS: "60000", PARLEY_HEARTBEAT_MS: "30000" }),
    ]).toEqual([
      ["PARLEY_HEARTBEAT_MS must be less than half of PARLEY_LEASE_MS, but they are 500 and 1000."],
      ["PARLEY_HEARTBEAT_MS must be less than half of PARLEY_LEASE_MS, but they are 30000 and 60000."],
    ]);
  });

  test.each([
    [{ AZURE_OPENAI_API_KEY: "k" }, ["AZURE_OPENAI_API_KEY and AZURE_OPENAI_ENDPOINT must be set together."]],
    [
      { PARLEY_WORKSPACE_AGENT_URL: "http://127.0.0.1:4400" },
      ["PARLEY_WORKSPACE_AGENT_URL and PARLEY_WORKSPACE_AGENT_TOKEN must be set together."],
    ],
    [
      {
        PARLEY_WORKSPACE_AGENT_URL: "http://127.0.0.1:4400",
        PARLEY_WORKSPACE_AGENT_TOKEN: "0123456789abcdef",
      },
      [],
    ],
    [
      { AZURE_OPENAI_ENDPOINT: "https://mine.openai.azure.com" },
      ["AZURE_OPENAI_API_KEY and AZURE_OPENAI_ENDPOINT must be set together."],
    ],
    [
      { AWS_BEARER_TOKEN_BEDROCK: "k" },
      ["AWS_BEARER_TOKEN_BEDROCK requires AWS_REGION or BEDROCK_BASE_URL."],
    ],
    [{ AWS_BEARER_TOKEN_BEDROCK: "k", BEDROCK_BASE_URL: "https://bedrock.example" }, []],
    [{ AWS_REGION: "eu-central-1" }, []],
    [
      { PARLEY_ALLOWED_ORIGINS: "https://chat.example/app" },
      [
        'PARLEY_ALLOWED_ORIGINS must be origins such as https://chat.example, separated by commas, but is "https://chat.example/app".',
      ],
    ],
    [
      { PARLEY_PUBLIC_URL: "javascript:alert(1)" },
      [
        'PARLEY_PUBLIC_URL must be a URL that starts with https:// or http://, without user, query and fragment, but is "javascript:alert(1)".',
      ],
    ],
    [
      { PARLEY_OIDC_ISSUER: "https://login.example" },
      ["PARLEY_OIDC_ISSUER and PARLEY_OIDC_CLIENT_ID must be set together."],
    ],
    [
      { PARLEY_OIDC_ROLE_CLAIM: "groups" },
      ["PARLEY_OIDC_ROLE_CLAIM and PARLEY_OIDC_ADMIN_VALUES must be set together."],
    ],
    [{ PARLEY_JWT_AUDIENCE: "parley" }, ["PARLEY_JWT_ISSUER and PARLEY_JWT_AUDIENCE must be set together."]],
    [
      { PARLEY_S3_ACCESS_KEY_ID: "AKIA" },
      [
        "PARLEY_S3_ENDPOINT and the keys require PARLEY_S3_BUCKET.",
        "PARLEY_S3_ACCESS_KEY_ID and PARLEY_S3_SECRET_ACCESS_KEY must be set together.",
      ],
    ],
    [{ AWS_REGION: "Frankfurt" }, ['AWS_REGION must be the name of an AWS region, but is "Frankfurt".']],
  ] as [Record<string, string>, string[]][])("of a vendor is whole or refused: %j", (env, problems) => {
    expect(problemsOf(env)).toEqual(problems);
  });

  test("gives a shorter lease a heartbeat that fits it", () => {
    expect([read({}).heartbeatMs, read({ PARLEY_LEASE_MS: "3000" }).heartbeatMs]).toEqual([9_000, 1_000]);
  });

  test("model timeouts are at most the timeout of Node's own HTTP client", () => {
    const problems = problemsOf({
      PARLEY_MODEL_STALL_TIMEOUT_MS: "300001",
      PARLEY_MODEL_STARTUP_TIMEOUT_MS: "99",
    });
    expect(problems).toEqual([
      'PARLEY_MODEL_STARTUP_TIMEOUT_MS must be a whole number of milliseconds from 100 to 300000, but is "99".',
      'PARLEY_MODEL_STALL_TIMEOUT_MS must be a whole number of milliseconds from 100 to 300000, but is "300001".',
    ]);
  });

  test.each(["4000.5", "-1", "1e3", "0x10", " 4000", "٤", "4000 ", "NaN"])("has no port %j", (text) => {
    expect(problemsOf({ PARLEY_PORT: text })).toHaveLength(1);
  });

  test("names a file that stands where the workspace folder should be", () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-config-"));
    try {
      writeFileSync(join(folder, "file"), "");
      const attempt = () => readConfig({ PARLEY_WORKSPACE_DIR: "file" }, folder);
      expect(attempt).toThrow("PARLEY_WORKSPACE_DIR must be the path of an existing folder");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("is always answered with a ConfigError, whatever the text", () => {
    const names = Object.values(settingsTable).map(({ name }) => name);
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.string({ unit: "binary" }), (name, text) => {
        try {
          return Object.isFrozen(readConfig({ [name]: text }, "/"));
        } catch (failure) {
          return failure instanceof ConfigError && failure.message.includes(name);
        }
      }),
    );
  });
});

test.each(["PARLEY_ADMIN_TOKEN", "parley_x", "*", "A-B", "A=1", "A B"])(
  "commands cannot be given the variable %j",
  (names) => {
    expect(problemsOf({ PARLEY_COMMAND_ENV: `PATH,${names}` })).toEqual([
      `PARLEY_COMMAND_ENV must be names of variables that do not begin with PARLEY_, separated by commas; each may end in *, but is "PATH,${names}".`,
    ]);
  },
);
