// Variables of models: vendors' keys and endpoints, the default model, and timeouts; part of the table in config.ts.
import { z } from "zod";
import {
  accept,
  address,
  onOrOff,
  oneOf,
  optional,
  vendorAddress,
  vendorKey,
  wholeNumber,
  withDefault,
  word,
} from "./variable.js";

/** The timeout of Node's own HTTP client; larger values would have no effect. */
const LONGEST_SILENCE_MS = 300_000;

export const modelVariables = {
  anthropicApiKey: vendorKey("ANTHROPIC_API_KEY", "Anthropic models"),
  anthropicBaseUrl: vendorAddress("ANTHROPIC_BASE_URL", "Anthropic's"),
  openaiApiKey: vendorKey("OPENAI_API_KEY", "OpenAI models"),
  openaiBaseUrl: vendorAddress("OPENAI_BASE_URL", "OpenAI's"),
  openaiApi: withDefault(
    {
      name: "PARLEY_OPENAI_API",
      meaning: "Which of OpenAI's APIs is used with the OpenAI and Azure endpoints.",
    },
    "responses",
    oneOf(["responses", "chat"]),
  ),
  geminiApiKey: vendorKey("GEMINI_API_KEY", "Google's Gemini models"),
  geminiBaseUrl: vendorAddress("GOOGLE_GEMINI_BASE_URL", "Google's Gemini"),
  azureApiKey: vendorKey("AZURE_OPENAI_API_KEY", "deployments in Azure OpenAI"),
  azureEndpoint: optional(
    {
      name: "AZURE_OPENAI_ENDPOINT",
      meaning: "The Azure OpenAI resource, https://NAME.openai.azure.com; PARLEY_MODEL names the deployment.",
    },
    "none; required with AZURE_OPENAI_API_KEY",
    address(["https:", "http:"]),
  ),
  bedrockApiKey: vendorKey("AWS_BEARER_TOKEN_BEDROCK", "Claude on Amazon Bedrock"),
  awsRegion: optional(
    { name: "AWS_REGION", meaning: "The region of Bedrock, for example eu-central-1." },
    "none; Bedrock requires it or BEDROCK_BASE_URL",
    accept("the name of an AWS region", z.string().regex(/^[a-z]{2,}(-[a-z]+)+-\d+$/)),
  ),
  bedrockBaseUrl: vendorAddress("BEDROCK_BASE_URL", "Bedrock's"),
  model: optional(
    { name: "PARLEY_MODEL", meaning: "Model id of the default model configuration." },
    "none",
    word("a model id without spaces"),
  ),
  smallModel: optional(
    {
      name: "PARLEY_SMALL_MODEL",
      meaning: "Model id of a fast, cheap model for small tasks such as titles.",
    },
    "the chat's own model",
    word("a model id without spaces"),
  ),
  maxOutputTokens: withDefault(
    {
      name: "PARLEY_MAX_OUTPUT_TOKENS",
      meaning:
        "Output tokens of one model call where the model's own maxOutputTokens is not set; reduced to the model's limit.",
    },
    "32000",
    wholeNumber(256, 10_000_000, " of tokens"),
  ),
  titles: withDefault(
    {
      name: "PARLEY_TITLES",
      meaning: "Whether a model generates titles of new chats automatically: on or off.",
    },
    "on",
    onOrOff,
  ),
  modelStartupTimeoutMs: withDefault(
    {
      name: "PARLEY_MODEL_STARTUP_TIMEOUT_MS",
      meaning: "A model call is retried when the answer has not started after this many milliseconds.",
    },
    "60000",
    wholeNumber(100, LONGEST_SILENCE_MS, " of milliseconds"),
  ),
  modelStallTimeoutMs: withDefault(
    {
      name: "PARLEY_MODEL_STALL_TIMEOUT_MS",
      meaning: "A model call is retried when the answer stalls for this many milliseconds.",
    },
    "120000",
    wholeNumber(100, LONGEST_SILENCE_MS, " of milliseconds"),
  ),
};
