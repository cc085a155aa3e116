/**
 * Skills: folders of the workspace, each with instructions for one task. Lists them, and reads them and their files.
 */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../../lib/log.js";
import { done, errorCode, refused, type Outcome } from "../outcome.js";
import type {
  ReadSkillAnswer,
  ReadSkillFileAnswer,
  ReadSkillFileRequest,
  Skill,
} from "../protocol/context.js";
import { readStart } from "./read-start.js";
import { parseSkillText, type SkillText } from "./skill-text.js";

const MAX_SKILL_TEXT_BYTES = 64 * 1024;
const MAX_SKILL_FILE_BYTES = 512 * 1024;
/** All names and descriptions are in every model call: about 25,000 tokens at most. */
const MAX_SKILLS = 100;
/** Folders that are read of one directory. */
const MAX_SKILL_FOLDERS = 1_000;
/** More names than a model can use. */
const MAX_LISTED_FILES = 500;

export type SkillSearch = {
  /** Absolute; of two skills with one name the one in the earlier directory wins. */
  directories: readonly string[];
  /** Name of the file that makes a folder a skill. */
  fileName: string;
  log: Log;
};

/** Skips folders that are not skills. Never rejects. */
export async function listSkills(search: SkillSearch): Promise<Skill[]> {
  const { directories, log } = search;
  const skills = new Map<string, Skill>();
  for (const directory of directories) {
    for (const folder of await visibleNames(directory, log)) {
      if (skills.has(folder) || !(await isDirectory(join(directory, folder)))) continue;
      const skill = await readSkillIn(directory, folder, search);
      if (skill === undefined) continue;
      if (skills.size === MAX_SKILLS) {
        log.warn({ directory, limit: MAX_SKILLS }, "too many skills; the rest is skipped");
        return [...skills.values()];
      }
      skills.set(folder, { name: skill.name, description: skill.description, directory: skill.directory });
    }
  }
  return [...skills.values()];
}

/** The skill's instructions and the names of its files. Refuses an unknown name. */
export async function readSkill(search: SkillSearch, name: string): Promise<Outcome<ReadSkillAnswer>> {
  const skill = await findSkill(search, name);
  if (skill === undefined) return unknownSkill(name);
  const { directory, body, isTruncated } = skill;
  return done({ name, directory, body, isTruncated, files: await skillFiles(directory, search) });
}

/** `path` is as `readSkillFileRequestSchema` requires; links may not lead out of the skill's folder. */
export async function readSkillFile(
  search: SkillSearch,
  { name, path }: ReadSkillFileRequest,
): Promise<Outcome<ReadSkillFileAnswer>> {
  const skill = await findSkill(search, name);
  if (skill === undefined) return unknownSkill(name);
  const { directory } = skill;
  const read = await readStart(join(directory, path), {
    limitBytes: MAX_SKILL_FILE_BYTES,
    within: directory,
  });
  if (read.kind === "refused") return read;
  return done({ content: read.value.text, isTruncated: read.value.isTruncated });
}

type FoundSkill = SkillText & { directory: string; isTruncated: boolean };

async function findSkill(search: SkillSearch, name: string): Promise<FoundSkill | undefined> {
  for (const directory of search.directories) {
    const skill = await readSkillIn(directory, name, search);
    if (skill !== undefined) return skill;
  }
  return undefined;
}

function unknownSkill(name: string) {
  return refused(404, `There is no skill named ${JSON.stringify(name)}.`, { field: "name" });
}

/** The skill in `folder`; its front matter must have the folder's name, by which skills are found. */
async function readSkillIn(
  parent: string,
  folder: string,
  { fileName, log }: SkillSearch,
): Promise<FoundSkill | undefined> {
  const directory = join(parent, folder);
  const path = join(directory, fileName);
  const read = await readStart(path, { limitBytes: MAX_SKILL_TEXT_BYTES, within: directory });
  if (read.kind === "refused") {
    if (read.status !== 404) log.warn({ path, reason: read.message }, "skill unreadable");
    return undefined;
  }
  const skill = parseSkillText(read.value.text);
  if (skill?.name === folder) return { ...skill, directory, isTruncated: read.value.isTruncated };
  log.warn({ path }, "skill skipped: the name in its front matter is not its folder's name");
  return undefined;
}

/** The folder's own entries except the skill's text and hidden ones; folders end with `/`. */
async function skillFiles(directory: string, { fileName, log }: SkillSearch): Promise<string[]> {
  const names = await visibleNames(directory, log);
  const files = names.filter((name) => name !== fileName).slice(0, MAX_LISTED_FILES);
  const isFolder = await Promise.all(files.map((name) => isDirectory(join(directory, name))));
  return files.map((name, index) => (isFolder[index] ? `${name}/` : name));
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    // A dangling link, or an entry that was removed meanwhile.
    return false;
  }
}

/** Sorted; empty when the directory does not exist. */
async function visibleNames(directory: string, log: Log): Promise<string[]> {
  try {
    const names = (await readdir(directory)).filter((name) => !name.startsWith("."));
    return names.sort().slice(0, MAX_SKILL_FOLDERS);
  } catch (error) {
    if (errorCode(error) !== "ENOENT" && errorCode(error) !== "ENOTDIR")
      log.warn({ err: error, directory }, "cannot search directory for skills");
    return [];
  }
}
