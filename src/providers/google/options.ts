/** Call options of Gemini models. */
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
  /** Thinking budget in tokens; 0 = none, -1 = chosen by the model. Overrides the reasoning effort. */
  thinkingBudget: z.int().min(-1).optional(),
  /** Whether thought summaries are streamed; default: when a reasoning effort is set. */
  includeThoughts: z.boolean().optional(),
  /**
   * Name of a prompt cached by the vendor, `cachedContents/…`. It contains system prompt and tools; the vendor refuses
   * any others, so ours are omitted.
   */
  cachedContent: z.string().min(1).optional(),
  /** Thresholds of the vendor's safety filters; other categories have the vendor's default. */
  safetySettings: z
    .array(z.strictObject({ category: z.enum(SAFETY_CATEGORIES), threshold: z.enum(SAFETY_THRESHOLDS) }))
    .optional(),
  temperature: z.number().min(0).max(2).optional(),
  topP: z.number().min(0).max(1).optional(),
  topK: z.int().positive().optional(),
  /**
   * Google Search. The Gemini API has none of the fields that limit it; models before Gemini 3 cannot search in a
   * request with tools.
   */
  webSearch: webSearchSchema
    .omit({ allowedDomains: true, blockedDomains: true, contextSize: true, maxUses: true })
    .optional(),
});
export type GoogleOptions = z.infer<typeof googleOptionsSchema>;
