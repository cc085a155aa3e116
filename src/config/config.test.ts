import { describe, expect, test } from "vitest";
import { FILE_DEFAULTS, FILE_VALUES, FILE_VARIABLES } from "../../test/support/file-settings.js";
import {
  OPERATIONS_DEFAULTS,
  OPERATIONS_TEXTS,
  OPERATIONS_VALUES,
} from "../../test/support/operations-settings.js";
import {
  WORKSPACE_DEFAULTS,
  WORKSPACE_TEXTS,
  WORKSPACE_VALUES,
} from "../../test/support/workspaces/workspace-settings.js";
import { defaultDataDir } from "./data-dir.js";
import { readConfig, settingsTable } from "./config.js";

const HOME = "/home/someone";
const read = (env: Record<string, string | undefined>) => readConfig({ HOME, ...env }, HOME, () => true);

const defaults = {
  host: "127.0.0.1",
  port: 4000,
  dataDir: defaultDataDir({ env: { HOME }, cwd: HOME }),
  configFile: undefined,
  logFormat: "auto",
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
  commandVariables: [],
  titles: true,
  modelStartupTimeoutMs: 60_000,
  modelStallTimeoutMs: 120_000,
  logLevel: "info",
  isProduction: false,
  graphiql: true,
  isDataDirChosen: false,
  isPortChosen: false,
  warnings: [],
};

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
      PARLEY_CONFIG: "/srv/parley.yaml",
      PARLEY_LOG_FORMAT: "json",
      PARLEY_DATA_DIR: "/srv/parley",
      PARLEY_COMMAND_ENV: "JAVA_HOME, GO*,",
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
      Object.values(settingsTable)
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
      configFile: "/srv/parley.yaml",
      logFormat: "json",
      dataDir: "/srv/parley",
      commandVariables: ["JAVA_HOME", "GO*"],
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
      isDataDirChosen: true,
      isPortChosen: true,
      warnings: [],
    });
  });

  test("treats an empty variable as unset", () => {
    const empty = Object.fromEntries(Object.values(settingsTable).map(({ name }) => [name, ""]));
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
      "PARLEY_PROT is set but is not a variable of Parley; it has no effect.",
    ]);
  });
});
