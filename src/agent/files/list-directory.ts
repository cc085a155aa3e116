/** Directory listing: directories first, then by name. */
import { readdir, readlink, realpath, stat } from "node:fs/promises";
import type { Dirent } from "node:fs";
import { join } from "node:path";
import { done, errorCode, refused, type Outcome } from "../outcome.js";
import {
  DEFAULT_LISTED_ENTRIES,
  type DirectoryEntry,
  type ListDirectoryAnswer,
  type ListDirectoryRequest,
} from "../protocol/files.js";
import type { HiddenFolders } from "./hidden-folders.js";
import { absolutePath, fileRefusal } from "./paths.js";

/** Concurrent `stat` and `readlink` calls. */
const BATCH = 64;

/** Follows links: a link has the kind of its target. */
export async function listDirectory(
  directory: string,
  request: ListDirectoryRequest,
  hidden: HiddenFolders,
): Promise<Outcome<ListDirectoryAnswer>> {
  const path = absolutePath(directory, request.path ?? ".");
  try {
    if (!(await stat(path)).isDirectory())
      return refused(400, `${path} is not a directory; it can be read, not listed.`, { field: "path" });
    const all = await readdir(path, { withFileTypes: true });
    const folder = hidden.folders.length === 0 ? path : await realpath(path);
    const found = all.filter(({ name }) => !hidden.hides(join(folder, name)));
    const links = found.filter((entry) => entry.isSymbolicLink());
    const linked = new Map((await describeAll(path, links)).map((entry) => [entry.name, entry]));
    const sorted = found
      .map((entry) => ({ entry, isDirectory: isDirectory(entry, linked) }))
      .sort((a, b) => Number(b.isDirectory) - Number(a.isDirectory) || byBytes(a.entry.name, b.entry.name));
    const shown = sorted.slice(0, request.limit ?? DEFAULT_LISTED_ENTRIES).map(({ entry }) => entry);
    const entries = await describeAll(path, shown, linked);
    return done({ path, entries, total: found.length });
  } catch (error) {
    return fileRefusal(error, path);
  }
}

function isDirectory(entry: Dirent, linked: ReadonlyMap<string, DirectoryEntry>): boolean {
  return entry.isDirectory() || linked.get(entry.name)?.kind === "directory";
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

async function describeAll(
  path: string,
  entries: readonly Dirent[],
  known: ReadonlyMap<string, DirectoryEntry> = new Map(),
): Promise<DirectoryEntry[]> {
  const described: DirectoryEntry[] = [];
  for (let start = 0; start < entries.length; start += BATCH) {
    const batch = entries.slice(start, start + BATCH);
    described.push(
      ...(await Promise.all(batch.map((entry) => describe(path, entry, known.get(entry.name))))),
    );
  }
  return described;
}

/** An entry that is removed meanwhile, and a broken link, are still listed. */
async function describe(path: string, entry: Dirent, known?: DirectoryEntry): Promise<DirectoryEntry> {
  if (known !== undefined) return known;
  const { name } = entry;
  const target = join(path, name);
  if (entry.isDirectory()) return { name, kind: "directory" };
  try {
    const linkTarget = entry.isSymbolicLink() ? { linkTarget: await readlink(target) } : {};
    const stats = await statUnlessBroken(target);
    if (stats === undefined) return { name, kind: "broken-link", ...linkTarget };
    if (stats.isDirectory()) return { name, kind: "directory", ...linkTarget };
    if (stats.isFile()) return { name, kind: "file", size: stats.size, ...linkTarget };
    return { name, kind: "other", ...linkTarget };
  } catch {
    return { name, kind: "other" };
  }
}

async function statUnlessBroken(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ELOOP"].includes(errorCode(error) ?? "")) return undefined;
    throw error;
  }
}
