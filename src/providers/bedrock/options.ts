/** Call options of Claude models on Amazon Bedrock: Anthropic's, without those that Bedrock lacks. */
import { z } from "zod";
import { anthropicOptionsSchema } from "../anthropic/options.js";

/** Bedrock has neither Anthropic's web search nor its service tiers. */
export const bedrockOptionsSchema = anthropicOptionsSchema
  .omit({ webSearch: true, serviceTier: true })
  .extend({
    /** The AWS region to call, for example `eu-central-1`; overrides the one in the provider's address. */
    region: z
      .string()
      .regex(/^[a-z]{2,4}(-[a-z]+)+-\d{1,2}$/, { error: "this is no AWS region" })
      .optional(),
  });
