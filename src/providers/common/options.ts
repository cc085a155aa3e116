/** Parser for a model's call options: JSON in its configuration, typed values in an adapter. Refuses unknown keys. */
import { z } from "zod";
import { ModelCallError } from "../../domain/common/failures.js";
import type { JsonObject } from "../../domain/common/json.js";
import type { ProviderSettings } from "../types.js";

/** Problems in one error message. */
const NAMED_PROBLEMS_LIMIT = 3;
/** A key or a value in a configuration can be of any length; a message cannot. */
const PROBLEM_LIMIT_CHARACTERS = 200;

const domains = z.array(z.string().min(1)).min(1);

/**
 * The vendor's own web search: absent = off, present (even empty) = on. A vendor's schema omits the fields that the
 * vendor lacks (`webSearchSchema.omit({...})`), so that they are refused.
 */
export const webSearchSchema = z.strictObject({
  /** Only pages of these domains (`example.com`, subdomains included). */
  allowedDomains: domains.optional(),
  /** No pages of these domains. */
  blockedDomains: domains.optional(),
  /** Amount of page content that the model reads. */
  contextSize: z.enum(["low", "medium", "high"]).optional(),
  /** Maximum of searches in one call. */
  maxUses: z.int().positive().optional(),
});

/**
 * The options as the vendor's schema types them; absent options are empty. Throws `ModelCallError` of kind `config`,
 * not worth a retry, whose message names the provider and every wrong key (the first few), never a value.
 */
export function parseOptions<Schema extends z.ZodType>(
  schema: Schema,
  options: JsonObject | undefined,
  settings: Pick<ProviderSettings, "kind" | "displayName">,
): z.infer<Schema> {
  const parsed = schema.safeParse(options ?? {});
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues
    .flatMap(locateIssue)
    .map(({ path, message }) => describe(path, message));
  const named = problems.slice(0, NAMED_PROBLEMS_LIMIT).join("; ");
  const rest = problems.length > NAMED_PROBLEMS_LIMIT ? "; …" : "";
  const message = `${settings.displayName} cannot be called with this model's options: ${named}${rest}.`;
  throw new ModelCallError(
    { kind: "config", message, provider: settings.kind, isRetryable: false },
    undefined,
    { cause: parsed.error },
  );
}

/** Problems that `problemsIn` returns. */
const REPORTED_PROBLEMS_LIMIT = 20;

/**
 * The problems of the options, each with its path; at most `REPORTED_PROBLEMS_LIMIT`. Empty when the options are
 * valid.
 */
export function problemsIn(schema: z.ZodType, options: JsonObject): { path: string[]; message: string }[] {
  const parsed = schema.safeParse(options);
  return parsed.success ? [] : parsed.error.issues.flatMap(locateIssue).slice(0, REPORTED_PROBLEMS_LIMIT);
}

function locateIssue({ path, message, ...issue }: z.core.$ZodIssue): { path: string[]; message: string }[] {
  const keys = path.map(String);
  if (issue.code !== "unrecognized_keys") return [{ path: keys, message }];
  return issue.keys.map((key) => ({ path: [...keys, key], message: "there is no such option" }));
}

function describe(path: readonly string[], problem: string): string {
  const text = path.length === 0 ? problem : `\`${path.join(".")}\`: ${problem}`;
  return text.length <= PROBLEM_LIMIT_CHARACTERS ? text : `${text.slice(0, PROBLEM_LIMIT_CHARACTERS - 1)}…`;
}
