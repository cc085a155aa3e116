import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FILE_DEFAULTS, FILE_VALUES, FILE_VARIABLES } from "../test/support/file-settings.js";
import {
  OPERATIONS_DEFAULTS,
  OPERATIONS_TEXTS,
  OPERATIONS_VALUES,
} from "../test/support/operations-settings.js";
import { WORKSPACE_DEFAULTS, WORKSPACE_TEXTS, WORKSPACE_VALUES } from "../test/support/workspace-settings.js";
import { ConfigError, describeConfig, readConfig } from "./config.js";

const read = (env: Record<string, string | undefined>) => readConfig(env, "/home/someone", () => true);

const defaults = {
  host: "127.0.0.1",
  port: 4000,
  dataDir: "/home/someone/.parley",
  databaseUrl: undefined,
  redisUrl: undefined,
  publicUrl: undefined,
  oidcIssuer: undefined,
  oidcClientId: undefined,
  oidcClientSecret: undefined,
  oidcScopes: "openid profile email",
  oidcRoleClaim: undefined,
  oidcAdminValues: [],
  oidcAllowedDomains: [],
  sessionLifeMs: 604_800_000,
  sessionIdleMs: 86_400_000,
  jwtIssuer: undefined,
  jwtAudience: undefined,
  allowedOrigins: [],
  ...FILE_DEFAULTS,
  pushContact: undefined,
  isPushPrivateAllowed: false,
  isGitHostPrivateAllowed: false,
  metricsAddress: undefined,
  ...OPERATIONS_DEFAULTS,
  adminToken: undefined,
  workspaceDir: "/home/someone",
  ...WORKSPACE_DEFAULTS,
  role: "all",
  leaseMs: 30_000,
  heartbeatMs: 9_000,
  acquireBatchSize: 10,
  maxRunningChats: 0,
  maxRunningChatsPerUser: 0,
  ...{ maxStepsPerTurn: 1_200, clientToolTimeoutMs: 300_000 },
  subagentDepth: 1,
  autoArchiveDays: 0,
  anthropicApiKey: undefined,
  anthropicBaseUrl: undefined,
  openaiApiKey: undefined,
  openaiBaseUrl: undefined,
  openaiApi: "responses",
  geminiApiKey: undefined,
  geminiBaseUrl: undefined,
  azureApiKey: undefined,
  azureEndpoint: undefined,
  bedrockApiKey: undefined,
  awsRegion: undefined,
  bedrockBaseUrl: undefined,
  model: undefined,
  ...{ smallModel: undefined, maxOutputTokens: 32_000 },
  titles: true,
  modelStartupTimeoutMs: 60_000,
  modelStallTimeoutMs: 120_000,
  logLevel: "info",
  isProduction: false,
  graphiql: true,
  warnings: [],
};

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env, "/home/someone", (path) => path === "/home/someone");
  } catch (failure) {
    if (failure instanceof ConfigError) return failure.problems;
    throw failure;
  }
  return [];
}

