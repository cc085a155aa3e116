/** Skills: folders of the workspace that each teach one task. Lists them, and reads them and their files. */
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
/** Folders of one directory that are looked into. */
const MAX_SKILL_FOLDERS = 1_000;
/** More names than a model can use. */
const MAX_LISTED_FILES = 500;

export type SkillSearch = {
  /** Absolute; of two skills with one name the one in the earlier directory counts. */
  directories: readonly string[];
  /** Name of the file that makes a folder a skill. */
  fileName: string;
  log: Log;
};

/** What is not a skill is passed over. Never rejects. */
export async function listSkills(places: SkillSearch): Promise<Skill[]> {
  const { directories, log } = places;
  const skills = new Map<string, Skill>();
  for (const directory of directories) {
    for (const folder of await visibleNames(directory, log)) {
      if (skills.has(folder) || !(await isDirectory(join(directory, folder)))) continue;
      const skill = await readSkillIn(directory, folder, places);
      if (skill === undefined) continue;
      if (skills.size === MAX_SKILLS) {
        log.warn({ directory, limit: MAX_SKILLS }, "There are more skills than are shown");
        return [...skills.values()];
      }
      skills.set(folder, { name: skill.name, description: skill.description, directory: skill.directory });
    }
  }
  return [...skills.values()];
}

/** What the skill teaches and which files come with it. Refuses a name that no skill has. */
export async function readSkill(places: SkillSearch, name: string): Promise<Outcome<ReadSkillAnswer>> {
  const skill = await findSkill(places, name);
  if (skill === undefined) return unknownSkill(name);
  const { directory, body, isTruncated } = skill;
  return done({ name, directory, body, isTruncated, files: await skillFiles(directory, places) });
}

/** `path` is in the form that the protocol asks for; links may not lead out of the skill's folder. */
export async function readSkillFile(
  places: SkillSearch,
  { name, path }: ReadSkillFileRequest,
): Promise<Outcome<ReadSkillFileAnswer>> {
  const skill = await findSkill(places, name);
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

async function findSkill(places: SkillSearch, name: string): Promise<FoundSkill | undefined> {
  for (const directory of places.directories) {
    const skill = await readSkillIn(directory, name, places);
    if (skill !== undefined) return skill;
  }
  return undefined;
}

function unknownSkill(name: string) {
  return refused(404, `There is no skill named ${JSON.stringify(name)}.`, { field: "name" });
}

/** A skill is named like its folder, so that it can be found by its name. */
async function readSkillIn(
  parent: string,
  folder: string,
  { fileName, log }: SkillSearch,
): Promise<FoundSkill | undefined> {
  const directory = join(parent, folder);
  const path = join(directory, fileName);
  const read = await readStart(path, { limitBytes: MAX_SKILL_TEXT_BYTES, within: directory });
  if (read.kind === "refused") {
    if (read.status !== 404) log.warn({ path, reason: read.message }, "A skill cannot be read");
    return undefined;
  }
  const skill = parseSkillText(read.value.text);
  if (skill?.name === folder) return { ...skill, directory, isTruncated: read.value.isTruncated };
  log.warn({ path }, "A skill is passed over: its front matter does not give it its folder's name");
  return undefined;
}

/** The folder's own entries but the skill's text; folders end with `/`. Hidden ones cannot be read and are left out. */
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
    // A link to nowhere, or something that went away: not a folder.
    return false;
  }
}

/** Sorted; none when the directory is not there. */
async function visibleNames(directory: string, log: Log): Promise<string[]> {
  try {
    const names = (await readdir(directory)).filter((name) => !name.startsWith("."));
    return names.sort().slice(0, MAX_SKILL_FOLDERS);
  } catch (error) {
    if (errorCode(error) !== "ENOENT" && errorCode(error) !== "ENOTDIR")
      log.warn({ err: error, directory }, "A directory cannot be searched for skills");
    return [];
  }
}
