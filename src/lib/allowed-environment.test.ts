import { expect, test } from "vitest";
import { allowedEnvironment } from "./allowed-environment.js";

test.each([
  ...["PATH", "HOME", "USER", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM", "SSL_CERT_FILE"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy"],
])("%s is inherited", (name) => {
  expect(allowedEnvironment({ [name]: "x" }, [])).toEqual({ [name]: "x" });
});

test.each([
  ...["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "ANTHROPIC_API_KEY"],
  ...["OPENAI_API_KEY", "GEMINI_API_KEY", "GITHUB_TOKEN", "GH_TOKEN", "NPM_TOKEN", "SSH_AUTH_SOCK"],
  ...["DATABASE_URL", "REDIS_URL", "PGPASSWORD", "KUBECONFIG", "GOOGLE_APPLICATION_CREDENTIALS"],
  ...["OTEL_EXPORTER_OTLP_HEADERS", "NODE_OPTIONS", "LD_PRELOAD", "BASH_ENV", "ENV", "GIT_ASKPASS"],
  ...["npm_config_prefix", "npm_config__authToken", "PARLEY_ADMIN_TOKEN", "PARLEY_AGENT_TOKEN"],
  ...["MY_PATH", "PATHX", "HOMEBREW_GITHUB_API_TOKEN", "PROXY_PASSWORD", "TERMINAL_KEY", "LANGSMITH_API_KEY"],
  ...["PARLEY_SECRET_PROXY", "parley_secret_proxy", "Http_Proxy", "", "path"],
])("%s stays with the server", (name) => {
  expect(allowedEnvironment({ [name]: "x" }, [])).toEqual({});
});

test.each<[named: string[], inherited: string[]]>([
  [[], []],
  [["JAVA_HOME"], ["JAVA_HOME"]],
  [["JAVA_*"], ["JAVA_HOME", "JAVA_OPTS"]],
  [["java_home", "JAVA"], []],
  [["*"], ["JAVA_HOME", "JAVA_OPTS", "TOKEN"]],
  [["PARLEY_AGENT_TOKEN", "PARLEY_*"], []],
])("what the operator names is inherited besides: %j", (named, inherited) => {
  const variables = { JAVA_HOME: "x", JAVA_OPTS: "x", TOKEN: "x", PARLEY_AGENT_TOKEN: "x", GONE: undefined };
  expect(Object.keys(allowedEnvironment(variables, named))).toEqual(inherited);
});
