/** Protocol of searches: files by name, lines by regular expression. Paths in responses are valid in other requests. */
import { z } from "zod";
import { pathSchema } from "./text.js";

/** Patterns are written by hand; longer ones are mistakes. */
const MAX_PATTERN_CHARACTERS = 1_000;
/** Paths of one response. */
export const DEFAULT_FOUND_FILES = 200;
export const MAX_FOUND_FILES = 2_000;
/** Lines of one response. */
export const DEFAULT_FOUND_LINES = 100;
export const MAX_FOUND_LINES = 1_000;
/** Paths and lines of a response together; the first that does not fit ends the list. */
export const MAX_SEARCH_ANSWER_BYTES = 32 * 1024;
/** Larger files are not searched, only counted: they are logs and data, better searched by a command. */
export const MAX_SEARCHED_FILE_BYTES = 10 * 1024 * 1024;
/** A search ends after this with the results so far. */
export const MAX_SEARCH_MS = 15_000;
/** Matching lines are counted up to this; beyond it the pattern is too broad, and the number does not matter. */
export const MAX_COUNTED_LINES = 10_000;

const hasNoLineBreak = (text: string) => !/[\n\r\0]/.test(text);
const isBelow = (glob: string) => !glob.startsWith("/") && !glob.split("/").includes("..");

/**
 * `*`, `?`, `[…]`, `{a,b}`, and `**` for any number of folders. Without a `/` it matches names in every folder,
 * otherwise paths relative to the searched folder.
 */
const globSchema = z
  .string()
  .min(1, "A pattern is required.")
  .max(MAX_PATTERN_CHARACTERS)
  .refine(hasNoLineBreak, "A pattern must not contain line breaks or NUL characters.")
  .refine(isBelow, "A pattern is relative to the searched folder, without `..`; give the folder in `path`.");

const whereSchema = {
  /** A folder; default: the agent's directory. */
  path: pathSchema.optional(),
  /** Includes what `.gitignore` files and `.git/info/exclude` exclude. `.git` itself is never searched. */
  includeIgnored: z.boolean().optional(),
};

export const findFilesRequestSchema = z.object({
  pattern: globSchema,
  ...whereSchema,
  limit: z.number().int().min(1).max(MAX_FOUND_FILES).optional(),
});
export type FindFilesRequest = z.infer<typeof findFilesRequestSchema>;

/** Why a search ended before it was complete. */
const endedEarlySchema = z.enum(["time", "count"]).optional();

const searchFactsSchema = {
  /** Absent for a complete search, whose totals are exact; otherwise totals count what was found until then. */
  endedEarly: endedEarlySchema,
  /** Folders and files that could not be read. */
  unreadable: z.number().int(),
};

/** `paths` are sorted; the first of `total`. Links are neither followed nor listed. */
export const findFilesAnswerSchema = z.object({
  paths: z.array(z.string()),
  total: z.number().int(),
  ...searchFactsSchema,
});
export type FindFilesAnswer = z.infer<typeof findFilesAnswerSchema>;

/** `pattern` has RE2 syntax and is matched against one line at a time. */
export const searchFilesRequestSchema = z.object({
  pattern: z
    .string()
    .min(1, "A pattern is required.")
    .max(MAX_PATTERN_CHARACTERS)
    .refine(hasNoLineBreak, "A pattern is compared with single lines; it must not contain line breaks."),
  ...whereSchema,
  glob: globSchema.optional(),
  ignoreCase: z.boolean().optional(),
  limit: z.number().int().min(1).max(MAX_FOUND_LINES).optional(),
});
export type SearchFilesRequest = z.infer<typeof searchFilesRequestSchema>;

/** `line` counts from 1. Of a long line `text` is the part around the match. */
const foundLineSchema = z.object({ line: z.number().int(), text: z.string() });
export type FoundLine = z.infer<typeof foundLineSchema>;

/** `files` are sorted; their lines are the first of `totalLines` in `totalFiles`. */
export const searchFilesAnswerSchema = z.object({
  files: z.array(z.object({ path: z.string(), lines: z.array(foundLineSchema) })),
  totalLines: z.number().int(),
  totalFiles: z.number().int(),
  /** Files above `MAX_SEARCHED_FILE_BYTES`; `paths` names the first of them. */
  tooLarge: z.object({ total: z.number().int(), paths: z.array(z.string()) }),
  ...searchFactsSchema,
});
export type SearchFilesAnswer = z.infer<typeof searchFilesAnswerSchema>;
