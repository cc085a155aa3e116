// Variables about the models that turns ask: vendors' keys and addresses, which model, and how long one may be silent.
// Part of the table in config.ts.
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

/** Node's own HTTP client bears no longer silence; a larger number would promise what nothing keeps. */
const LONGEST_SILENCE_MS = 300_000;

export const modelVariables = {
  anthropicApiKey: vendorKey("ANTHROPIC_API_KEY", "Anthropic models"),
  anthropicBaseUrl: vendorAddress("ANTHROPIC_BASE_URL", "Anthropic's"),
  openaiApiKey: vendorKey("OPENAI_API_KEY", "OpenAI models"),
  openaiBaseUrl: vendorAddress("OPENAI_BASE_URL", "OpenAI's"),
  openaiApi: withDefault(
    {
      name: "PARLEY_OPENAI_API",
      meaning: "Which of OpenAI's APIs the OpenAI and Azure endpoints are asked through.",
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
    "none; it goes with AZURE_OPENAI_API_KEY",
    address(["https:", "http:"]),
  ),
  bedrockApiKey: vendorKey("AWS_BEARER_TOKEN_BEDROCK", "Claude on Amazon Bedrock"),
  awsRegion: optional(
    { name: "AWS_REGION", meaning: "The region whose Bedrock is asked, for example eu-central-1." },
    "none; Bedrock needs it or BEDROCK_BASE_URL",
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
      meaning: "Model id of a quick, cheap model for little things such as titles.",
    },
    "the chat's own model",
    word("a model id without spaces"),
  ),
  maxOutputTokens: withDefault(
    {
      name: "PARLEY_MAX_OUTPUT_TOKENS",
      meaning:
        "Tokens that one answer may have where a model's own maxOutputTokens is not set; a model that gives less is asked for less.",
    },
    "32000",
    wholeNumber(256, 10_000_000, " of tokens"),
  ),
  titles: withDefault(
    { name: "PARLEY_TITLES", meaning: "Whether a model names new chats unasked: on or off." },
    "on",
    onOrOff,
  ),
  modelStartupTimeoutMs: withDefault(
    {
      name: "PARLEY_MODEL_STARTUP_TIMEOUT_MS",
      meaning: "A model that has not begun to answer after this many milliseconds is asked anew.",
    },
    "60000",
    wholeNumber(100, LONGEST_SILENCE_MS, " of milliseconds"),
  ),
  modelStallTimeoutMs: withDefault(
    {
      name: "PARLEY_MODEL_STALL_TIMEOUT_MS",
      meaning: "A model that falls silent in its answer for this many milliseconds is asked anew.",
    },
    "120000",
    wholeNumber(100, LONGEST_SILENCE_MS, " of milliseconds"),
  ),
};
