/** Reads the files that say what git leaves out, also through the `.git` file of a worktree. */
import { lstatSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { IgnoreRules } from "./ignore-rules.js";

/** Larger ones are not rules for git's eyes, and would take the time that the search has. */
const MAX_IGNORE_FILE_BYTES = 256 * 1024;

/** What a search of `folder` has to leave out. */
export type SearchScope = {
  /** Absolute and free of links. */
  folder: string;
  /** The only file to look at, by its name in `folder`; it is never left out. */
  onlyFile?: string;
  /** False: nothing is left out but `.git`. */
  usesIgnoreFiles: boolean;
  /** The repository that `folder` is inside of, unless it is its top; its rules reach down to here. */
  repository?: string;
};

/** A folder that git itself leaves out, and that is named nevertheless, is searched whole. */
export function scopeOfFolder(folder: string, includeIgnored: boolean): SearchScope {
  if (includeIgnored) return { folder, usesIgnoreFiles: false };
  const repository = repositoryAround(folder);
  if (repository === undefined || repository === folder) return { folder, usesIgnoreFiles: true };
  return rulesAbove(folder, repository) === undefined
    ? { folder, usesIgnoreFiles: false }
    : { folder, usesIgnoreFiles: true, repository };
}

/** The rules that come from above the scope's folder. */
export function rulesOfParents({ folder, repository }: SearchScope): IgnoreRules {
  return (repository !== undefined && rulesAbove(folder, repository)) || IgnoreRules.none;
}

/** `rules` and those of the files in `folder` itself; a repository begins anew. */
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

/** Undefined when they leave out `folder` or one of its parents. */
function rulesAbove(folder: string, repository: string): IgnoreRules | undefined {
  let parent = repository;
  let rules = enterFolder(IgnoreRules.none, repository, true);
  for (const name of folder.slice(repository === "/" ? 1 : repository.length + 1).split("/")) {
    const child = join(parent, name);
    if (name === ".git" || rules.leavesOut(child, true)) return undefined;
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

/** Undefined for whatever is no small regular file: git itself goes on without it. */
function readIfSmall(path: string): string | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (!stats?.isFile() || stats.size > MAX_IGNORE_FILE_BYTES) return undefined;
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
