/** Schemas of text fields that many requests have. */
import { z } from "zod";

export const hasNoNul = (text: string) => !text.includes("\0");
export const pathSchema = z
  .string()
  .min(1, "A path is required.")
  .refine(hasNoNul, "A path must not contain a NUL character.");
