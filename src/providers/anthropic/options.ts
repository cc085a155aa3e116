/** Call options of Claude models. Absent options have the vendor's default. */
import { z } from "zod";
import { webSearchSchema } from "../common/options.js";

/** The vendor's own minimum. */
export const SMALLEST_BUDGET_TOKENS = 1_024;
/** Far more beta features than a model has. */
const BETAS_LIMIT = 16;
const STOP_SEQUENCES_LIMIT = 16;

const searchSchema = webSearchSchema
  .omit({ contextSize: true })
  .refine(({ allowedDomains, blockedDomains }) => !(allowedDomains && blockedDomains), {
    error: "`allowedDomains` and `blockedDomains` exclude each other",
  });

export const anthropicOptionsSchema = z.strictObject({
  /**
   * Effort for the whole answer, with or without thinking. A chat's own reasoning effort overrides it; not sent to
   * models without efforts.
   */
  effort: z.enum(["low", "medium", "high", "xhigh", "max"]).optional(),
  /**
   * Thinking budget in tokens, instead of the reasoning effort's; turns thinking on by itself. Reduced so that tokens
   * are left for the answer. For models with adaptive thinking it only turns thinking on.
   */
  thinkingBudgetTokens: z.int().min(SMALLEST_BUDGET_TOKENS).optional(),
  /** `false`: earlier thinking is not sent to the model. Default true. */
  sendReasoning: z.boolean().optional(),
  /** Omitted where the vendor refuses it: with thinking, and for models after the 4.6 generation. */
  temperature: z.number().min(0).max(1).optional(),
  /**
   * Omitted where the vendor refuses it: together with `temperature`, below 0.95 with thinking, and as `temperature`.
   */
  topP: z.number().min(0).max(1).optional(),
  /** Omitted where the vendor refuses it, as `temperature`. */
  topK: z.int().positive().optional(),
  /** The answer stops before any of these texts. The vendor refuses blank ones. */
  stopSequences: z
    .array(z.string().regex(/\S/, { error: "a stop sequence must not be blank" }))
    .min(1)
    .max(STOP_SEQUENCES_LIMIT)
    .optional(),
  /** At most one tool call in an answer. */
  disableParallelToolUse: z.boolean().optional(),
  /** Whether the prompt has the vendor's cache breakpoints. Default on. */
  promptCaching: z.enum(["on", "off"]).optional(),
  /** Names of the vendor's beta features, as in its documentation. */
  betas: z
    .array(z.string().regex(/^[a-zA-Z0-9._-]+$/, { error: "this is no feature's name" }))
    .min(1)
    .max(BETAS_LIMIT)
    .optional(),
  /** `standard_only`: never use (and pay for) the account's priority capacity. */
  serviceTier: z.enum(["auto", "standard_only"]).optional(),
  /** The vendor's own web search. It has no `contextSize`. */
  webSearch: searchSchema.optional(),
});
export type AnthropicOptions = z.infer<typeof anthropicOptionsSchema>;

/** Betas travel in a header; Bedrock's SDK moves them into the body. */
export function betaHeader({ betas }: Pick<AnthropicOptions, "betas">): Record<string, string> {
  return betas === undefined ? {} : { "anthropic-beta": betas.join(",") };
}
