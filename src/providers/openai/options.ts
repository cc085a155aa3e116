/** The call options that OpenAI's two formats take from a model's configuration, and what compatible servers add. */
import { z } from "zod";
import type { JsonObject } from "../../domain/common/json.js";
import { webSearchSchema } from "../common/options.js";
import type { ProviderSettings } from "../types.js";

/** Limits of the vendor's own documentation. */
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

/** What both formats have. Everything is optional; what is absent is left to the vendor's default. */
const shared = {
  /** Whether the model may ask for several tools at once. */
  parallelToolCalls: z.boolean().optional(),
  /** How long the answers are. */
  verbosity: z.enum(["low", "medium", "high"]).optional(),
  /** Instead of the chat's own key, by which the vendor finds a cached beginning of the prompt. */
  promptCacheKey: z.string().min(1).max(CACHE_KEY_LIMIT_CHARACTERS).optional(),
  /** A stable, anonymous name of the person, for the vendor's abuse detection. */
  safetyIdentifier: z.string().min(1).max(SAFETY_IDENTIFIER_LIMIT_CHARACTERS).optional(),
  /** Kept by the vendor beside the stored answer. */
  metadata: metadata.optional(),
  /** Reasoning models refuse it. */
  temperature: z.number().min(0).max(2).optional(),
  /** Reasoning models refuse it. */
  topP: z.number().min(0).max(1).optional(),
};

const responsesFields = {
  ...shared,
  /**
   * Whether the vendor keeps the answers, so that a call may go on from the last one. Off by default: the history is
   * ours, and everything the vendor needs travels with each call.
   */
  store: z.boolean().default(false),
  /** How much of its thinking the model tells; `auto` wherever a reasoning effort is set. `off` asks for none. */
  reasoningSummary: z.enum(["auto", "concise", "detailed", "off"]).optional(),
  /** Calls of the vendor's own tools in one answer, at most. */
  maxToolCalls: z.int().positive().optional(),
  serviceTier: z.enum(["auto", "default", "flex", "scale", "priority", "fast", "ultrafast"]).optional(),
  /** The vendor knows no blocked domains and no limit of searches of its own. */
  webSearch: webSearchSchema.omit({ blockedDomains: true, maxUses: true }).optional(),
};

const chatFields = {
  ...shared,
  /** Whether the vendor keeps the answers, for its own evaluations; `metadata` needs it. */
  store: z.boolean().optional(),
  serviceTier: z.enum(["auto", "default", "flex", "scale", "priority", "fast"]).optional(),
};

/** Merged last into the body, over everything else: what a server knows and we do not. */
const extraBody = z.record(z.string(), z.json()).optional();

const compatibleFields = {
  extraBody,
  /**
   * How the server wants to hear the reasoning effort: `reasoning_effort` (OpenAI, vLLM, most), `reasoning` (an object
   * with the effort inside: OpenRouter), or not at all.
   */
  reasoningEffortStyle: z.enum(["reasoning_effort", "reasoning", "off"]).default("reasoning_effort"),
  /** Whether the model's earlier reasoning goes back to the server that gave it, as DeepSeek and others demand. */
  replayReasoning: z.boolean().default(true),
  /** Whether the model has eyes; otherwise it reads that there is an image which it cannot see. */
  acceptsImages: z.boolean().default(true),
  /** Whether the server takes PDFs as OpenAI does (OpenRouter); few do. */
  acceptsPdfs: z.boolean().default(false),
};

/** Azure's optional `api-version`; its v1 API needs none. */
const apiVersion = z
  .string()
  .regex(/^[\w.-]{1,32}$/)
  .optional();

/** Web search is not here: OpenAI has it in this format only for special search models, which have no tools. */
export const openaiChatOptionsSchema = z.strictObject(chatFields);
export type OpenaiChatOptions = z.infer<typeof openaiChatOptionsSchema>;
export const openaiResponsesOptionsSchema = z.strictObject(responsesFields);
export type OpenaiResponsesOptions = z.infer<typeof openaiResponsesOptionsSchema>;

export const compatibleChatOptionsSchema = z.strictObject({ ...chatFields, ...compatibleFields });
export type CompatibleChatOptions = z.infer<typeof compatibleChatOptionsSchema>;
export const compatibleResponsesOptionsSchema = z.strictObject({ ...responsesFields, extraBody });

export const azureChatOptionsSchema = z.strictObject({ ...chatFields, apiVersion });
export const azureResponsesOptionsSchema = z.strictObject({ ...responsesFields, apiVersion });

/** Every option that a Chat Completions adapter of any kind may find. */
export type AnyChatOptions = OpenaiChatOptions &
  Partial<Omit<CompatibleChatOptions, keyof OpenaiChatOptions>> & { apiVersion?: string | undefined };
/** Every option that a Responses adapter of any kind may find. */
export type AnyResponsesOptions = OpenaiResponsesOptions & {
  extraBody?: JsonObject | undefined;
  apiVersion?: string | undefined;
};

/** Which options a provider's Responses calls take. */
export function responsesOptionsSchema({
  kind,
}: Pick<ProviderSettings, "kind">): z.ZodType<AnyResponsesOptions> {
  if (kind === "openai_compatible") return compatibleResponsesOptionsSchema;
  return kind === "azure_openai" ? azureResponsesOptionsSchema : openaiResponsesOptionsSchema;
}

/** Which options a provider's Chat Completions calls take. */
export function chatOptionsSchema({ kind }: Pick<ProviderSettings, "kind">): z.ZodType<AnyChatOptions> {
  if (kind === "openai_compatible") return compatibleChatOptionsSchema;
  return kind === "azure_openai" ? azureChatOptionsSchema : openaiChatOptionsSchema;
}
