/** Validation of call options before any call, with the schema of the provider's adapter. */
import type { z } from "zod";
import type { JsonObject } from "../../domain/common/json.js";
import { anthropicOptionsSchema } from "../anthropic/options.js";
import { bedrockOptionsSchema } from "../bedrock/options.js";
import { googleOptionsSchema } from "../google/options.js";
import { chatOptionsSchema, responsesOptionsSchema } from "../openai/options.js";
import { problemsIn } from "./options.js";
import type { ProviderSettings } from "../types.js";

type Settings = Pick<ProviderSettings, "kind" | "openaiApi">;

/** The problems of the options, each with its path, never with a value. Empty when the options are valid. */
export function validateOptions(
  settings: Settings,
  options: JsonObject,
): { message: string; path: string[] }[] {
  return problemsIn(schemaOf(settings), options);
}

function schemaOf({ kind, openaiApi }: Settings): z.ZodType {
  switch (kind) {
    case "anthropic":
      return anthropicOptionsSchema;
    case "bedrock":
      return bedrockOptionsSchema;
    case "google":
      return googleOptionsSchema;
    case "openai":
    case "openai_compatible":
    case "azure_openai":
      return openaiApi === "responses" ? responsesOptionsSchema({ kind }) : chatOptionsSchema({ kind });
  }
}
