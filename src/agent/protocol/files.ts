/** Files: read by lines, written, edited. */
import { z } from "zod";
import { pathSchema } from "./text.js";

/** Largest JSON body of a write or an edit. */
export const MAX_FILE_BODY_BYTES = 16 * 1024 * 1024;
/** Largest file that a write or an edit may leave behind, and the largest that can be edited. */
export const MAX_WRITE_BYTES = 10 * 1024 * 1024;
/** Files of one edit, and edits of one file. */
export const MAX_EDITED_FILES = 200;
export const MAX_EDITS_PER_FILE = 500;

/** `offset` is the first line wanted, counted from 1; `limit` a number of lines. */
export const readLinesRequestSchema = z.object({
  path: pathSchema,
  offset: z.number().int().min(1).optional(),
  limit: z.number().int().min(1).optional(),
});
export type ReadLinesRequest = z.infer<typeof readLinesRequestSchema>;

/** Each row of `content` is the line's number, a tab and its text. `error` is made for a model to read. */
export const readLinesAnswerSchema = z.discriminatedUnion("success", [
  z.object({
    success: z.literal(true),
    fileSize: z.number().int(),
    totalLines: z.number().int(),
    linesRead: z.number().int(),
    content: z.string(),
  }),
  z.object({ success: z.literal(false), error: z.string() }),
]);
export type ReadLinesAnswer = z.infer<typeof readLinesAnswerSchema>;

export const writeFileRequestSchema = z.object({ path: pathSchema, content: z.string() });
export type WriteFileRequest = z.infer<typeof writeFileRequestSchema>;
/** `path` is where the content went, all links followed. */
export const writeFileAnswerSchema = z.object({ path: z.string(), bytes: z.number().int() });
export type WriteFileAnswer = z.infer<typeof writeFileAnswerSchema>;

/** Edits of one file happen in order, each on the result of the one before. */
export const editFilesRequestSchema = z.object({
  files: z
    .array(
      z.object({
        path: pathSchema,
        edits: z
          .array(z.object({ oldText: z.string(), newText: z.string(), replaceAll: z.boolean().optional() }))
          .min(1, "At least one edit is required.")
          .max(MAX_EDITS_PER_FILE),
      }),
    )
    .min(1, "At least one file is required.")
    .max(MAX_EDITED_FILES),
});
export type EditFilesRequest = z.infer<typeof editFilesRequestSchema>;

/** One entry for each different path, as the caller wrote it, in the order of first mention. */
export const editFilesAnswerSchema = z.object({
  files: z.array(z.object({ path: z.string(), replacements: z.number().int() })),
});
export type EditFilesAnswer = z.infer<typeof editFilesAnswerSchema>;
