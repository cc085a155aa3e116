/** Path resolution: relative paths, links and missing parts; and refusals for file system errors. */
import { lstat, readlink } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, parse, resolve, sep } from "node:path";
import { done, errorCode, errorText, refused, type Outcome, type Refusal } from "../outcome.js";

/** The limit of Linux itself. */
const MAX_LINKS = 40;

const REFUSALS: Readonly<Record<string, { status: number; reason: string }>> = {
  ENOENT: { status: 404, reason: "does not exist" },
  EACCES: { status: 403, reason: "may not be accessed: permission denied" },
  EPERM: { status: 403, reason: "may not be accessed: operation not permitted" },
  EROFS: { status: 403, reason: "is on a read-only file system" },
  EISDIR: { status: 400, reason: "is a directory" },
  ENOTDIR: { status: 400, reason: "has a parent that is not a directory" },
  EEXIST: { status: 400, reason: "has a parent that is not a directory" },
  ENAMETOOLONG: { status: 400, reason: "is too long" },
  ELOOP: { status: 400, reason: "has too many levels of symbolic links" },
  EDQUOT: { status: 507, reason: "does not fit: the disk quota is used up" },
  ENOSPC: { status: 507, reason: "does not fit: no space is left on the device" },
};

/** The refusal for a file system error at `path`. */
export function fileRefusal(error: unknown, path: string): Refusal {
  const known = REFUSALS[errorCode(error) ?? ""];
  const more = { field: "path", detail: errorText(error) };
  if (known === undefined) return refused(500, `${path} could not be used.`, more);
  return refused(known.status, `${path} ${known.reason}.`, more);
}

/** Absolute and without `.`, `..` or doubled separators; `~` is the home directory. Links are not followed. */
export function absolutePath(directory: string, path: string): string {
  if (path === "~" || path.startsWith("~/")) return join(homedir(), path.slice(1));
  return resolve(directory, path);
}

function partsOf(path: string): string[] {
  return path.split(sep).filter((part) => part !== "" && part !== ".");
}

/** The target of a link, or undefined when `path` is no link or does not exist. */
async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Resolves the links in every component of an absolute path. Missing parts stay, so that the path of a file that does
 * not exist yet can be resolved, also through a dangling link.
 */
export async function resolveLinks(path: string): Promise<Outcome<string>> {
  const remaining = partsOf(path).reverse();
  let resolved = parse(path).root;
  let links = 0;
  try {
    for (let part = remaining.pop(); part !== undefined; part = remaining.pop()) {
      if (part === "..") {
        resolved = dirname(resolved);
        continue;
      }
      const next = join(resolved, part);
      const target = await linkTarget(next);
      if (target === undefined) {
        resolved = next;
        continue;
      }
      links += 1;
      if (links > MAX_LINKS)
        return refused(400, `${path} has too many levels of symbolic links.`, { field: "path" });
      if (target.startsWith(sep)) resolved = parse(target).root;
      remaining.push(...partsOf(target).reverse());
    }
  } catch (error) {
    return fileRefusal(error, path);
  }
  return done(resolved);
}
