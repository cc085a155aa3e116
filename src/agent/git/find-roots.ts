/** Repository discovery: the roots around folders, and whether a known root still exists. */
import { lstat, readFile, realpath, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { errorCode } from "../outcome.js";
import type { RunGit } from "./run-git.js";

/** A `.git` file is one short line. */
const MAX_GIT_FILE_BYTES = 16 * 1024;
/** A path has at most 4,096 bytes; it may have newlines. */
const MAX_ROOT_BYTES = 16 * 1024;

/** False when any component is missing; throws every other failure. */
async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  const code = errorCode(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

/**
 * False when the root, its `.git`, or the folder that a `.git` file names is gone. Throws when that cannot be checked.
 */
export async function isRepositoryThere(root: string): Promise<boolean> {
  const marker = join(root, ".git");
  const stats = await stat(marker).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  if (stats === undefined) return false;
  if (!stats.isFile() || stats.size > MAX_GIT_FILE_BYTES) return true;
  const target = /^gitdir: (.+?)\n*$/s.exec(await readFile(marker, "utf8"))?.[1];
  return target === undefined || exists(resolve(root, target));
}

/**
 * The roots of the repositories around the folders, each once and without links, sorted. The innermost repository
 * counts. Folders that are gone count as their nearest existing parent; those in no repository, or in one that git
 * refuses, have none. Roots in `known` are not verified with git again.
 */
export async function findRoots(
  folders: readonly string[],
  known: ReadonlySet<string>,
  runGit: RunGit,
  signal: AbortSignal,
): Promise<string[]> {
  const visited = new Map<string, Promise<string | undefined>>();
  const candidates = await Promise.all(folders.map((folder) => nearestMarked(folder, visited)));
  const roots = new Set<string>();
  for (const candidate of new Set(candidates)) {
    if (candidate === undefined) continue;
    const root = known.has(candidate) ? candidate : await rootAround(candidate, runGit, signal);
    if (root !== undefined) roots.add(root);
  }
  return [...roots].sort();
}

/** The nearest folder with an entry named `.git`; each folder is checked once. */
function nearestMarked(
  folder: string,
  visited: Map<string, Promise<string | undefined>>,
): Promise<string | undefined> {
  const earlier = visited.get(folder);
  if (earlier !== undefined) return earlier;
  const search = async () => {
    // An unreadable folder cannot be shown as a repository.
    if (await exists(join(folder, ".git")).catch(() => false)) return folder;
    const parent = dirname(folder);
    return parent === folder ? undefined : nearestMarked(parent, visited);
  };
  const found = search();
  visited.set(folder, found);
  return found;
}

/** The root according to git: an entry named `.git` need not be a repository, and git then searches outwards. */
async function rootAround(
  candidate: string,
  runGit: RunGit,
  signal: AbortSignal,
): Promise<string | undefined> {
  const run = {
    directory: candidate,
    arguments: ["rev-parse", "--show-toplevel"],
    maxBytes: MAX_ROOT_BYTES,
  };
  const outcome = await runGit(run, signal);
  if (outcome.kind !== "ended" || outcome.exitCode !== 0) return undefined;
  const toplevel = outcome.output.toString("utf8").replace(/\n$/, "");
  try {
    const root = await realpath(toplevel);
    return (await exists(join(root, ".git"))) ? root : undefined;
  } catch {
    // It was removed meanwhile.
    return undefined;
  }
}
