/** The call options of a Claude model on Amazon Bedrock: Anthropic's, without what Bedrock does not have. */
import { z } from "zod";
import { anthropicOptionsSchema } from "../anthropic/options.js";

/** Bedrock has no web search and no service tiers of Anthropic's. */
export const bedrockOptionsSchema = anthropicOptionsSchema
  .omit({ webSearch: true, serviceTier: true })
  .extend({
    /** The AWS region to call, for example `eu-central-1`; beats the one that the provider's address names. */
    region: z
      .string()
      .regex(/^[a-z]{2,4}(-[a-z]+)+-\d{1,2}$/, { error: "this is no AWS region" })
      .optional(),
  });
export type BedrockOptions = z.infer<typeof bedrockOptionsSchema>;
