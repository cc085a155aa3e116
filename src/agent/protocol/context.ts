/** What a model should know of a workspace beforehand, and skills that it may read. */
import { z } from "zod";
import { pathSchema } from "./text.js";

/** `content` is fit for a prompt: clean and at most 64 KiB of the file, of which `isTruncated` says there is more. */
export const instructionFileSchema = z.object({
  path: z.string(),
  content: z.string(),
  isTruncated: z.boolean(),
});
export type InstructionFile = z.infer<typeof instructionFileSchema>;

/** `description` is one line, perhaps empty; `directory` holds the skill's files. */
export const skillSchema = z.object({ name: z.string(), description: z.string(), directory: z.string() });
export type Skill = z.infer<typeof skillSchema>;

/** What a model should know of the workspace beforehand. Instruction files are in the order of their weight, last wins. */
export const workspaceContextSchema = z.object({
  operatingSystem: z.string(),
  workingDirectory: z.string(),
  instructionFiles: z.array(instructionFileSchema),
  skills: z.array(skillSchema),
});
export type WorkspaceContext = z.infer<typeof workspaceContextSchema>;

/** A name is also a folder's name: it must not lead anywhere else. */
const skillNameSchema = z
  .string()
  .max(64)
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, "A skill's name has small letters, digits and single hyphens.");

export const readSkillRequestSchema = z.object({ name: skillNameSchema });
export type ReadSkillRequest = z.infer<typeof readSkillRequestSchema>;

/** `body` is what the skill teaches, cut at 64 KiB; `files` are what lies beside it, folders ending with `/`. */
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
