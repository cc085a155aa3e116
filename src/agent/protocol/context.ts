/** Protocol of the workspace context: what a model knows of a workspace from the start, and skills that it may read. */
import { z } from "zod";
import { pathSchema } from "./text.js";

/** `content` is cleaned for a prompt, and at most 64 KiB of the file; `isTruncated`: the file is longer. */
const instructionFileSchema = z.object({
  path: z.string(),
  content: z.string(),
  isTruncated: z.boolean(),
});
export type InstructionFile = z.infer<typeof instructionFileSchema>;

/** `description` is one line, perhaps empty; `directory` contains the skill's files. */
const skillSchema = z.object({ name: z.string(), description: z.string(), directory: z.string() });
export type Skill = z.infer<typeof skillSchema>;

/** Instruction files are in ascending order of precedence: the last wins. */
export const workspaceContextSchema = z.object({
  operatingSystem: z.string(),
  workingDirectory: z.string(),
  instructionFiles: z.array(instructionFileSchema),
  skills: z.array(skillSchema),
});
export type WorkspaceContext = z.infer<typeof workspaceContextSchema>;

/** A name is also a folder's name, so it must not contain a path. */
const skillNameSchema = z
  .string()
  .max(64)
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, "A skill's name has small letters, digits and single hyphens.");

export const readSkillRequestSchema = z.object({ name: skillNameSchema });
export type ReadSkillRequest = z.infer<typeof readSkillRequestSchema>;

/**
 * `body` has the skill's instructions, cut at 64 KiB; `files` are the other entries of its folder, folders ending with
 * `/`.
 */
export const readSkillAnswerSchema = z.object({
  name: z.string(),
  directory: z.string(),
  body: z.string(),
  isTruncated: z.boolean(),
  files: z.array(z.string()),
});
export type ReadSkillAnswer = z.infer<typeof readSkillAnswerSchema>;

const isPlainPath = (path: string) =>
  !path.startsWith("/") && path.split("/").every((part) => part === "." || !part.startsWith("."));

export const readSkillFileRequestSchema = z.object({
  name: skillNameSchema,
  path: pathSchema.refine(isPlainPath, {
    message: "A path must be relative to the skill's directory, without `..` and without hidden names.",
  }),
});
export type ReadSkillFileRequest = z.infer<typeof readSkillFileRequestSchema>;

/** The beginning of the file: `isTruncated` when it has more than 512 KiB. */
export const readSkillFileAnswerSchema = z.object({ content: z.string(), isTruncated: z.boolean() });
export type ReadSkillFileAnswer = z.infer<typeof readSkillFileAnswerSchema>;