describe("a configuration", () => {
  test("needs no variable at all", () => {
    expect(read({})).toEqual(defaults);
  });

  test("takes every variable", () => {
    const all = {
      PARLEY_HOST: "::1",
      PARLEY_PORT: "0",
      PARLEY_PUBLIC_URL: "https://parley.example/p/",
      PARLEY_OIDC_ISSUER: "https://login.example/realm",
      PARLEY_OIDC_CLIENT_ID: "parley",
      PARLEY_OIDC_CLIENT_SECRET: "a-secret",
      PARLEY_OIDC_SCOPES: "openid groups",
      PARLEY_OIDC_ROLE_CLAIM: "realm_access.roles",
      PARLEY_OIDC_ADMIN_VALUES: "ops, root",
      PARLEY_OIDC_ALLOWED_DOMAINS: "example.org",
      PARLEY_SESSION_LIFE_MS: "3600000",
      PARLEY_SESSION_IDLE_MS: "60000",
      PARLEY_JWT_ISSUER: "https://login.example/realm",
      PARLEY_JWT_AUDIENCE: "parley-api",
      PARLEY_ALLOWED_ORIGINS: "https://chat.example, HTTP://Localhost:3000/",
      PARLEY_DATA_DIR: "/srv/parley",
      DATABASE_URL: "postgres://parley:secret@db:5432/parley",
      REDIS_URL: "rediss://cache:6380",
      ...FILE_VARIABLES,
      PARLEY_PUSH_CONTACT: "mailto:ops@example.com",
      PARLEY_PUSH_PRIVATE_NETWORK: "on",
      PARLEY_GIT_HOSTS_PRIVATE_NETWORK: "on",
      PARLEY_METRICS_ADDRESS: "[::1]:9464",
      PARLEY_REPLICA_URL: "http://10.0.0.7:4000",
      PARLEY_REPLICA_SECRET: "secret-of-the-replicas",
      PARLEY_ADMIN_TOKEN: "0123456789abcdef",
      PARLEY_WORKSPACE_DIR: "project",
      ...WORKSPACE_TEXTS,
      PARLEY_ROLE: "worker",
      PARLEY_SECRETS_KEYS: `one:${"A".repeat(43)}=`,
      PARLEY_LEASE_MS: "1000",
      PARLEY_HEARTBEAT_MS: "499",
      PARLEY_ACQUIRE_BATCH_SIZE: "1000",
      PARLEY_MAX_RUNNING_CHATS: "20",
      PARLEY_MAX_RUNNING_CHATS_PER_USER: "3",
      ...{ PARLEY_MAX_STEPS_PER_TURN: "40", PARLEY_CLIENT_TOOL_TIMEOUT_MS: "0" },
      PARLEY_SUBAGENT_DEPTH: "2",
      PARLEY_AUTO_ARCHIVE_DAYS: "30",
      ANTHROPIC_API_KEY: "sk-a",
      ANTHROPIC_BASE_URL: "http://127.0.0.1:1234",
      OPENAI_API_KEY: "sk-o",
      OPENAI_BASE_URL: "https://gateway.example/v1",
      PARLEY_OPENAI_API: "chat",
      GEMINI_API_KEY: "AIza-g",
      GOOGLE_GEMINI_BASE_URL: "http://127.0.0.1:1235",
      AZURE_OPENAI_API_KEY: "az",
      AZURE_OPENAI_ENDPOINT: "https://mine.openai.azure.com",
      AWS_BEARER_TOKEN_BEDROCK: "bedrock-key",
      AWS_REGION: "us-gov-west-1",
      BEDROCK_BASE_URL: "https://bedrock.example",
      PARLEY_MODEL_STARTUP_TIMEOUT_MS: "100",
      PARLEY_MODEL_STALL_TIMEOUT_MS: "200",
      PARLEY_MODEL: "some/model-1",
      ...{ PARLEY_SMALL_MODEL: "some/model-mini", PARLEY_MAX_OUTPUT_TOKENS: "8000" },
      PARLEY_TITLES: "off",
      PARLEY_LOG_LEVEL: "debug",
      ...OPERATIONS_TEXTS,
      PARLEY_GRAPHIQL: "on",
      NODE_ENV: "production",
    };
    expect(
      describeConfig()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(Object.keys(all).sort());
    expect(read(all)).toEqual({
      host: "::1",
      port: 0,
      publicUrl: "https://parley.example/p",
      oidcIssuer: "https://login.example/realm",
      oidcClientId: "parley",
      oidcClientSecret: "a-secret",
      oidcScopes: "openid groups",
      oidcRoleClaim: "realm_access.roles",
      oidcAdminValues: ["ops", "root"],
      oidcAllowedDomains: ["example.org"],
      sessionLifeMs: 3_600_000,
      sessionIdleMs: 60_000,
      jwtIssuer: "https://login.example/realm",
      jwtAudience: "parley-api",
      allowedOrigins: ["https://chat.example", "http://localhost:3000"],
      dataDir: "/srv/parley",
      databaseUrl: "postgres://parley:secret@db:5432/parley",
      redisUrl: "rediss://cache:6380",
      ...FILE_VALUES,
      pushContact: "mailto:ops@example.com",
      isPushPrivateAllowed: true,
      isGitHostPrivateAllowed: true,
      metricsAddress: { host: "::1", port: 9464 },
      ...OPERATIONS_VALUES,
      replicaUrl: "http://10.0.0.7:4000",
      replicaSecret: "secret-of-the-replicas",
      secretsKeys: [{ id: "one", bytes: Buffer.alloc(32) }],
      adminToken: "0123456789abcdef",
      workspaceDir: "/home/someone/project",
      ...WORKSPACE_VALUES,
      role: "worker",
      leaseMs: 1000,
      heartbeatMs: 499,
      acquireBatchSize: 1000,
      maxRunningChats: 20,
      maxRunningChatsPerUser: 3,
      ...{ maxStepsPerTurn: 40, clientToolTimeoutMs: 0 },
      subagentDepth: 2,
      autoArchiveDays: 30,
      anthropicApiKey: "sk-a",
      anthropicBaseUrl: "http://127.0.0.1:1234",
      openaiApiKey: "sk-o",
      openaiBaseUrl: "https://gateway.example/v1",
      openaiApi: "chat",
      geminiApiKey: "AIza-g",
      geminiBaseUrl: "http://127.0.0.1:1235",
      azureApiKey: "az",
      azureEndpoint: "https://mine.openai.azure.com",
      bedrockApiKey: "bedrock-key",
      awsRegion: "us-gov-west-1",
      bedrockBaseUrl: "https://bedrock.example",
      model: "some/model-1",
      ...{ smallModel: "some/model-mini", maxOutputTokens: 8_000 },
      titles: false,
      modelStartupTimeoutMs: 100,
      modelStallTimeoutMs: 200,
      logLevel: "debug",
      isProduction: true,
      graphiql: true,
      warnings: [],
    });
  });

  test("treats an empty variable as unset", () => {
    const empty = Object.fromEntries(describeConfig().map(({ name }) => [name, ""]));
    expect(read(empty)).toEqual(defaults);
  });

  test("cannot be changed", () => {
    const config = read({});
    expect([Object.isFrozen(config), Object.isFrozen(config.warnings)]).toEqual([true, true]);
  });

  test("hides the browser page in production unless it is asked for", () => {
    expect([
      read({ NODE_ENV: "production" }).graphiql,
      read({ NODE_ENV: "production", PARLEY_GRAPHIQL: "on" }).graphiql,
      read({ NODE_ENV: "test" }).graphiql,
      read({ PARLEY_GRAPHIQL: "off" }).graphiql,
    ]).toEqual([false, true, true, false]);
  });

  test("warns of a misspelt variable but not of the workspace agent's", () => {
    expect(read({ PARLEY_PROT: "1", PARLEY_AGENT_TOKEN: "x", OTHER: "y" }).warnings).toEqual([
      "PARLEY_PROT is set but Parley knows no such variable; it has no effect.",
    ]);
  });
});

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
    [
      { AZURE_OPENAI_API_KEY: "k" },
      ["AZURE_OPENAI_API_KEY and AZURE_OPENAI_ENDPOINT must be set both or neither."],
    ],
    [
      { PARLEY_WORKSPACE_AGENT_URL: "http://127.0.0.1:4400" },
      ["PARLEY_WORKSPACE_AGENT_URL and PARLEY_WORKSPACE_AGENT_TOKEN must be set both or neither."],
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
      ["AZURE_OPENAI_API_KEY and AZURE_OPENAI_ENDPOINT must be set both or neither."],
    ],
    [
      { AWS_BEARER_TOKEN_BEDROCK: "k" },
      ["AWS_BEARER_TOKEN_BEDROCK needs AWS_REGION or BEDROCK_BASE_URL beside it."],
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
      ["PARLEY_OIDC_ISSUER and PARLEY_OIDC_CLIENT_ID must be set both or neither."],
    ],
    [
      { PARLEY_OIDC_ROLE_CLAIM: "groups" },
      ["PARLEY_OIDC_ROLE_CLAIM and PARLEY_OIDC_ADMIN_VALUES must be set both or neither."],
    ],
    [
      { PARLEY_JWT_AUDIENCE: "parley" },
      ["PARLEY_JWT_ISSUER and PARLEY_JWT_AUDIENCE must be set both or neither."],
    ],
    [
      { PARLEY_S3_ACCESS_KEY_ID: "AKIA" },
      [
        "PARLEY_S3_ENDPOINT and the keys need PARLEY_S3_BUCKET beside them.",
        "PARLEY_S3_ACCESS_KEY_ID and PARLEY_S3_SECRET_ACCESS_KEY must be set both or neither.",
      ],
    ],
    [{ AWS_REGION: "Frankfurt" }, ['AWS_REGION must be the name of an AWS region, but is "Frankfurt".']],
  ] as [Record<string, string>, string[]][])("of a vendor is whole or refused: %j", (env, problems) => {
    expect(problemsOf(env)).toEqual(problems);
  });

  test("gives a shorter lease a heartbeat that fits it", () => {
    expect([read({}).heartbeatMs, read({ PARLEY_LEASE_MS: "3000" }).heartbeatMs]).toEqual([9_000, 1_000]);
  });

  test("bears no silence longer than Node's own HTTP client does", () => {
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
    const names = describeConfig().map(({ name }) => name);
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
