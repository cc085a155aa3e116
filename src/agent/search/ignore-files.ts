/** Reader of git's ignore files, also through the `.git` file of a worktree. */
import { lstatSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { IgnoreRules } from "./ignore-rules.js";

/** Larger ones are hardly ignore rules, and would take up the time of the search. */
const MAX_IGNORE_FILE_BYTES = 256 * 1024;

/** The folder of a search, and which ignore rules apply. */
export type SearchScope = {
  /** Absolute and free of links. */
  folder: string;
  /** Name of the only file to search in `folder`; never ignored. */
  onlyFile?: string;
  /** False: everything but `.git` is searched. */
  usesIgnoreFiles: boolean;
  /** Folders that are left out, absolute and free of links. */
  hidden?: readonly string[];
  /** The repository above `folder`, whose rules apply to it; absent when `folder` is its root. */
  repository?: string;
};

/** An ignored folder that is requested explicitly is searched whole. */
export function scopeOfFolder(folder: string, includeIgnored: boolean): SearchScope {
  if (includeIgnored) return { folder, usesIgnoreFiles: false };
  const repository = repositoryAround(folder);
  if (repository === undefined || repository === folder) return { folder, usesIgnoreFiles: true };
  return rulesAbove(folder, repository) === undefined
    ? { folder, usesIgnoreFiles: false }
    : { folder, usesIgnoreFiles: true, repository };
}

/** The rules of the folders above the scope's folder. */
export function rulesOfParents({ folder, repository }: SearchScope): IgnoreRules {
  return (repository !== undefined && rulesAbove(folder, repository)) || IgnoreRules.none;
}

/** `rules` and those of the ignore files in `folder`; the root of a repository starts without outer rules. */
export function enterFolder(rules: IgnoreRules, folder: string, isRepository: boolean): IgnoreRules {
  const exclude = isRepository ? readIfSmall(excludeFileOf(folder)) : undefined;
  let entered = isRepository ? IgnoreRules.none : rules;
  if (exclude !== undefined) entered = entered.with({ folder, text: exclude });
  const text = readIfSmall(join(folder, ".gitignore"));
  return text === undefined ? entered : entered.with({ folder, text });
}

function repositoryAround(folder: string): string | undefined {
  for (let candidate = folder; ; candidate = dirname(candidate)) {
    if (lstatSync(join(candidate, ".git"), { throwIfNoEntry: false }) !== undefined) return candidate;
    if (candidate === dirname(candidate)) return undefined;
  }
}

/** Undefined when they exclude `folder` or one of its parents. */
function rulesAbove(folder: string, repository: string): IgnoreRules | undefined {
  let parent = repository;
  let rules = enterFolder(IgnoreRules.none, repository, true);
  for (const name of folder.slice(repository === "/" ? 1 : repository.length + 1).split("/")) {
    const child = join(parent, name);
    if (name === ".git" || rules.excludes(child, true)) return undefined;
    if (child === folder) return rules;
    rules = enterFolder(rules.within(child), child, false);
    parent = child;
  }
  return rules;
}

function excludeFileOf(repository: string): string {
  const entry = join(repository, ".git");
  const pointer = readIfSmall(entry);
  if (pointer === undefined) return join(entry, "info/exclude");
  const gitFolder = resolve(repository, pointer.replace(/^gitdir:/, "").trim());
  const shared = readIfSmall(join(gitFolder, "commondir"));
  return join(shared === undefined ? gitFolder : resolve(gitFolder, shared.trim()), "info/exclude");
}

/** Undefined for anything but a small regular file: git itself goes on without it. */
function readIfSmall(path: string): string | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (!stats?.isFile() || stats.size > MAX_IGNORE_FILE_BYTES) return undefined;
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
