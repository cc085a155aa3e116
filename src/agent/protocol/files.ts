/** Protocol of files and folders: list, read by lines or as bytes, write, edit. */
import { z } from "zod";
import { pathSchema } from "./text.js";

/** Largest JSON body of a write or an edit. */
export const MAX_FILE_BODY_BYTES = 16 * 1024 * 1024;
/** Largest result of a write or an edit, and the largest file that can be edited. */
export const MAX_WRITE_BYTES = 10 * 1024 * 1024;
/** Files of one edit, and edits of one file. */
const MAX_EDITED_FILES = 200;
const MAX_EDITS_PER_FILE = 500;

/** `offset` is the number of the first line, from 1; `limit` is a number of lines. */
export const readLinesRequestSchema = z.object({
  path: pathSchema,
  offset: z.number().int().min(1).optional(),
  limit: z.number().int().min(1).optional(),
});
export type ReadLinesRequest = z.infer<typeof readLinesRequestSchema>;

/** Each row of `content` is the line's number, a tab and its text. `error` is written for a model. */
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

/** Query parameters. `offset` and `limit` are in bytes; a limit of 0, or none, means the rest of the file. */
export const readBytesQuerySchema = z.object({
  path: pathSchema,
  offset: z.coerce.number().int().min(0).optional(),
  limit: z.coerce.number().int().min(0).optional(),
});
export type ReadBytesQuery = z.infer<typeof readBytesQuerySchema>;
/** Response header: size of the whole file in bytes. */
export const FILE_SIZE_HEADER = "parley-file-size";

/** Entries of one response. */
export const DEFAULT_LISTED_ENTRIES = 500;
const MAX_LISTED_ENTRIES = 5_000;

/** Without `path` the agent's own directory is listed. */
export const listDirectoryRequestSchema = z.object({
  path: pathSchema.optional(),
  limit: z.number().int().min(1).max(MAX_LISTED_ENTRIES).optional(),
});
export type ListDirectoryRequest = z.infer<typeof listDirectoryRequestSchema>;

/** A link has the kind of its target, and a `linkTarget` as written in the link. `size` is in bytes. */
const directoryEntrySchema = z.object({
  name: z.string(),
  kind: z.enum(["directory", "file", "broken-link", "other"]),
  size: z.number().int().optional(),
  linkTarget: z.string().optional(),
});
export type DirectoryEntry = z.infer<typeof directoryEntrySchema>;

/** `entries` are the first of `total`: directories, then the rest, each in the order of their names' bytes. */
export const listDirectoryAnswerSchema = z.object({
  path: z.string(),
  entries: z.array(directoryEntrySchema),
  total: z.number().int(),
});
export type ListDirectoryAnswer = z.infer<typeof listDirectoryAnswerSchema>;

export const resolvePathRequestSchema = z.object({ path: pathSchema });
export type ResolvePathRequest = z.infer<typeof resolvePathRequestSchema>;
/** Absolute, all links resolved; parts that do not exist stay as they are. */
export const resolvePathAnswerSchema = z.object({ path: z.string() });
export type ResolvePathAnswer = z.infer<typeof resolvePathAnswerSchema>;

export const writeFileRequestSchema = z.object({ path: pathSchema, content: z.string() });
export type WriteFileRequest = z.infer<typeof writeFileRequestSchema>;
/** `path` is the written file, all links resolved. */
export const writeFileAnswerSchema = z.object({ path: z.string(), bytes: z.number().int() });
export type WriteFileAnswer = z.infer<typeof writeFileAnswerSchema>;

/** Edits of one file apply in order, each to the result of the one before. */
export const editFilesRequestSchema = z.object({
  /** Whether the response contains the changes as unified diffs. */
  includeDiff: z.boolean().optional(),
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
  files: z.array(
    z.object({
      path: z.string(),
      replacements: z.number().int(),
      /** Against the file before the request; "" when nothing changed; bounded. Only with `includeDiff`. */
      diff: z.string().optional(),
    }),
  ),
});
export type EditFilesAnswer = z.infer<typeof editFilesAnswerSchema>;
