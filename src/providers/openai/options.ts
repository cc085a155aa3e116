/** Call options of OpenAI's two formats, and those of compatible servers and Azure. */
import { z } from "zod";
import type { JsonObject } from "../../domain/common/json.js";
import { webSearchSchema } from "../common/options.js";
import type { ProviderSettings } from "../types.js";

/** Limits from the vendor's documentation. */
const CACHE_KEY_LIMIT_CHARACTERS = 64;
const SAFETY_IDENTIFIER_LIMIT_CHARACTERS = 128;
const METADATA_LIMIT_PAIRS = 16;
const METADATA_KEY_LIMIT_CHARACTERS = 64;
const METADATA_VALUE_LIMIT_CHARACTERS = 512;

const metadata = z
  .record(z.string().max(METADATA_KEY_LIMIT_CHARACTERS), z.string().max(METADATA_VALUE_LIMIT_CHARACTERS))
  .refine(
    (pairs) => Object.keys(pairs).length <= METADATA_LIMIT_PAIRS,
    `at most ${METADATA_LIMIT_PAIRS} pairs`,
  );

/** Options of both formats. All are optional, with the vendor's default. */
const shared = {
  /** Whether the model may ask for several tools at once. */
  parallelToolCalls: z.boolean().optional(),
  /** How long the answers are. */
  verbosity: z.enum(["low", "medium", "high"]).optional(),
  /** Replaces the chat's own key, by which the vendor finds a cached prompt prefix. */
  promptCacheKey: z.string().min(1).max(CACHE_KEY_LIMIT_CHARACTERS).optional(),
  /** A stable, anonymous id of the user, for the vendor's abuse detection. */
  safetyIdentifier: z.string().min(1).max(SAFETY_IDENTIFIER_LIMIT_CHARACTERS).optional(),
  /** Stored by the vendor with the answer. */
  metadata: metadata.optional(),
  /** Reasoning models refuse it. */
  temperature: z.number().min(0).max(2).optional(),
  /** Reasoning models refuse it. */
  topP: z.number().min(0).max(1).optional(),
};

const responsesFields = {
  ...shared,
  /**
   * Whether the vendor stores the answers, so that a call can continue from the last one. Off by default: each call
   * contains the whole history.
   */
  store: z.boolean().default(false),
  /** Detail of the reasoning summary; default `auto` when a reasoning effort is set. `off` requests none. */
  reasoningSummary: z.enum(["auto", "concise", "detailed", "off"]).optional(),
  /** Maximum of calls of the vendor's own tools in one answer. */
  maxToolCalls: z.int().positive().optional(),
  serviceTier: z.enum(["auto", "default", "flex", "scale", "priority", "fast", "ultrafast"]).optional(),
  /** The vendor supports neither blocked domains nor a limit of searches. */
  webSearch: webSearchSchema.omit({ blockedDomains: true, maxUses: true }).optional(),
};

const chatFields = {
  ...shared,
  /** Whether the vendor stores the answers, for its own evaluations; required for `metadata`. */
  store: z.boolean().optional(),
  serviceTier: z.enum(["auto", "default", "flex", "scale", "priority", "fast"]).optional(),
};

/** Additional fields, merged into the body last. */
const extraBody = z.record(z.string(), z.json()).optional();

const compatibleFields = {
  extraBody,
  /**
   * Field of the reasoning effort: `reasoning_effort` (OpenAI, vLLM, most), `reasoning` (an object with the effort
   * inside: OpenRouter), or none.
   */
  reasoningEffortStyle: z.enum(["reasoning_effort", "reasoning", "off"]).default("reasoning_effort"),
  /** Whether earlier reasoning is sent back to the server that produced it, as DeepSeek and others require. */
  replayReasoning: z.boolean().default(true),
  /** Whether the model has vision; otherwise images become placeholders. */
  acceptsImages: z.boolean().default(true),
  /** Whether the server accepts PDFs in OpenAI's format (OpenRouter); few do. */
  acceptsPdfs: z.boolean().default(false),
};

/** Azure's optional `api-version`; its v1 API needs none. */
const apiVersion = z
  .string()
  .regex(/^[\w.-]{1,32}$/)
  .optional();

/** Without web search: OpenAI has it in this format only for special search models, which have no tools. */
export const openaiChatOptionsSchema = z.strictObject(chatFields);
export type OpenaiChatOptions = z.infer<typeof openaiChatOptionsSchema>;
export const openaiResponsesOptionsSchema = z.strictObject(responsesFields);
export type OpenaiResponsesOptions = z.infer<typeof openaiResponsesOptionsSchema>;

export const compatibleChatOptionsSchema = z.strictObject({ ...chatFields, ...compatibleFields });
export type CompatibleChatOptions = z.infer<typeof compatibleChatOptionsSchema>;
const compatibleResponsesOptionsSchema = z.strictObject({ ...responsesFields, extraBody });

const azureChatOptionsSchema = z.strictObject({ ...chatFields, apiVersion });
const azureResponsesOptionsSchema = z.strictObject({ ...responsesFields, apiVersion });

/** All options of Chat Completions adapters of any kind. */
export type AnyChatOptions = OpenaiChatOptions &
  Partial<Omit<CompatibleChatOptions, keyof OpenaiChatOptions>> & { apiVersion?: string | undefined };
/** All options of Responses adapters of any kind. */
export type AnyResponsesOptions = OpenaiResponsesOptions & {
  extraBody?: JsonObject | undefined;
  apiVersion?: string | undefined;
};

/** The options of a provider's Responses calls. */
export function responsesOptionsSchema({
  kind,
}: Pick<ProviderSettings, "kind">): z.ZodType<AnyResponsesOptions> {
  if (kind === "openai_compatible") return compatibleResponsesOptionsSchema;
  return kind === "azure_openai" ? azureResponsesOptionsSchema : openaiResponsesOptionsSchema;
}

/** The options of a provider's Chat Completions calls. */
export function chatOptionsSchema({ kind }: Pick<ProviderSettings, "kind">): z.ZodType<AnyChatOptions> {
  if (kind === "openai_compatible") return compatibleChatOptionsSchema;
  return kind === "azure_openai" ? azureChatOptionsSchema : openaiChatOptionsSchema;
}
