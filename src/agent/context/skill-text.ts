/** Parser for a skill's own file: front matter with its name and description, then the instructions. Pure. */
import { parse } from "yaml";
import { z } from "zod";
import { cutText } from "../../lib/text/utf8.js";
import { cleanText } from "./clean-text.js";

/** The limits of the Agent Skills format: a name is a folder's name, a description a paragraph. */
const MAX_SKILL_NAME_CHARACTERS = 64;
const MAX_DESCRIPTION_BYTES = 1024;

/** Far above real front matter; bounds the time that parsing hostile YAML can take. */
const MAX_FRONT_MATTER_CHARACTERS = 8 * 1024;

const FENCE = "---";

/** Other keys are for other programs. */
const frontMatterSchema = z.object({
  name: z
    .string()
    .max(MAX_SKILL_NAME_CHARACTERS)
    .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/),
  description: z.string().catch(""),
});

/** `description` is one line, perhaps empty. */
export type SkillText = { name: string; description: string; body: string };

/** Undefined for text that is not a skill's: no front matter, or none that names the skill. */
export function parseSkillText(text: string): SkillText | undefined {
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/);
  const isFence = (line: string) => line.trimEnd() === FENCE;
  const end = lines.findIndex((line, index) => index > 0 && isFence(line));
  if (end === -1 || !isFence(lines[0] ?? "")) return undefined;
  const frontMatter = frontMatterSchema.safeParse(fromYaml(lines.slice(1, end).join("\n")));
  if (!frontMatter.success) return undefined;
  const { name, description } = frontMatter.data;
  return {
    name,
    description: cutText(cleanText(description).replace(/\s+/g, " "), MAX_DESCRIPTION_BYTES),
    body: cleanText(lines.slice(end + 1).join("\n")),
  };
}

/** Undefined for invalid YAML, and for too much of it. */
function fromYaml(text: string): unknown {
  if (text.length > MAX_FRONT_MATTER_CHARACTERS) return undefined;
  try {
    return parse(text, { logLevel: "error" });
  } catch {
    return undefined;
  }
}
