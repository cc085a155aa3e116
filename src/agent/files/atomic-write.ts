/**
 * Atomic replacement of a file: the new content is staged in a hidden file beside it, which is then renamed, so a
 * reader sees the old content or the new, never a part. The file keeps its mode and owner.
 */
import { randomBytes } from "node:crypto";
import type { Stats } from "node:fs";
import { mkdir, open, rename, rm, stat, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { cutText } from "../../lib/text/utf8.js";
import { done, errorCode, refused, type Outcome } from "../outcome.js";
import { fileRefusal } from "./paths.js";

const PERMISSION_BITS = 0o7777;
/** Before the umask applies. */
const NEW_FILE_MODE = 0o666;
const NEW_DIRECTORY_MODE = 0o755;
/** Names may have 255 bytes, prefix and suffix included. */
const MAX_STAGED_NAME_BYTES = 200;

/** The caller must call exactly one of the two, once. */
export type StagedFile = {
  /** Renames the staged file to its target. When refused, the staged file is gone and the original unchanged. */
  commit(): Promise<Outcome<undefined>>;
  /** Removes the staged file. Never fails: at worst the hidden file stays. */
  discard(): Promise<void>;
};

/** Stages `content` for `path`, which must be absolute and free of links. Creates missing parent directories. */
export async function stageFile(path: string, content: string): Promise<Outcome<StagedFile>> {
  const directory = dirname(path);
  const stagedPath = join(
    directory,
    `.${cutText(basename(path), MAX_STAGED_NAME_BYTES)}.tmp.${randomBytes(4).toString("hex")}`,
  );
  try {
    await mkdir(directory, { recursive: true, mode: NEW_DIRECTORY_MODE });
    const existing = await statIfThere(path);
    if (existing?.isDirectory()) return refused(400, `${path} is a directory.`, { field: "path" });
    if (existing && !existing.isFile())
      return refused(400, `${path} is not a regular file.`, { field: "path" });
    await writeStaged(stagedPath, content, existing);
  } catch (error) {
    return fileRefusal(error, path);
  }
  return done({
    commit: async () => {
      try {
        await rename(stagedPath, path);
        return done(undefined);
      } catch (error) {
        await discard(stagedPath);
        return fileRefusal(error, path);
      }
    },
    discard: () => discard(stagedPath),
  });
}

async function statIfThere(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function writeStaged(path: string, content: string, existing: Stats | undefined): Promise<void> {
  const file = await open(path, "wx", NEW_FILE_MODE);
  try {
    await file.writeFile(content);
    if (existing) await adopt(file, existing);
    // Otherwise a power failure after the rename could leave an empty file under the old name.
    await file.sync();
    await file.close();
  } catch (error) {
    await file.close().catch(() => {});
    await discard(path);
    throw error;
  }
}

/** Owner first: changing it clears mode bits, which `chmod` then restores. Only root may change the owner. */
async function adopt(file: FileHandle, existing: Stats): Promise<void> {
  const staged = await file.stat();
  if (staged.uid !== existing.uid || staged.gid !== existing.gid) {
    try {
      await file.chown(existing.uid, existing.gid);
    } catch (error) {
      if (errorCode(error) !== "EPERM") throw error;
    }
  }
  await file.chmod(existing.mode & PERMISSION_BITS);
}

/** A failure to remove is ignored: the earlier failure is the one to report. */
async function discard(path: string): Promise<void> {
  await rm(path, { force: true }).catch(() => {});
}
