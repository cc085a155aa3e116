import { expect, test } from "vitest";
import { readConfig } from "../config/config.js";
import { localAgentEnvironment } from "../workspaces/provisioners/local.js";
import { environmentModels, keyVariablesOf, modelKeys, silenceLimits } from "./model-environment.js";

const read = (env: Record<string, string>) => readConfig(env, "/", () => true);

test("without any key there is no vendor", () => {
  const config = read({ OPENAI_BASE_URL: "http://127.0.0.1:1/v1", AWS_REGION: "eu-central-1" });
  expect({ models: environmentModels(config), variables: keyVariablesOf(config) }).toEqual({
    models: {},
    variables: new Set(),
  });
});

test("each key brings its vendor with its address", () => {
  const config = read({
    ANTHROPIC_API_KEY: "a",
    OPENAI_API_KEY: "o",
    PARLEY_OPENAI_API: "chat",
    GEMINI_API_KEY: "g",
    GOOGLE_GEMINI_BASE_URL: "http://127.0.0.1:1",
    AZURE_OPENAI_API_KEY: "z",
    AZURE_OPENAI_ENDPOINT: "https://mine.openai.azure.com",
    AWS_BEARER_TOKEN_BEDROCK: "b",
    AWS_REGION: "eu-central-1",
    PARLEY_MODEL: "some-model",
  });
  expect({
    models: environmentModels(config),
    keys: modelKeys(config),
    variables: keyVariablesOf(config),
  }).toEqual({
    models: {
      anthropic: { baseUrl: undefined },
      openai: { baseUrl: undefined, api: "chat" },
      google: { baseUrl: "http://127.0.0.1:1" },
      azure_openai: { baseUrl: "https://mine.openai.azure.com", api: "chat" },
      bedrock: { baseUrl: "https://bedrock-runtime.eu-central-1.amazonaws.com" },
      model: "some-model",
    },
    keys: {
      ANTHROPIC_API_KEY: "a",
      OPENAI_API_KEY: "o",
      GEMINI_API_KEY: "g",
      AZURE_OPENAI_API_KEY: "z",
      AWS_BEARER_TOKEN_BEDROCK: "b",
    },
    variables: new Set([
      "ANTHROPIC_API_KEY",
      "OPENAI_API_KEY",
      "GEMINI_API_KEY",
      "AZURE_OPENAI_API_KEY",
      "AWS_BEARER_TOKEN_BEDROCK",
    ]),
  });
});

test.each([
  [{ AWS_REGION: "cn-north-1" }, "https://bedrock-runtime.cn-north-1.amazonaws.com.cn"],
  [{ AWS_REGION: "eu-central-1", BEDROCK_BASE_URL: "https://gateway.example" }, "https://gateway.example"],
])("Bedrock's address follows from %j", (env: Record<string, string>, baseUrl) => {
  const { bedrock } = environmentModels(read({ AWS_BEARER_TOKEN_BEDROCK: "b", ...env }));
  expect(bedrock).toEqual({ baseUrl });
});

test("the silences to bear are the configured ones", () => {
  const config = read({ PARLEY_MODEL_STARTUP_TIMEOUT_MS: "500", PARLEY_MODEL_STALL_TIMEOUT_MS: "700" });
  expect(silenceLimits(config)).toEqual({ startupTimeoutMs: 500, stallTimeoutMs: 700 });
});

test("no vendor's key reaches the commands that a model runs", () => {
  const keys = Object.keys(modelKeys(read({}))).map((name) => [name, "secret"]);
  const inherited = localAgentEnvironment({ environment: Object.fromEntries(keys) });
  expect(inherited).toEqual({ PARLEY_COMMAND_ENV: "" });
});
