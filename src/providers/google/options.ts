/** Call options of a Gemini model, as its configuration holds them. */
import { z } from "zod";
import { webSearchSchema } from "../common/options.js";

const SAFETY_CATEGORIES = [
  "HARM_CATEGORY_HARASSMENT",
  "HARM_CATEGORY_HATE_SPEECH",
  "HARM_CATEGORY_SEXUALLY_EXPLICIT",
  "HARM_CATEGORY_DANGEROUS_CONTENT",
  "HARM_CATEGORY_CIVIC_INTEGRITY",
] as const;
const SAFETY_THRESHOLDS = [
  "BLOCK_LOW_AND_ABOVE",
  "BLOCK_MEDIUM_AND_ABOVE",
  "BLOCK_ONLY_HIGH",
  "BLOCK_NONE",
  "OFF",
] as const;

export const googleOptionsSchema = z.strictObject({
  /** Tokens to think with; 0 = none, -1 = as many as the model likes. Beats the reasoning effort. */
  thinkingBudget: z.int().min(-1).optional(),
  /** Whether summaries of the thoughts are streamed; by default when a reasoning effort is chosen. */
  includeThoughts: z.boolean().optional(),
  /**
   * The name of a prompt that the vendor keeps, `cachedContents/…`. The vendor then takes system prompt and tools
   * from there and refuses any others, so ours are left out.
   */
  cachedContent: z.string().min(1).optional(),
  /** What the vendor's filters let pass; a category that is not here stays as the vendor has it. */
  safetySettings: z
    .array(z.strictObject({ category: z.enum(SAFETY_CATEGORIES), threshold: z.enum(SAFETY_THRESHOLDS) }))
    .optional(),
  temperature: z.number().min(0).max(2).optional(),
  topP: z.number().min(0).max(1).optional(),
  topK: z.int().positive().optional(),
  /** Google Search. The Gemini API has none of the fields that limit it; models before Gemini 3 have no search beside tools. */
  webSearch: webSearchSchema
    .omit({ allowedDomains: true, blockedDomains: true, contextSize: true, maxUses: true })
    .optional(),
});
export type GoogleOptions = z.infer<typeof googleOptionsSchema>;
