// Variables about limits, traces and records, for the test that knows all variables: unset, as texts, and what they mean.

export const OPERATIONS_DEFAULTS = {
  usageLimitFailure: "closed",
  debugRecords: false,
  debugRetentionDays: 3,
  traces: undefined,
  tracesEndpoint: undefined,
  tracesHeaders: {},
  tracesService: "parley",
  tracesRatio: 1,
  trustedProxies: { networks: [] },
  rateLimits: true,
  rateLimitUserMutations: 1_200,
  rateLimitAddressMutations: 12_000,
  rateLimitAddressVisits: 600,
  rateLimitAddressFailures: 600,
};

export const OPERATIONS_TEXTS = {
  PARLEY_DEBUG_RECORDS: "on",
  PARLEY_DEBUG_RETENTION_DAYS: "90",
  PARLEY_USAGE_LIMIT_FAILURE: "open",
  PARLEY_TRACES: "off",
  OTEL_EXPORTER_OTLP_ENDPOINT: "https://collector.example:4318",
  OTEL_EXPORTER_OTLP_HEADERS: "api-key=a%20b,x=1",
  OTEL_SERVICE_NAME: "chats",
  PARLEY_TRACES_RATIO: ".25",
  PARLEY_TRUSTED_PROXIES: "loopback, 10.0.0.0/8,fd00::7",
  PARLEY_RATE_LIMITS: "off",
  PARLEY_RATE_LIMIT_USER_MUTATIONS: "1",
  PARLEY_RATE_LIMIT_ADDRESS_MUTATIONS: "2",
  PARLEY_RATE_LIMIT_ADDRESS_VISITS: "off",
  PARLEY_RATE_LIMIT_ADDRESS_FAILURES: "0",
};

export const OPERATIONS_VALUES = {
  usageLimitFailure: "open",
  debugRecords: true,
  debugRetentionDays: 90,
  traces: false,
  tracesEndpoint: "https://collector.example:4318",
  tracesHeaders: { "api-key": "a b", x: "1" },
  tracesService: "chats",
  tracesRatio: 0.25,
  trustedProxies: { networks: ["127.0.0.0/8", "::1/128", "10.0.0.0/8", "fd00::7/128"] },
  rateLimits: false,
  rateLimitUserMutations: 1,
  rateLimitAddressMutations: 2,
  rateLimitAddressVisits: 0,
  rateLimitAddressFailures: 0,
};
